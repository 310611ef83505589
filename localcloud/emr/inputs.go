package emr

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// clusterInputs are the properties of aws:emr/cluster:Cluster. The provider has checked
// all of them against the SDK's types. Most have the names of the request's fields.
type clusterInputs struct {
	awsemr.RunJobFlowInput
	Applications          []string          `json:"applications"`
	ConfigurationsJSON    string            `json:"configurationsJson"`
	KeepAlive             *bool             `json:"keepJobFlowAliveWhenNoSteps"`
	TerminationProtection bool              `json:"terminationProtection"`
	UnhealthyReplacement  *bool             `json:"unhealthyNodeReplacement"`
	Tags                  map[string]string `json:"tags"`
	TagsAll               map[string]string `json:"tagsAll"`
	Master                *groupInputs      `json:"masterInstanceGroup"`
	Core                  *groupInputs      `json:"coreInstanceGroup"`
	MasterFleet           *fleetInputs      `json:"masterInstanceFleet"`
	CoreFleet             *fleetInputs      `json:"coreInstanceFleet"`
	EC2                   ec2Inputs         `json:"ec2Attributes"`

	BootstrapActions []struct {
		Name *string  `json:"name"`
		Path *string  `json:"path"`
		Args []string `json:"args"`
	} `json:"bootstrapActions"`
	Steps []stepInputs `json:"steps"`
}

type ec2Inputs struct {
	types.JobFlowInstancesConfig
	SubnetID          *string  `json:"subnetId"`
	SubnetIDs         []string `json:"subnetIds"`
	InstanceProfile   *string  `json:"instanceProfile"`
	KeyName           *string  `json:"keyName"`
	AdditionalMasters string   `json:"additionalMasterSecurityGroups"`
	AdditionalSlaves  string   `json:"additionalSlaveSecurityGroups"`
}

type stepInputs struct {
	types.StepConfig
	Jar struct {
		types.HadoopJarStepConfig
		Properties map[string]string `json:"properties"`
	} `json:"hadoopJarStep"`
}

// groupInputs are the properties of an instance group: of a cluster's, and of
// aws:emr/instanceGroup:InstanceGroup.
type groupInputs struct {
	types.InstanceGroupConfig
	ClusterID          string      `json:"clusterId"`
	AutoscalingPolicy  string      `json:"autoscalingPolicy"`
	ConfigurationsJSON string      `json:"configurationsJson"`
	EBS                []ebsInputs `json:"ebsConfigs"`
	EBSOptimized       *bool       `json:"ebsOptimized"`
}

// count returns the number of instances, which is 1 unless it is set.
func (g groupInputs) count() int32 { return max(aws.ToInt32(g.InstanceCount), 1) }

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
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	if err != nil {
		return in, fmt.Errorf("read the inputs: %w", err)
	}
	clearEmpty(reflect.ValueOf(&in))
	return in, nil
}

// clearEmpty sets pointers to "" to nil, in all structs of a value: the provider does not
// send what is not set.
func clearEmpty(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.String && v.Elem().Len() == 0 {
			v.SetZero()
		}
		clearEmpty(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			clearEmpty(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearEmpty(v.Index(i))
		}
	}
}

// optional returns a pointer to a value, nil to the zero value.
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
	request := &in.RunJobFlowInput
	request.Instances, request.Configurations, request.JobFlowRole, request.Tags = instances, configurations, in.EC2.InstanceProfile, in.tags()
	request.VisibleToAllUsers = aws.Bool(in.VisibleToAllUsers == nil || *in.VisibleToAllUsers)
	for _, a := range in.Applications {
		request.Applications = append(request.Applications, types.Application{Name: &a})
	}
	for _, a := range in.BootstrapActions {
		request.BootstrapActions = append(request.BootstrapActions, types.BootstrapActionConfig{
			Name: a.Name, ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: a.Path, Args: a.Args},
		})
	}
	for _, s := range in.Steps {
		request.Steps = append(request.Steps, s.config())
	}
	return request, nil
}

// instances returns the request's groups or fleets and their network.
func (in clusterInputs) instances() (*types.JobFlowInstancesConfig, error) {
	if in.EC2.SubnetID == nil && len(in.EC2.SubnetIDs) == 0 {
		return nil, errors.New("ec2Attributes.subnetId: must name a subnet: this account has no default VPC")
	}
	instances := &in.EC2.JobFlowInstancesConfig
	instances.Ec2SubnetId, instances.Ec2SubnetIds, instances.Ec2KeyName = in.EC2.SubnetID, in.EC2.SubnetIDs, in.EC2.KeyName
	instances.AdditionalMasterSecurityGroups = splitGroups(in.EC2.AdditionalMasters)
	instances.AdditionalSlaveSecurityGroups = splitGroups(in.EC2.AdditionalSlaves)
	instances.KeepJobFlowAliveWhenNoSteps = aws.Bool(in.KeepAlive == nil || *in.KeepAlive) // the provider's default
	instances.TerminationProtected, instances.UnhealthyNodeReplacement = &in.TerminationProtection, in.UnhealthyReplacement
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
	config := g.InstanceGroupConfig
	config.InstanceRole, config.InstanceCount, config.Market = role, aws.Int32(g.count()), types.MarketTypeOnDemand
	if g.BidPrice != nil {
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
	config := s.StepConfig
	config.HadoopJarStep = &s.Jar.HadoopJarStepConfig
	for k, v := range s.Jar.Properties {
		config.HadoopJarStep.Properties = append(config.HadoopJarStep.Properties, types.KeyValue{Key: &k, Value: &v})
	}
	return config
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
