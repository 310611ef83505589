package emr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// clusterInputs are the properties of aws:emr/cluster:Cluster. The provider has checked
// all of them against the SDK's types.
type clusterInputs struct {
	Name                  string            `json:"name"`
	ReleaseLabel          string            `json:"releaseLabel"`
	Applications          []string          `json:"applications"`
	AdditionalInfo        string            `json:"additionalInfo"`
	LogURI                string            `json:"logUri"`
	LogKey                string            `json:"logEncryptionKmsKeyId"`
	ServiceRole           string            `json:"serviceRole"`
	AutoScalingRole       string            `json:"autoscalingRole"`
	SecurityConfig        string            `json:"securityConfiguration"`
	ConfigurationsJSON    string            `json:"configurationsJson"`
	CustomAMI             string            `json:"customAmiId"`
	RootVolume            int32             `json:"ebsRootVolumeSize"`
	ScaleDown             string            `json:"scaleDownBehavior"`
	KeepAlive             *bool             `json:"keepJobFlowAliveWhenNoSteps"`
	TerminationProtection bool              `json:"terminationProtection"`
	UnhealthyReplacement  *bool             `json:"unhealthyNodeReplacement"`
	VisibleToAllUsers     *bool             `json:"visibleToAllUsers"`
	StepConcurrency       int32             `json:"stepConcurrencyLevel"`
	ListStepsStates       []types.StepState `json:"listStepsStates"`
	Tags                  map[string]string `json:"tags"`
	TagsAll               map[string]string `json:"tagsAll"`
	Master                *groupInputs      `json:"masterInstanceGroup"`
	Core                  *groupInputs      `json:"coreInstanceGroup"`
	MasterFleet           *fleetInputs      `json:"masterInstanceFleet"`
	CoreFleet             *fleetInputs      `json:"coreInstanceFleet"`
	EC2                   ec2Inputs         `json:"ec2Attributes"`

	AutoTermination *struct {
		IdleTimeout int64 `json:"idleTimeout"`
	} `json:"autoTerminationPolicy"`
	Kerberos *struct {
		KDCPassword       string `json:"kdcAdminPassword"`
		Realm             string `json:"realm"`
		JoinPassword      string `json:"adDomainJoinPassword"`
		JoinUser          string `json:"adDomainJoinUser"`
		PrincipalPassword string `json:"crossRealmTrustPrincipalPassword"`
	} `json:"kerberosAttributes"`
	PlacementGroups []struct {
		Role     types.InstanceRoleType       `json:"instanceRole"`
		Strategy types.PlacementGroupStrategy `json:"placementStrategy"`
	} `json:"placementGroupConfigs"`
	BootstrapActions []struct {
		Name string   `json:"name"`
		Path string   `json:"path"`
		Args []string `json:"args"`
	} `json:"bootstrapActions"`
	Steps []stepInputs `json:"steps"`
}

type ec2Inputs struct {
	SubnetID          string   `json:"subnetId"`
	SubnetIDs         []string `json:"subnetIds"`
	InstanceProfile   string   `json:"instanceProfile"`
	KeyName           string   `json:"keyName"`
	MasterGroup       string   `json:"emrManagedMasterSecurityGroup"`
	SlaveGroup        string   `json:"emrManagedSlaveSecurityGroup"`
	ServiceGroup      string   `json:"serviceAccessSecurityGroup"`
	AdditionalMasters string   `json:"additionalMasterSecurityGroups"`
	AdditionalSlaves  string   `json:"additionalSlaveSecurityGroups"`
}

type stepInputs struct {
	Name            string                `json:"name"`
	ActionOnFailure types.ActionOnFailure `json:"actionOnFailure"`
	Jar             struct {
		Jar        string            `json:"jar"`
		Args       []string          `json:"args"`
		MainClass  string            `json:"mainClass"`
		Properties map[string]string `json:"properties"`
	} `json:"hadoopJarStep"`
}

// groupInputs are the properties of an instance group: of a cluster's, and of
// aws:emr/instanceGroup:InstanceGroup.
type groupInputs struct {
	ClusterID          string      `json:"clusterId"`
	Name               string      `json:"name"`
	InstanceType       string      `json:"instanceType"`
	InstanceCount      int32       `json:"instanceCount"`
	BidPrice           string      `json:"bidPrice"`
	AutoscalingPolicy  string      `json:"autoscalingPolicy"`
	ConfigurationsJSON string      `json:"configurationsJson"`
	EBS                []ebsInputs `json:"ebsConfigs"`
	EBSOptimized       *bool       `json:"ebsOptimized"`
}

type ebsInputs struct {
	Type       string `json:"type"`
	Size       int32  `json:"size"`
	IOPS       int32  `json:"iops"`
	Throughput int32  `json:"throughput"`
	Count      int32  `json:"volumesPerInstance"`
}

// decodeInputs decodes a resource's properties, which are plain values.
func decodeInputs[T any](props map[string]any) (T, error) {
	var in T
	raw, err := json.Marshal(props)
	if err != nil {
		return in, fmt.Errorf("read the inputs: %w", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, fmt.Errorf("read the inputs: %w", err)
	}
	return in, nil
}

// optional returns a pointer to a value, nil to the zero value: the provider does not
// send what is not set.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// decodeJSON decodes a property that contains a document of EMR's API.
func decodeJSON[T any](property, text string) (T, error) {
	var out T
	if text == "" {
		return out, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return out, fmt.Errorf("%s: %w", property, err)
	}
	return out, nil
}

// jobFlow returns the request that the provider sends to create the cluster
// (terraform-provider-aws, resourceClusterCreate).
func (in clusterInputs) jobFlow() (*awsemr.RunJobFlowInput, error) {
	configurations, err := decodeJSON[[]types.Configuration]("configurationsJson", in.ConfigurationsJSON)
	if err != nil {
		return nil, err
	}
	instances, err := in.instances()
	if err != nil {
		return nil, err
	}
	request := &awsemr.RunJobFlowInput{
		Name: &in.Name, ReleaseLabel: &in.ReleaseLabel, ServiceRole: &in.ServiceRole, JobFlowRole: optional(in.EC2.InstanceProfile),
		Instances: instances, Configurations: configurations, VisibleToAllUsers: aws.Bool(in.VisibleToAllUsers == nil || *in.VisibleToAllUsers),
		AdditionalInfo: optional(in.AdditionalInfo), LogUri: optional(in.LogURI), LogEncryptionKmsKeyId: optional(in.LogKey),
		AutoScalingRole: optional(in.AutoScalingRole), SecurityConfiguration: optional(in.SecurityConfig), CustomAmiId: optional(in.CustomAMI),
		EbsRootVolumeSize: optional(in.RootVolume), ScaleDownBehavior: types.ScaleDownBehavior(in.ScaleDown),
		StepConcurrencyLevel: optional(in.StepConcurrency), Tags: in.tags(), AutoTerminationPolicy: in.idlePolicy(),
	}
	for _, a := range in.Applications {
		request.Applications = append(request.Applications, types.Application{Name: &a})
	}
	for _, a := range in.BootstrapActions {
		request.BootstrapActions = append(request.BootstrapActions, types.BootstrapActionConfig{
			Name: &a.Name, ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: &a.Path, Args: a.Args},
		})
	}
	for _, p := range in.PlacementGroups {
		request.PlacementGroupConfigs = append(request.PlacementGroupConfigs,
			types.PlacementGroupConfig{InstanceRole: p.Role, PlacementStrategy: p.Strategy})
	}
	for _, s := range in.Steps {
		request.Steps = append(request.Steps, s.config())
	}
	if k := in.Kerberos; k != nil {
		request.KerberosAttributes = &types.KerberosAttributes{
			KdcAdminPassword: &k.KDCPassword, Realm: &k.Realm, ADDomainJoinPassword: optional(k.JoinPassword),
			ADDomainJoinUser: optional(k.JoinUser), CrossRealmTrustPrincipalPassword: optional(k.PrincipalPassword),
		}
	}
	return request, nil
}

// instances returns the request's groups or fleets and their network.
func (in clusterInputs) instances() (*types.JobFlowInstancesConfig, error) {
	if in.EC2.SubnetID == "" && len(in.EC2.SubnetIDs) == 0 {
		return nil, errors.New("ec2Attributes.subnetId: must name a subnet: this account has no default VPC")
	}
	instances := &types.JobFlowInstancesConfig{
		Ec2SubnetId: optional(in.EC2.SubnetID), Ec2SubnetIds: in.EC2.SubnetIDs, Ec2KeyName: optional(in.EC2.KeyName),
		EmrManagedMasterSecurityGroup: optional(in.EC2.MasterGroup), EmrManagedSlaveSecurityGroup: optional(in.EC2.SlaveGroup),
		ServiceAccessSecurityGroup:     optional(in.EC2.ServiceGroup),
		AdditionalMasterSecurityGroups: splitGroups(in.EC2.AdditionalMasters),
		AdditionalSlaveSecurityGroups:  splitGroups(in.EC2.AdditionalSlaves),
		KeepJobFlowAliveWhenNoSteps:    aws.Bool(in.KeepAlive == nil || *in.KeepAlive), // the provider's default
		TerminationProtected:           &in.TerminationProtection, UnhealthyNodeReplacement: in.UnhealthyReplacement,
	}
	for _, g := range []struct {
		role   types.InstanceRoleType
		inputs *groupInputs
	}{{types.InstanceRoleTypeMaster, in.Master}, {types.InstanceRoleTypeCore, in.Core}} {
		if g.inputs == nil {
			continue
		}
		config, err := g.inputs.config(g.role)
		if err != nil {
			return nil, err
		}
		instances.InstanceGroups = append(instances.InstanceGroups, config)
	}
	if in.MasterFleet != nil {
		instances.InstanceFleets = append(instances.InstanceFleets, in.MasterFleet.config(types.InstanceFleetTypeMaster))
	}
	if in.CoreFleet != nil {
		instances.InstanceFleets = append(instances.InstanceFleets, in.CoreFleet.config(types.InstanceFleetTypeCore))
	}
	return instances, nil
}

// splitGroups splits the property of additional security groups, as the provider does.
func splitGroups(list string) []string {
	if list == "" {
		return nil
	}
	groups := strings.Split(list, ",")
	for i := range groups {
		groups[i] = strings.TrimSpace(groups[i])
	}
	return groups
}

// config returns the group as the provider requests it.
func (g groupInputs) config(role types.InstanceRoleType) (types.InstanceGroupConfig, error) {
	config := types.InstanceGroupConfig{
		InstanceRole: role, InstanceType: &g.InstanceType, Name: optional(g.Name), InstanceCount: aws.Int32(max(g.InstanceCount, 1)),
		Market: types.MarketTypeOnDemand, BidPrice: optional(g.BidPrice),
	}
	if g.BidPrice != "" {
		config.Market = types.MarketTypeSpot
	}
	if len(g.EBS) > 0 || g.EBSOptimized != nil {
		config.EbsConfiguration = &types.EbsConfiguration{EbsBlockDeviceConfigs: volumes(g.EBS), EbsOptimized: g.EBSOptimized}
	}
	var err error
	if config.AutoScalingPolicy, err = decodeJSON[*types.AutoScalingPolicy]("autoscalingPolicy", g.AutoscalingPolicy); err != nil {
		return config, err
	}
	config.Configurations, err = decodeJSON[[]types.Configuration]("configurationsJson", g.ConfigurationsJSON)
	return config, err
}

func volumes(list []ebsInputs) []types.EbsBlockDeviceConfig {
	var out []types.EbsBlockDeviceConfig
	for _, e := range list {
		out = append(out, types.EbsBlockDeviceConfig{
			VolumesPerInstance: aws.Int32(max(e.Count, 1)),
			VolumeSpecification: &types.VolumeSpecification{
				VolumeType: &e.Type, SizeInGB: &e.Size, Iops: optional(e.IOPS), Throughput: optional(e.Throughput),
			},
		})
	}
	return out
}

func (s stepInputs) config() types.StepConfig {
	jar := &types.HadoopJarStepConfig{Jar: &s.Jar.Jar, Args: s.Jar.Args, MainClass: optional(s.Jar.MainClass)}
	for k, v := range s.Jar.Properties {
		jar.Properties = append(jar.Properties, types.KeyValue{Key: &k, Value: &v})
	}
	return types.StepConfig{Name: &s.Name, ActionOnFailure: s.ActionOnFailure, HadoopJarStep: jar}
}

// tags returns the tags, those of the provider's configuration among them.
func (in clusterInputs) tags() []types.Tag {
	all := in.TagsAll
	if all == nil {
		all = in.Tags
	}
	var tags []types.Tag
	for k, v := range all {
		tags = append(tags, types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	slices.SortFunc(tags, func(a, b types.Tag) int { return strings.Compare(*a.Key, *b.Key) })
	return tags
}

// idlePolicy returns the auto-termination policy, or nil.
func (in clusterInputs) idlePolicy() *types.AutoTerminationPolicy {
	if in.AutoTermination == nil {
		return nil
	}
	return &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(in.AutoTermination.IdleTimeout)}
}
