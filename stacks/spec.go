package stacks

import (
	"errors"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// spec turns configuration and materials into the components' arguments. Each
// method takes the components whose outputs it needs.
type spec struct {
	cfg       config.Config
	materials Materials
}

const day = 24 * time.Hour

// network writes its own VPC's flow logs beside the access logs; those of an
// existing VPC are its owner's.
func (s spec) network(data *storage.Storage) *network.Args {
	n := s.cfg.Network
	args := &network.Args{
		Region:             s.cfg.Region,
		CIDR:               n.CIDR,
		AvailabilityZones:  n.AvailabilityZones,
		ExistingVPCID:      n.VPCID,
		ExistingSubnetIDs:  n.SubnetIDs,
		InterfaceEndpoints: n.InterfaceEndpoints,
		NAT:                n.NAT && n.VPCID == "",
		OperatorCIDRs:      s.cfg.OperatorCIDRs,
	}
	if n.VPCID == "" {
		args.FlowLogBucketARN = data.LogBucketARN
	}
	return args
}

func (s spec) storage() *storage.Args {
	r := s.cfg.Retention
	return &storage.Args{
		Ephemeral:             s.cfg.Ephemeral,
		TempoRetention:        time.Duration(r.TempoDays) * day,
		PyroscopeRetention:    time.Duration(r.PyroscopeDays) * day,
		LogRetentionDays:      r.LogDays,
		ArtifactRetentionDays: r.ArtifactDays,
	}
}

func (s spec) control(n *network.Network, data *storage.Storage) *controlnode.Args {
	c := s.cfg.ControlNode
	args := &controlnode.Args{
		Region:          s.cfg.Region,
		InstanceType:    c.InstanceType,
		Arch:            c.Arch,
		PrivateIP:       c.PrivateIP,
		DataVolumeGiB:   c.DataVolumeGiB,
		Ephemeral:       s.cfg.Ephemeral,
		SubnetID:        firstSubnet(n),
		VPCID:           n.VPCID,
		SecurityGroupID: n.ControlSecurityGroupID,
		Bucket:          data.DataBucket,
		BucketARN:       data.DataBucketARN,
		KMSKeyARN:       data.KMSKeyARN,
	}
	if zones := s.cfg.Network.AvailabilityZones; len(zones) > 0 {
		args.AvailabilityZone = pulumi.String(zones[0])
	}
	return args
}

func (s spec) telemetry(data *storage.Storage, control *controlnode.ControlNode) *telemetry.Args {
	return &telemetry.Args{
		Bucket:           data.DataBucket,
		KMSKeyARN:        data.KMSKeyARN,
		ControlPrivateIP: control.PrivateIP,
		Artifacts:        s.artifacts(),
		LauncherJar:      s.materials.LauncherJar,
		ControlBinary:    s.materials.ControlBinary,
	}
}

// artifacts are those that the configuration's architectures need.
func (s spec) artifacts() []telemetry.Staged {
	return slices.DeleteFunc(slices.Clone(s.materials.Artifacts), func(a telemetry.Staged) bool {
		return a.Arch != "" && !slices.Contains(s.cfg.EMR.Architectures, a.Arch)
	})
}

func (s spec) emr(n *network.Network, data *storage.Storage, t *telemetry.Telemetry) *emr.Args {
	e := s.cfg.EMR
	args := &emr.Args{
		Region:                       s.cfg.Region,
		ReleaseLabel:                 e.ReleaseLabel,
		Applications:                 e.Applications,
		Master:                       group(e.Master),
		Core:                         group(e.Core),
		IdleTimeout:                  time.Duration(e.IdleTimeoutMinutes) * time.Minute,
		TerminationProtection:        e.TerminationProtection,
		Ephemeral:                    s.cfg.Ephemeral,
		SubnetID:                     firstSubnet(n),
		MasterSecurityGroupID:        n.MasterSecurityGroupID,
		CoreSecurityGroupID:          n.CoreSecurityGroupID,
		ServiceAccessSecurityGroupID: n.ServiceAccessSecurityGroupID,
		Bucket:                       data.DataBucket,
		BucketARN:                    data.DataBucketARN,
		KMSKeyARN:                    data.KMSKeyARN,
		BootstrapPath:                t.BootstrapPath,
		BootstrapArgs:                t.BootstrapArgs,
		SparkDefaults:                e.SparkDefaults,
	}
	if e.Task != nil {
		task := group(*e.Task)
		args.Task = &task
	}
	return args
}

func group(g config.InstanceGroup) emr.InstanceGroup {
	out := emr.InstanceGroup{InstanceType: g.InstanceType, Count: g.Count, BidPrice: g.BidPrice}
	for _, v := range g.EBS {
		out.EBS = append(out.EBS, emr.Volume{Type: v.Type, SizeGiB: v.SizeGiB, IOPS: v.IOPS, Throughput: v.Throughput, PerInstance: v.PerInstance})
	}
	return out
}

func (s spec) workloads(data *storage.Storage, control *controlnode.ControlNode, t *telemetry.Telemetry) *workloads.Args {
	return &workloads.Args{
		Region:              pulumi.String(s.cfg.Region),
		Bucket:              data.DataBucket,
		S3Endpoint:          s.cfg.AWSEndpoints.S3,
		ControlPrivateIP:    control.PrivateIP,
		ControlBinaryURI:    t.ControlBinaryURI,
		ControlBinarySHA256: t.ControlBinarySHA256,
		TempoRetention:      time.Duration(s.cfg.Retention.TempoDays) * day,
		PyroscopeRetention:  time.Duration(s.cfg.Retention.PyroscopeDays) * day,
		MetricsRetention:    time.Duration(s.cfg.Retention.VictoriaMetricsDays) * day,
		LogsRetention:       time.Duration(s.cfg.Retention.VictoriaLogsDays) * day,
		DataVolumeGiB:       s.cfg.ControlNode.DataVolumeGiB,
	}
}

func (s spec) grafana(w *workloads.Workloads) *grafana.Args {
	return &grafana.Args{
		Dashboards: s.materials.Dashboards,
		Endpoints:  w.Endpoints,
		GrafanaURL: w.GrafanaURL,
	}
}

// firstSubnet holds control node and cluster: a cluster lives in one zone,
// and traffic between zones costs.
func firstSubnet(n *network.Network) pulumi.StringOutput { return n.SubnetIDs.Index(pulumi.Int(0)) }

// validate asks every component about its arguments before the first resource
// exists. What only other components' outputs will tell stands for itself.
func (s spec) validate() error {
	n := &network.Network{SubnetIDs: pulumi.StringArray{pulumi.String("")}.ToStringArrayOutput()}
	data, control := &storage.Storage{}, &controlnode.ControlNode{}
	t, w := &telemetry.Telemetry{}, &workloads.Workloads{}
	return errors.Join(
		s.network(data).Validate(),
		s.storage().Validate(),
		s.control(n, data).Validate(),
		s.telemetry(data, control).Validate(),
		s.emr(n, data, t).Validate(),
		s.workloads(data, control, t).Validate(),
		s.grafana(w).Validate(),
	)
}
