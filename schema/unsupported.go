package schema

import (
	"encoding/json"

	"github.com/emr-observatory/emr-observatory/schema/decode"
)

// unsupportedKeys returns the parameters of EMR's API that a cluster cannot have here,
// by the name that RunJobFlow gives them.
func unsupportedKeys() map[string]decode.Refusal {
	elsewhere := func(what, key string) decode.Refusal {
		return decode.Refusal{Rule: "is no key: " + what, Remedy: "use " + key}
	}
	return map[string]decode.Refusal{
		"osReleaseLabel": absent("remove it: a new cluster has the newest Amazon Linux of its release; " +
			"to pin one, name an image in customAmiId"),
		"ebsRootVolumeSize":       elsewhere("the root volume has a key of its own", "rootVolumeGiB"),
		"ebsRootVolumeIops":       absent("remove it: a root volume of gp3 has 3000 IOPS; put what needs more on volumes of the group's ebs"),
		"ebsRootVolumeThroughput": absent("remove it: a root volume of gp3 has 125 MiB/s; put what needs more on volumes of the group's ebs"),
		"stepExecutionRoleArn":    executionRole(),
		"monitoringConfiguration": absent("remove it: the platform's collector ships the nodes' logs"),
		"sessionEnabled":          absent("start Spark Connect's server as a step"),
		"repoUpgradeOnBoot":       absent("upgrade packages in a bootstrap action, or in the image of customAmiId"),
		"extendedSupport":         absent("choose a release with standard support"),
		"visibleToAllUsers": {Rule: "is no key: EMR shows every cluster to all users who may read clusters",
			Remedy: "remove it; restrict who may read by tags"},
		"additionalInfo": {Rule: "is no key: EMR does not document its content", Remedy: "remove it"},
		"keyName": {Rule: "is no key: nodes take no SSH connections",
			Remedy: "open a shell with Session Manager: `aws ssm start-session --target <instance id>`"},
		"logUri": {Rule: "is no key: each cluster has its own prefix in the data bucket", Remedy: "read it from the output clusters"},
		"logEncryptionKmsKeyId": {Rule: "is no key: the stack's key encrypts the logs, as it does all data in the data bucket",
			Remedy: "remove it"},
		"securityConfiguration": {Rule: "is no key: the platform makes one for each cluster, which encrypts every disk " +
			"and requires IMDSv2",
			Remedy: "remove it, and use encryption.certificates, kerberos and runtimeRoles"},
		"kerberosAttributes":         elsewhere("it has a section of its own", "kerberos"),
		"authorizationConfiguration": elsewhere("of it, the roles of steps have a section of their own", "runtimeRoles"),
		"autoTerminationPolicy":      elsewhere("it has one value", "idleTimeoutMinutes"),
		"instanceGroups":             elsewhere("groups are named by their role", "master, core and tasks"),
		"instanceFleets":             elsewhere("fleets are named by their role", "fleets.master, fleets.core and fleets.task"),
		"placementGroups":            elsewhere("EMR spreads primary nodes only", "placement: SPREAD"),
		"managedScalingPolicy":       elsewhere("it is called like EMR's feature", "managedScaling"),
		"serverless": {Rule: "is no key: EMR Serverless has no node for a collector, no bootstrap action and no YARN",
			Remedy: "declare it in another stack: docs/decisions"},
		"eks": {Rule: "is no key: EMR on EKS has no bootstrap action and no YARN", Remedy: "declare it in another stack: docs/decisions"},
		"studio": {Rule: "is no key: EMR Studio is a workspace of people, not a cluster",
			Remedy: "declare it in another stack, and attach it to a cluster of this one"},
	}
}

// executionRole is the refusal of a step's role.
func executionRole() decode.Refusal {
	return absent("name the roles in the cluster's runtimeRoles.arns, and submit such steps yourself: " +
		"`aws emr add-steps --execution-role-arn`")
}

// absent is the refusal of what the AWS provider lacks.
func absent(remedy string) decode.Refusal {
	return decode.Refusal{Rule: "is no key: the AWS provider's version 6 cannot say it", Remedy: remedy}
}

// Refused says of keys that EMR's steps have why these have not.
func (Step) Refused() map[string]decode.Refusal {
	return map[string]decode.Refusal{"executionRoleArn": executionRole()}
}

// plain turns numbers of decoded JSON into Go's own, for YAML.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return v.String()
	default:
		return value
	}
}
