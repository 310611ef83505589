package emr

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// ReadCluster returns the properties of a cluster as the provider reads them, in the
// order of its calls (resourceClusterRead); false if the cluster has ended. A property
// is nil if the API has no value. The result lacks what no call returns:
// keepJobFlowAliveWhenNoSteps and the passwords of Kerberos. before is the last state.
func (r Resources) ReadCluster(ctx context.Context, id string, before map[string]any) (map[string]any, bool, error) {
	props, exists, err := r.readCluster(ctx, id, before)
	if err != nil {
		return nil, false, fmt.Errorf("read EMR cluster %s: %w", id, err)
	}
	return props, exists, nil
}

func (r Resources) readCluster(ctx context.Context, id string, before map[string]any) (map[string]any, bool, error) {
	answer, err := r.API.DescribeCluster(ctx, &awsemr.DescribeClusterInput{ClusterId: &id})
	if err != nil && strings.Contains(err.Error(), "is not valid") {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	c := answer.Cluster
	if c.Status.State == types.ClusterStateTerminated || c.Status.State == types.ClusterStateTerminatedWithErrors {
		return nil, false, nil
	}
	props := clusterProperties(c)
	for _, name := range []string{"masterInstanceGroup", "coreInstanceGroup", "masterInstanceFleet", "coreInstanceFleet"} {
		props[name] = nil
	}
	// The provider ignores the errors of both: a cluster has groups or fleets.
	if groups, err := r.API.ListInstanceGroups(ctx, &awsemr.ListInstanceGroupsInput{ClusterId: &id}); err == nil {
		for _, g := range groups.InstanceGroups {
			if g.InstanceGroupType != types.InstanceGroupTypeTask {
				props[strings.ToLower(string(g.InstanceGroupType))+"InstanceGroup"] = dropNil(groupProperties(g))
			}
		}
	}
	if fleets, err := r.fleets(ctx, id); err == nil {
		for _, f := range fleets {
			if f.InstanceFleetType != types.InstanceFleetTypeTask {
				props[strings.ToLower(string(f.InstanceFleetType))+"InstanceFleet"] = fleetProperties(&f)
			}
		}
	}
	actions, err := r.API.ListBootstrapActions(ctx, &awsemr.ListBootstrapActionsInput{ClusterId: &id})
	if err != nil {
		return nil, false, err
	}
	props["bootstrapActions"] = actionProperties(actions.BootstrapActions)
	if props["steps"], err = r.readSteps(ctx, id, before); err != nil {
		return nil, false, err
	}
	idle, err := r.API.GetAutoTerminationPolicy(ctx, &awsemr.GetAutoTerminationPolicyInput{ClusterId: &id})
	if err != nil {
		return nil, false, err
	}
	props["autoTerminationPolicy"] = nil
	if p := idle.AutoTerminationPolicy; p != nil {
		props["autoTerminationPolicy"] = map[string]any{"idleTimeout": float64(aws.ToInt64(p.IdleTimeout))}
	}
	return props, true, nil
}

// readSteps returns the steps, the oldest first, of those states that the resource asks
// for.
func (r Resources) readSteps(ctx context.Context, id string, before map[string]any) (any, error) {
	in, err := decodeInputs[struct {
		States []types.StepState `json:"listStepsStates"`
	}](before)
	if err != nil {
		return nil, err
	}
	var steps []any
	pages := awsemr.NewListStepsPaginator(r.API, &awsemr.ListStepsInput{ClusterId: &id, StepStates: in.States})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Steps {
			jar := fields(s.Config, "jar", "mainClass", "args")
			jar["properties"] = textMap(s.Config.Properties)
			steps = append(steps, map[string]any{
				"name": aws.ToString(s.Name), "actionOnFailure": string(s.ActionOnFailure), "hadoopJarStep": dropNil(jar),
			})
		}
	}
	slices.Reverse(steps)
	return list(steps), nil
}

// clusterProperties returns what DescribeCluster says.
func clusterProperties(c *types.Cluster) map[string]any {
	var applications []string
	for _, a := range c.Applications {
		applications = append(applications, aws.ToString(a.Name))
	}
	tags := map[string]string{}
	for _, t := range c.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	var placement []any
	for _, p := range c.PlacementGroups {
		placement = append(placement, dropNil(fields(p, "instanceRole", "placementStrategy")))
	}
	props := fields(c, "arn:ClusterArn", "masterPublicDns:MasterPublicDnsName", "name", "releaseLabel", "serviceRole", "autoscalingRole",
		"securityConfiguration", "logUri", "logEncryptionKmsKeyId", "customAmiId", "ebsRootVolumeSize", "stepConcurrencyLevel")
	maps.Copy(props, map[string]any{
		"clusterState": string(c.Status.State), "applications": texts(applications), "tagsAll": textMap(tags),
		"scaleDownBehavior": string(c.ScaleDownBehavior), "terminationProtection": aws.ToBool(c.TerminationProtected),
		"unhealthyNodeReplacement": aws.ToBool(c.UnhealthyNodeReplacement), "visibleToAllUsers": aws.ToBool(c.VisibleToAllUsers),
		"configurationsJson": configurationsText(c.Configurations), "placementGroupConfigs": list(placement),
		"ec2Attributes": instanceProperties(c.Ec2InstanceAttributes),
	})
	return props
}

func instanceProperties(a *types.Ec2InstanceAttributes) map[string]any {
	props := fields(a, "keyName:Ec2KeyName", "subnetId:Ec2SubnetId", "subnetIds:RequestedEc2SubnetIds", "instanceProfile:IamInstanceProfile",
		"emrManagedMasterSecurityGroup", "emrManagedSlaveSecurityGroup", "serviceAccessSecurityGroup")
	for property, groups := range map[string][]string{
		"additionalMasterSecurityGroups": a.AdditionalMasterSecurityGroups, "additionalSlaveSecurityGroups": a.AdditionalSlaveSecurityGroups,
	} {
		if len(groups) > 0 {
			props[property] = strings.Join(groups, ",")
		}
	}
	return dropNil(props)
}

func actionProperties(actions []types.Command) any {
	var out []any
	for _, a := range actions {
		out = append(out, dropNil(fields(a, "name", "path:ScriptPath", "args")))
	}
	return list(out)
}

// groupProperties returns an instance group as a property; nil is a property without a value.
func groupProperties(g types.InstanceGroup) map[string]any {
	props := fields(g, "id", "name", "instanceType", "instanceCount:RequestedInstanceCount", "bidPrice")
	props["ebsConfigs"], props["autoscalingPolicy"] = ebsConfigs(g.EbsBlockDevices), policyText(g.AutoScalingPolicy)
	return props
}

// ebsConfigs returns the volumes of an instance, equal ones counted.
func ebsConfigs(devices []types.EbsBlockDevice) any {
	type volume struct {
		kind                   string
		size, iops, throughput int32
	}
	var order []volume
	count := map[volume]int{}
	for _, d := range devices {
		s := d.VolumeSpecification
		v := volume{aws.ToString(s.VolumeType), aws.ToInt32(s.SizeInGB), aws.ToInt32(s.Iops), aws.ToInt32(s.Throughput)}
		if count[v] == 0 {
			order = append(order, v)
		}
		count[v]++
	}
	var out []any
	for _, v := range order {
		props := map[string]any{"type": v.kind, "size": float64(v.size), "volumesPerInstance": float64(count[v])}
		for property, n := range map[string]int32{"iops": v.iops, "throughput": v.throughput} {
			if n != 0 {
				props[property] = float64(n)
			}
		}
		out = append(out, props)
	}
	return list(out)
}

// configurationsText returns classifications as the provider writes them; nil if there
// are none.
func configurationsText(configurations []types.Configuration) any {
	if len(configurations) == 0 {
		return nil
	}
	return documentText(readClassifications(configurations))
}

// readClassification is a classification as the provider writes what EMR's API answers:
// always with properties, with inner classifications only if there are some
// (terraform-provider-aws, docs of aws_emr_cluster, "NOTE on configurations_json").
type readClassification struct {
	Classification string
	Configurations []readClassification `json:",omitempty"`
	Properties     map[string]string
}

func readClassifications(list []types.Configuration) []readClassification {
	var out []readClassification
	for _, c := range list {
		properties := map[string]string{}
		maps.Copy(properties, c.Properties)
		out = append(out, readClassification{aws.ToString(c.Classification), readClassifications(c.Configurations), properties})
	}
	return out
}

// policyText returns a scaling policy as the provider writes it: without the dimension of
// the cluster itself.
func policyText(p *types.AutoScalingPolicyDescription) any {
	if p == nil {
		return nil
	}
	policy := types.AutoScalingPolicy{Constraints: p.Constraints, Rules: p.Rules}
	for _, rule := range policy.Rules {
		alarm := rule.Trigger.CloudWatchAlarmDefinition
		alarm.Dimensions = slices.DeleteFunc(alarm.Dimensions, func(d types.MetricDimension) bool { return aws.ToString(d.Key) == "JobFlowId" })
	}
	return documentText(withoutEmpty(policy))
}

// fields returns fields of a shape of the API as properties, nil for those without a value.
// A property is "name" or, if the field has another name, "name:Field".
func fields(shape any, properties ...string) map[string]any {
	all, _ := withoutEmpty(shape).(map[string]any)
	out := map[string]any{}
	for _, p := range properties {
		name, field, _ := strings.Cut(p, ":")
		out[name] = nil
		for k, v := range all {
			if strings.EqualFold(k, cmp.Or(field, name)) {
				out[name] = v
			}
		}
	}
	return out
}

// dropNil removes the properties that the API did not return.
func dropNil(props map[string]any) map[string]any {
	maps.DeleteFunc(props, func(_ string, v any) bool { return v == nil })
	return props
}

// withoutEmpty converts a shape of the API to plain values, without fields that are not
// set.
func withoutEmpty(shape any) any {
	raw, err := json.Marshal(shape)
	if err != nil {
		return nil
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil
	}
	return dropEmpty(plain)
}

func dropEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if inner = dropEmpty(inner); inner == nil || inner == "" {
				delete(v, k)
			} else {
				v[k] = inner
			}
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = dropEmpty(v[i])
		}
	}
	return v
}

func documentText(document any) any {
	raw, err := json.Marshal(document)
	if err != nil {
		return nil
	}
	return string(raw)
}

// texts, textMap and list return a list or map as a property, nil if it is empty.
func texts(values []string) any {
	var out []any
	for _, v := range values {
		out = append(out, v)
	}
	return list(out)
}

func textMap(values map[string]string) any {
	if len(values) == 0 {
		return nil
	}
	out := map[string]any{}
	for k, v := range values {
		out[k] = v
	}
	return out
}

func list(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values
}
