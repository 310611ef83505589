package record

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/diff"
)

const clusterType = "aws:emr/cluster:Cluster"

// emrFillers covers EMR.
func emrFillers() map[string]filler {
	return map[string]filler{
		clusterType: cluster,
		"aws:emr/instanceGroup:InstanceGroup": func(d *draft) error {
			d.setID(newEMRID("ig-"))
			d.setDefault("instanceCount", 1)
			count, _ := d.in["instanceCount"].(float64)
			d.set("runningInstanceCount", count)
			d.setDefault("status", "RUNNING")
			return nil
		},
		"aws:emr/instanceFleet:InstanceFleet": func(d *draft) error {
			d.setID(newEMRID("if-"))
			d.setDefaults(result{"provisionedOnDemandCapacity": 0, "provisionedSpotCapacity": 0})
			return nil
		},
		"aws:emr/managedScalingPolicy:ManagedScalingPolicy": joinedID("clusterId"),
		"aws:emr/securityConfiguration:SecurityConfiguration": func(d *draft) error {
			d.setID(d.text("name"))
			d.setDefaults(result{"creationDate": now(), "namePrefix": ""})
			return nil
		},
		"aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration": func(d *draft) error {
			d.setID("emr-block-public-access-configuration")
			return nil
		},
	}
}

// cluster fills a cluster that waits for steps. Its primary node has an address of
// the subnet, like any instance.
func cluster(d *draft) error {
	d.setID(newEMRID("j-"))
	d.setDefault("arn", d.regionalARN("elasticmapreduce", "cluster/"+d.id))
	d.set("clusterState", "WAITING")
	d.setDefaults(result{
		"keepJobFlowAliveWhenNoSteps": true, "terminationProtection": false, "visibleToAllUsers": true, "stepConcurrencyLevel": 1,
		"scaleDownBehavior": "TERMINATE_AT_TASK_COMPLETION",
	})
	d.completeGroup("masterInstanceGroup", "ig-")
	d.completeGroup("coreInstanceGroup", "ig-")
	d.completeGroup("masterInstanceFleet", "if-")
	d.completeGroup("coreInstanceFleet", "if-")
	d.keepBootstrapActions()
	if d.text("masterPublicDns") != "" {
		return nil
	}
	attributes, _ := d.in["ec2Attributes"].(map[string]any)
	subnetID, _ := attributes["subnetId"].(string)
	if several, _ := attributes["subnetIds"].([]any); subnetID == "" && len(several) > 0 {
		subnetID, _ = several[0].(string) // EMR puts a cluster into one of them
	}
	if subnetID == "" {
		return fmt.Errorf("run job flow: ec2Attributes.subnetId is not set; this account has no default VPC")
	}
	s, _ := d.account.subnet(subnetID)
	if err := d.account.checkOffered(s.zone, d.groupType("masterInstanceGroup"), d.groupType("coreInstanceGroup")); err != nil {
		return fmt.Errorf("run job flow: %w", err)
	}
	ip, err := d.account.AllocateAddress(subnetID, d.r.URN)
	if err != nil {
		return fmt.Errorf("run job flow: %w", err)
	}
	d.setDefault("masterPublicDns", PrivateDNS(d.account.Region(), ip))
	return nil
}

// groupType is the instance type of an instance group, "" if it has none.
func (d *draft) groupType(key string) string {
	group, _ := d.in[key].(map[string]any)
	t, _ := group["instanceType"].(string)
	return t
}

// completeGroup sets the id of an instance group: an output inside an input.
func (d *draft) completeGroup(key, prefix string) {
	k := resource.PropertyKey(key)
	group, set := d.out[k]
	if !set || !group.IsObject() {
		return
	}
	id := resource.NewStringProperty(newEMRID(prefix))
	if before, ok := d.r.Outputs[k]; ok && before.IsObject() && before.ObjectValue()["id"].IsString() {
		id = before.ObjectValue()["id"]
	}
	completed := group.ObjectValue().Copy()
	completed["id"] = id
	if _, counted := completed["instanceCount"]; !counted && prefix == "ig-" {
		completed["instanceCount"] = resource.NewNumberProperty(1)
	}
	d.out[k] = resource.NewObjectProperty(completed)
}

// keepBootstrapActions keeps the bootstrap actions with which the cluster was created:
// the provider accepts an edit of their path or name but ignores it.
func (d *draft) keepBootstrapActions() {
	if d.r.Outputs == nil || len(diff.NeverApplied(d.r.Type)) == 0 {
		return
	}
	if before, ok := d.r.Outputs["bootstrapActions"]; ok {
		d.out["bootstrapActions"] = before
	}
}
