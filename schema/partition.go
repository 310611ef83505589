package schema

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Partition returns the partition of AWS that a region belongs to, which begins each of
// its ARNs (IAM User Guide, "Amazon Resource Names"; botocore, partitions.json).
func Partition(region string) string {
	for _, p := range []struct{ prefix, partition string }{
		{"cn-", "aws-cn"}, {"us-gov-", "aws-us-gov"}, {"us-iso-", "aws-iso"}, {"us-isob-", "aws-iso-b"}, {"us-isof-", "aws-iso-f"},
		{"eu-isoe-", "aws-iso-e"}, {"eusc-", "aws-eusc"},
	} {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition
		}
	}
	return "aws"
}

// arns returns the ARNs that the cluster names, by their paths.
func (c Cluster) arns(path string) map[string]string {
	out := map[string]string{path + ".serviceRoleArn": c.ServiceRoleARN, path + ".instanceProfileArn": c.InstanceProfileARN}
	for at, list := range map[string][]string{
		".access.kmsKeys": c.Access.KMSKeys, ".access.secrets": c.Access.Secrets, ".runtimeRoles.arns": c.RuntimeRoles.ARNs,
	} {
		for i, arn := range list {
			out[pathOf(path+at, i)] = arn
		}
	}
	return out
}

// checkPartition requires each ARN of a cluster to be of the region's partition: accounts
// and endpoints of another one are unknown there.
func (c Cluster) checkPartition(l *violation.List, path, region string) {
	if !rules["region"].Holds(region) {
		return
	}
	own := Partition(region)
	for at, arn := range c.arns(path) {
		const fields = 6 // arn:partition:service:region:account:resource
		parts := strings.SplitN(arn, ":", fields)
		if len(parts) < fields {
			continue // "", or refused by the key's own rule
		}
		where := own + ", that of " + region
		l.Require(parts[1] == own, at, arn, "must be of the partition "+where, "name one that begins with arn:"+own+":")
		l.Require(parts[1] != own || parts[3] == "" || Partition(parts[3]) == own, at, arn, "must be in a region of the partition "+where,
			"name one of a region that begins like "+region)
	}
}

// checkNotOfAWS refuses a role that only AWS may change (IAM User Guide, "Service-linked
// roles": UnmodifiableEntity). why says what the program, or its user, would change.
func checkNotOfAWS(l *violation.List, path, arn, why, remedy string) {
	for _, reserved := range []string{":role/aws-service-role/", ":role/aws-reserved/"} {
		l.Require(!strings.Contains(arn, reserved), path, arn, "must be a role of your own, which AWS lets you change: "+why, remedy)
	}
}
