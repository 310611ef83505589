package record

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/change"
)

const clusterType = "aws:emr/cluster:Cluster"

func emrFillers() map[string]filler {
	return map[string]filler{
		clusterType: cluster,
		"aws:emr/instanceGroup:InstanceGroup": func(d *draft) error {
			d.identify(emrID("ig-"))
			d.otherwise("instanceCount", 1)
			count, _ := d.in["instanceCount"].(float64)
			d.always("runningInstanceCount", count)
			d.otherwise("status", "RUNNING")
			return nil
		},
		"aws:emr/instanceFleet:InstanceFleet": func(d *draft) error {
			d.identify(emrID("if-"))
			d.otherwise("provisionedOnDemandCapacity", 0)
			d.otherwise("provisionedSpotCapacity", 0)
			return nil
		},
		"aws:emr/managedScalingPolicy:ManagedScalingPolicy": plainID("clusterId"),
		"aws:emr/securityConfiguration:SecurityConfiguration": func(d *draft) error {
			d.identify(d.text("name"))
			d.otherwise("creationDate", now())
			d.otherwise("namePrefix", "")
			return nil
		},
		"aws:emr/studio:Studio": func(d *draft) error {
			d.identify("es-" + random(upperDigits, 25))
			d.otherwise("arn", d.arn("elasticmapreduce", "studio/"+d.id))
			d.otherwise("url", "https://"+d.id+".emrstudio-prod."+d.account.Region()+".amazonaws.com")
			return nil
		},
		"aws:emr/studioSessionMapping:StudioSessionMapping":                     plainID("studioId", "identityType", "identityId"),
		"aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration": func(d *draft) error { d.identify("current"); return nil },
	}
}

// cluster is a cluster that waits for steps. EMR's master takes an address of
// the subnet like any instance.
func cluster(d *draft) error {
	d.identify(emrID("j-"))
	d.otherwise("arn", d.arn("elasticmapreduce", "cluster/"+d.id))
	d.always("clusterState", "WAITING")
	d.otherwise("keepJobFlowAliveWhenNoSteps", true)
	d.otherwise("terminationProtection", false)
	d.otherwise("visibleToAllUsers", true)
	d.otherwise("stepConcurrencyLevel", 1)
	d.otherwise("scaleDownBehavior", "TERMINATE_AT_TASK_COMPLETION")
	d.member("masterInstanceGroup", "ig-")
	d.member("coreInstanceGroup", "ig-")
	d.unapplied()
	if d.text("masterPublicDns") != "" {
		return nil
	}
	attributes, _ := d.in["ec2Attributes"].(map[string]any)
	subnetID, _ := attributes["subnetId"].(string)
	if subnetID == "" {
		return fmt.Errorf("run job flow: ec2Attributes.subnetId is not set; this account has no default VPC")
	}
	ip, err := d.account.Address(subnetID, d.r.URN)
	if err != nil {
		return fmt.Errorf("run job flow: %w", err)
	}
	d.otherwise("masterPublicDns", PrivateDNS(d.account.Region(), ip))
	return nil
}

// member gives an instance group its id, which is an output inside an input.
func (d *draft) member(key, prefix string) {
	k := resource.PropertyKey(key)
	group, set := d.out[k]
	if !set || !group.IsObject() {
		return
	}
	id := resource.NewStringProperty(emrID(prefix))
	if before, ok := d.r.Outputs[k]; ok && before.IsObject() && before.ObjectValue()["id"].IsString() {
		id = before.ObjectValue()["id"]
	}
	completed := group.ObjectValue().Copy()
	completed["id"] = id
	if _, counted := completed["instanceCount"]; !counted {
		completed["instanceCount"] = resource.NewNumberProperty(1)
	}
	d.out[k] = resource.NewObjectProperty(completed)
}

// unapplied keeps the bootstrap actions as they were when the cluster was made:
// the provider accepts an edit of their path or name and does nothing.
func (d *draft) unapplied() {
	if d.r.Outputs == nil || len(change.Silent(d.r.Type)) == 0 {
		return
	}
	if before, ok := d.r.Outputs["bootstrapActions"]; ok {
		d.out["bootstrapActions"] = before
	}
}
