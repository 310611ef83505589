package emr

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
)

// Spec is what Launch needs beyond what the store holds.
type Spec struct {
	ReleaseLabel, SubnetID string
	Profile                string // instance profile of the nodes, by name or ARN
	Actions                []Action
	Configurations         []hadoop.Configuration
}

// Action is a bootstrap action.
type Action struct {
	Name, Path string
	Args       []string
}

// inputs are the properties of aws:emr/cluster:Cluster that the local cloud applies;
// the provider has checked all of them against the SDK's types.
type inputs struct {
	Name                 string            `json:"name"`
	ReleaseLabel         string            `json:"releaseLabel"`
	Applications         []string          `json:"applications"`
	LogURI               string            `json:"logUri"`
	ServiceRole          string            `json:"serviceRole"`
	SecurityConfig       string            `json:"securityConfiguration"`
	ConfigurationsJSON   string            `json:"configurationsJson"`
	TerminationProtected bool              `json:"terminationProtection"`
	StepConcurrency      int32             `json:"stepConcurrencyLevel"`
	Tags                 map[string]string `json:"tags"`
	Master               group             `json:"masterInstanceGroup"`
	Core                 *group            `json:"coreInstanceGroup"`
	AutoTermination      *struct {
		IdleTimeout int64 `json:"idleTimeout"`
	} `json:"autoTerminationPolicy"`
	EC2 struct {
		SubnetID        string `json:"subnetId"`
		InstanceProfile string `json:"instanceProfile"`
	} `json:"ec2Attributes"`
	BootstrapActions []struct {
		Name string   `json:"name"`
		Path string   `json:"path"`
		Args []string `json:"args"`
	} `json:"bootstrapActions"`
}

type group struct {
	InstanceType  string `json:"instanceType"`
	InstanceCount int32  `json:"instanceCount"`
}

// parse decodes a cluster resource's inputs, which are plain values.
func parse(props map[string]any) (inputs, Spec, error) {
	var in inputs
	raw, err := json.Marshal(props)
	if err != nil {
		return in, Spec{}, err
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, Spec{}, fmt.Errorf("read the cluster's inputs: %w", err)
	}
	spec := Spec{ReleaseLabel: in.ReleaseLabel, SubnetID: in.EC2.SubnetID, Profile: in.EC2.InstanceProfile}
	if in.ConfigurationsJSON != "" {
		if err := json.Unmarshal([]byte(in.ConfigurationsJSON), &spec.Configurations); err != nil {
			return in, Spec{}, fmt.Errorf("configurationsJson: %w", err)
		}
	}
	for _, a := range in.BootstrapActions {
		spec.Actions = append(spec.Actions, Action{Name: a.Name, Path: a.Path, Args: a.Args})
	}
	if in.EC2.SubnetID == "" {
		return in, spec, errors.New("ec2Attributes.subnetId: instance groups need one subnet")
	}
	return in, spec, nil
}

// putCluster puts a new cluster into the store and returns its id.
func (s *Service) putCluster(in inputs, spec Spec) (string, error) {
	id := emrapi.NewID("j")
	groups := []types.InstanceGroup{instanceGroup(types.InstanceGroupTypeMaster, in.Master)}
	if in.Core != nil {
		groups = append(groups, instanceGroup(types.InstanceGroupTypeCore, *in.Core))
	}
	var actions []types.Command
	for _, a := range spec.Actions {
		actions = append(actions, types.Command{Name: aws.String(a.Name), ScriptPath: aws.String(a.Path), Args: a.Args})
	}
	if err := s.Store.PutCluster(s.storedCluster(id, in, spec), groups, actions); err != nil {
		return "", err
	}
	return id, s.Store.SetPolicies(id, in.idlePolicy(), nil)
}

// storedCluster returns the cluster as DescribeCluster shows it.
func (s *Service) storedCluster(id string, in inputs, spec Spec) types.Cluster {
	var apps []types.Application
	for _, a := range in.Applications {
		apps = append(apps, types.Application{Name: aws.String(a)})
	}
	cluster := types.Cluster{
		Id: &id, Name: aws.String(in.Name), ReleaseLabel: aws.String(in.ReleaseLabel), LogUri: aws.String(in.LogURI),
		ServiceRole: aws.String(in.ServiceRole), Applications: apps, Tags: in.tags(),
		Configurations:       apiConfigurations(spec.Configurations),
		TerminationProtected: aws.Bool(in.TerminationProtected), AutoTerminate: aws.Bool(false),
		VisibleToAllUsers: aws.Bool(true), StepConcurrencyLevel: aws.Int32(in.stepConcurrency()),
		ClusterArn: aws.String(fmt.Sprintf("arn:aws:elasticmapreduce:%s:%s:cluster/%s", s.AWSRegion, s.AccountID, id)),
		Ec2InstanceAttributes: &types.Ec2InstanceAttributes{
			Ec2SubnetId: aws.String(in.EC2.SubnetID), IamInstanceProfile: aws.String(in.EC2.InstanceProfile),
			Ec2AvailabilityZone: aws.String(s.AWSRegion + "a"),
		},
	}
	if in.SecurityConfig != "" {
		cluster.SecurityConfiguration = aws.String(in.SecurityConfig)
	}
	return cluster
}

// apiConfigurations returns a configuration list as EMR's API shows it.
func apiConfigurations(list []hadoop.Configuration) []types.Configuration {
	var out []types.Configuration
	for _, c := range list {
		out = append(out, types.Configuration{
			Classification: aws.String(c.Classification), Properties: c.Properties, Configurations: apiConfigurations(c.Configurations),
		})
	}
	return out
}

func (in inputs) tags() []types.Tag {
	var tags []types.Tag
	for k, v := range in.Tags {
		tags = append(tags, types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	return tags
}

// stepConcurrency returns the number of steps that run at a time; EMR's default is 1.
func (in inputs) stepConcurrency() int32 { return max(in.StepConcurrency, 1) }

// idlePolicy returns the auto-termination policy, or nil.
func (in inputs) idlePolicy() *types.AutoTerminationPolicy {
	if in.AutoTermination == nil {
		return nil
	}
	return &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(in.AutoTermination.IdleTimeout)}
}

// instanceGroup returns a new instance group as EMR's API shows it.
func instanceGroup(kind types.InstanceGroupType, g group) types.InstanceGroup {
	return types.InstanceGroup{
		Id: aws.String(emrapi.NewID("ig")), Name: aws.String(string(kind)), InstanceGroupType: kind, Market: types.MarketTypeOnDemand,
		InstanceType: aws.String(g.InstanceType), RequestedInstanceCount: aws.Int32(max(g.InstanceCount, 1)),
	}
}
