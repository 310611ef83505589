package stacks

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/components/lake"
	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/components/schedules"
	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// spec turns configuration and materials into the components' arguments. Each
// method takes the components whose outputs it needs.
type spec struct {
	cfg       schema.Config
	materials Materials
}

// network sends the flow logs of a VPC that the stack creates to the log bucket.
// The owner of an existing VPC configures them.
func (s spec) network(data *storage.Storage) *network.Args {
	args := &network.Args{
		Region: s.cfg.Region, Network: s.cfg.Network, InstanceTypes: []string{s.cfg.ControlNode.InstanceType}, OperatorCIDRs: s.cfg.OperatorCIDRs,
		PublicControl: s.cfg.ControlNode.Access == schema.AccessPublic, ControlType: s.cfg.ControlNode.InstanceType, TypesIn: map[int][]string{},
	}
	for _, c := range s.cfg.Clusters {
		for _, g := range c.Groups() {
			args.InstanceTypes = append(args.InstanceTypes, g.InstanceType)
			if len(c.Subnets) == 1 { // of several, EMR chooses one that has the types
				args.TypesIn[c.Subnets[0]] = append(args.TypesIn[c.Subnets[0]], g.InstanceType)
			}
		}
	}
	for _, types := range args.TypesIn {
		slices.Sort(types)
	}
	args.Outbound, args.Use, args.Profiler = s.outbound(), s.cfg.NetworkUse(), s.cfg.Profiler.Enabled
	args.Senders = s.cfg.Tracing.Senders()
	if s.cfg.Network.VPCID == "" {
		args.FlowLogBucketARN = data.LogBucketARN
	}
	return args
}

// outbound is the second destination of traces. A name has no stable addresses. HTTPS
// is open to any address.
func (s spec) outbound() []network.Outbound {
	host, port, ok := s.cfg.Tracing.HostPort()
	if !s.cfg.Tracing.Copied() || !ok || port == int(platform.HTTPS) {
		return nil
	}
	cidr := "0.0.0.0/0"
	if ip, err := netip.ParseAddr(host); err == nil {
		cidr = netip.PrefixFrom(ip, ip.BitLen()).String()
	}
	return []network.Outbound{{Name: "traces", CIDR: cidr, Port: port}}
}

func (s spec) storageArgs() *storage.Args {
	return &storage.Args{Region: s.cfg.Region, Ephemeral: s.cfg.Ephemeral, Retention: s.cfg.Retention, Athena: s.cfg.Profiler.Athena}
}

func (s spec) controlArgs(n *network.Network, data *storage.Storage) *controlnode.Args {
	return &controlnode.Args{
		Region:          s.cfg.Region,
		ControlNode:     s.cfg.ControlNode,
		Ephemeral:       s.cfg.Ephemeral,
		SubnetID:        n.ControlSubnetID,
		VPCID:           n.VPCID,
		SecurityGroupID: n.ControlSecurityGroupID,
		Bucket:          data.DataBucket,
		BucketARN:       data.DataBucketARN,
		KMSKeyARN:       data.KMSKeyARN,

		Identity:              s.cfg.Identity(),
		TraceHeadersParameter: s.traceHeadersParameter(),
		Profiler:              s.cfg.Profiler,
		// Known while the subnet is being replaced, unlike what a lookup by its id finds.
		AvailabilityZone: n.ControlZone,
	}
}

func (s spec) traceHeadersParameter() string {
	if !s.cfg.Tracing.Copied() {
		return ""
	}
	return s.cfg.Tracing.HeadersParameter
}

func (s spec) telemetryArgs(data *storage.Storage, control *controlnode.ControlNode) *telemetry.Args {
	args := &telemetry.Args{
		Region:           s.cfg.Region,
		Bucket:           data.DataBucket,
		BucketARN:        data.DataBucketARN,
		KMSKeyARN:        data.KMSKeyARN,
		ControlPrivateIP: control.PrivateIP,
		Identity:         s.cfg.Identity(),
		Artifacts:        s.artifacts(),
		LauncherJar:      s.materials.LauncherJar,
		ControlBinary:    s.materials.ControlBinary,
	}
	if s.cfg.Profiler.Enabled {
		args.ProfilerBinary = s.materials.ProfilerBinary
	}
	return args
}

// artifacts returns the artifacts that the configuration's architectures need.
func (s spec) artifacts() []telemetry.Staged {
	return slices.DeleteFunc(slices.Clone(s.materials.Artifacts), func(a telemetry.Staged) bool {
		return a.Arch != "" && !slices.Contains(s.cfg.Architectures, a.Arch)
	})
}

// ClusterName is EMR's name of a stack's cluster. It stays when the cluster is
// replaced, so that dashboards show its history.
func ClusterName(stack, key string) string { return platform.ClusterNamePrefix(stack) + key }

// ClusterResource is the logical name of a cluster's resource.
func ClusterResource(key string) string { return emr.ResourceName(clusterComponent(key)) }

// clusterComponent is the logical name of a cluster's component.
func clusterComponent(key string) string { return nameEMR + "-" + key }

// emrArgs has the cluster wait for the control node: an update that cannot reach it
// stops before the cluster costs anything.
func (s spec) emrArgs(stack, key string, f foundation, after ...pulumi.Resource) *emr.Args {
	return &emr.Args{
		After:                   append(after, f.control.Ready),
		Region:                  s.cfg.Region,
		Key:                     key,
		Name:                    ClusterName(stack, key),
		Cluster:                 s.cfg.Clusters[key].WithBids(s.cfg.Region),
		SamplingRatio:           s.cfg.Tracing.Ratio(),
		Scheduled:               s.cfg.SchedulesOf(key),
		StackTags:               stackTags(s.cfg, stack),
		HistoryReadable:         s.cfg.Profiler.ReadableByJobs,
		Identity:                s.cfg.Identity(),
		DNSServers:              s.cfg.Network.DNSServers,
		Ephemeral:               s.cfg.Ephemeral,
		VPCID:                   f.network.VPCID,
		SubnetIDs:               subnets(f.network, s.cfg.Clusters[key].Subnets),
		S3PrefixListID:          f.network.S3PrefixListID,
		ObservedSecurityGroupID: f.network.ObservedSecurityGroupID,
		Bucket:                  f.storage.DataBucket,
		BucketARN:               f.storage.DataBucketARN,
		KMSKeyARN:               f.storage.KMSKeyARN,
		BootstrapPath:           f.telemetry.BootstrapPath,
		BootstrapArgs:           f.telemetry.BootstrapArgs,
	}
}

func (s spec) schedulesArgs(clusters map[string]*emr.Cluster, control *controlnode.ControlNode) *schedules.Args {
	args := &schedules.Args{
		Region: s.cfg.Region, Schedules: s.cfg.Schedules, Clusters: map[string]schedules.Cluster{}, Identity: s.cfg.Identity(), Now: time.Now,
		ControlRoleName: control.RoleName,
	}
	for key, c := range clusters {
		if l := c.Launch; l != nil {
			args.Clusters[key] = schedules.Cluster{Launch: (*schedules.Launch)(l)}
			continue
		}
		args.Clusters[key] = schedules.Cluster{ID: c.ClusterID}
	}
	return args
}

func (s spec) lakeArgs(stack string, data *storage.Storage) *lake.Args {
	return &lake.Args{
		Region: s.cfg.Region, Stack: stack, ScanGiB: s.cfg.Profiler.AthenaScanGiB,
		Bucket: data.DataBucket, BucketARN: data.DataBucketARN, KMSKeyARN: data.KMSKeyARN,
	}
}

func (s spec) workloadsArgs(data *storage.Storage, control *controlnode.ControlNode, t *telemetry.Telemetry,
	lostRunsURL pulumi.StringInput) *workloads.Args {
	return &workloads.Args{
		Schedules:            s.cfg.Schedules,
		LostRunsURL:          lostRunsURL,
		Region:               pulumi.String(s.cfg.Region),
		Bucket:               data.DataBucket,
		S3Endpoint:           s.cfg.AWSEndpoints.S3,
		ControlPrivateIP:     control.PrivateIP,
		ControlHost:          control.Host,
		GrafanaURL:           s.tunnelToGrafana(),
		Certificate:          s.cfg.ControlNode.Certificate,
		ControlBinaryURI:     t.ControlBinaryURI,
		ControlBinarySHA256:  t.ControlBinarySHA256,
		Profiler:             s.cfg.Profiler,
		ProfilerBinaryURI:    t.ProfilerBinaryURI,
		ProfilerBinarySHA256: t.ProfilerBinarySHA256,
		ToolsRoleARN:         control.ToolsRoleARN,
		BootstrapHash:        t.BootstrapHash,
		TempoRetention:       schema.Days(s.cfg.Retention.TempoDays),
		PyroscopeRetention:   schema.Days(s.cfg.Retention.PyroscopeDays),
		MetricsRetention:     schema.Days(s.cfg.Retention.VictoriaMetricsDays),
		LogsRetention:        schema.Days(s.cfg.Retention.VictoriaLogsDays),
		Limits:               s.cfg.Limits,
		DataVolumeGiB:        s.cfg.ControlNode.DataVolumeGiB,
		GrafanaPluginURL:     s.cfg.ControlNode.GrafanaPluginURL,
		Tracing:              s.cfg.Tracing,
	}
}

// tunnelToGrafana is where operators reach Grafana through a tunnel. With access
// vpc, grafana.url is the program's address only.
func (s spec) tunnelToGrafana() string {
	if s.cfg.ControlNode.Access != schema.AccessTunnel {
		return ""
	}
	return s.cfg.Grafana.URL
}

func (s spec) grafanaArgs(w *workloads.Workloads) *grafana.Args {
	return &grafana.Args{
		Dashboards: s.materials.Dashboards,
		Endpoints:  w.Endpoints,
		GrafanaURL: w.GrafanaURL,
	}
}

// subnets returns some of the private subnets, by their numbers.
func subnets(n *network.Network, numbers []int) pulumi.StringArray {
	var out pulumi.StringArray
	for _, i := range numbers {
		out = append(out, n.SubnetIDs.Index(pulumi.Int(i)))
	}
	return out
}

// clustersToCome stand in for the clusters that schedules name.
func (s spec) clustersToCome() map[string]*emr.Cluster {
	out := map[string]*emr.Cluster{}
	for key, c := range s.cfg.Clusters {
		out[key] = &emr.Cluster{}
		if c.OfSchedules() {
			role := pulumi.String("")
			out[key].Launch = &emr.Launch{ServiceRoleARN: role, NodeRoleARN: role, ScalingRoleARN: role}
		}
	}
	return out
}

// validate checks the arguments of every component before the first resource is
// registered. Empty components stand in for those whose outputs are arguments.
func (s spec) validate(stack string) error {
	n := &network.Network{SubnetIDs: pulumi.StringArray{pulumi.String("")}.ToStringArrayOutput()}
	data, control := &storage.Storage{}, &controlnode.ControlNode{}
	t, w := &telemetry.Telemetry{}, &workloads.Workloads{}
	f := foundation{network: n, storage: data, control: control, telemetry: t}
	var clusters []error
	var args []*emr.Args
	for _, key := range s.cfg.ClusterKeys() {
		args = append(args, s.emrArgs(stack, key, f))
		clusters = append(clusters, args[len(args)-1].Validate())
	}
	clusters = append(clusters, emr.CheckSharedRoles(args))
	if len(s.cfg.Schedules) > 0 {
		clusters = append(clusters, s.schedulesArgs(s.clustersToCome(), control).Validate())
	}
	if s.cfg.Profiler.Athena {
		clusters = append(clusters, s.lakeArgs(stack, data).Validate())
	}
	return errors.Join(append(clusters,
		s.network(data).Validate(),
		s.storageArgs().Validate(),
		s.controlArgs(n, data).Validate(),
		s.telemetryArgs(data, control).Validate(),
		s.workloadsArgs(data, control, t, pulumi.String("")).Validate(),
		s.grafanaArgs(w).Validate(),
	)...)
}
