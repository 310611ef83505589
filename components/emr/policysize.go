package emr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// The policies are measured with values that are as long as the real ones, which only an
// update knows: names that Pulumi gives have a random part.
const (
	someAccount = "123456789012"
	someBucket  = "storage-data-0123456789"
	someKey     = "key/01234567-0123-0123-0123-0123456789ab"
	someRole    = "emr-01234567890123456789012345678901-service-0123456"
)

// placeholders are what the policies name besides the configuration.
func (a *Args) placeholders() (account iampolicy.Account, bucketARN, keyARN, roleARN string) {
	account = iampolicy.Account{ID: someAccount, Partition: schema.Partition(a.Region), DNSSuffix: "amazonaws.com"}
	begin := "arn:" + account.Partition + ":"
	return account, begin + "s3:::" + someBucket, begin + "kms:" + a.Region + ":" + someAccount + ":" + someKey,
		begin + "iam::" + someAccount + ":role/" + someRole
}

// nodePolicySize returns how many characters IAM counts of the policy of the nodes.
func (a *Args) nodePolicySize() int {
	account, bucketARN, keyARN, _ := a.placeholders()
	return a.nodeDocument(account, bucketARN, keyARN).Size()
}

// servicePolicySize returns how many characters IAM counts of the policy of EMR itself.
func (a *Args) servicePolicySize() int {
	account, _, keyARN, roleARN := a.placeholders()
	arns := []string{roleARN, keyARN}
	if a.scales() {
		arns = append(arns, roleARN)
	}
	return a.serviceDocument(account, arns).Size()
}

// grant is a key whose entries the policy of the nodes names.
type grant struct {
	path  string
	value any
	clear func(*Args)
}

func (a *Args) grants() []grant {
	access, roles := a.Access, a.RuntimeRoles
	return []grant{
		{a.path("access.s3Read"), len(access.S3Read), func(a *Args) { a.Access.S3Read = nil }},
		{a.path("access.s3Write"), len(access.S3Write), func(a *Args) { a.Access.S3Write = nil }},
		{a.path("access.kmsKeys"), len(access.KMSKeys), func(a *Args) { a.Access.KMSKeys = nil }},
		{a.path("access.glueDatabases"), len(access.GlueDatabases), func(a *Args) { a.Access.GlueDatabases = nil }},
		{a.path("access.secrets"), len(access.Secrets), func(a *Args) { a.Access.Secrets = nil }},
		{a.path("runtimeRoles.arns"), len(roles.ARNs), func(a *Args) { a.RuntimeRoles.ARNs = nil }},
		{a.path("encryption.certificates"), a.Encryption.Certificates, func(a *Args) { a.Encryption.Certificates = "" }},
		{a.path("steps"), len(a.Steps), func(a *Args) { a.Steps = nil }},
		{a.path("bootstrapActions"), len(a.BootstrapActions), func(a *Args) { a.BootstrapActions = nil }},
		{"schedules", len(a.Scheduled), func(a *Args) { a.Scheduled = nil }},
	}
}

// checkPolicySize requires that IAM takes the policy of the nodes. The violation is of the
// key that makes most of it.
func (a *Args) checkPolicySize(l *violation.List) {
	size := a.nodePolicySize()
	if size <= platform.MaxRolePolicies {
		return
	}
	var largest grant
	least := size
	for _, g := range a.grants() {
		without := *a
		g.clear(&without)
		if n := without.nodePolicySize(); n < least {
			least, largest = n, g
		}
	}
	l.Require(largest.path == "", largest.path, largest.value, fmt.Sprintf(
		"must leave the policy of the nodes %d characters, all that IAM takes of a role: it has %d, %d of them for this key",
		platform.MaxRolePolicies, size, size-least),
		"name fewer, such as prefixes that contain the others, or attach a managed policy to the node role, which the output clusters names")
}

// CheckSharedRoles requires that IAM takes what several clusters add to one existing role:
// each adds a policy of its own, and all of them count together.
func CheckSharedRoles(clusters []*Args) error {
	var l violation.List
	for _, role := range []struct {
		key  string
		arn  func(*Args) string
		size func(*Args) int
	}{
		{"serviceRoleArn", func(a *Args) string { return a.ServiceRoleARN }, (*Args).servicePolicySize},
		{"instanceProfileArn", func(a *Args) string { return a.InstanceProfileARN }, (*Args).nodePolicySize},
	} {
		sharing := map[string][]*Args{}
		for _, a := range clusters {
			if arn := role.arn(a); arn != "" {
				sharing[arn] = append(sharing[arn], a)
			}
		}
		for _, arn := range slices.Sorted(maps.Keys(sharing)) {
			size := 0
			var keys []string
			for _, a := range sharing[arn] {
				size, keys = size+role.size(a), append(keys, a.Key)
			}
			last := sharing[arn][len(keys)-1]
			l.Require(size <= platform.MaxRolePolicies || len(keys) == 1, last.path(role.key), arn, fmt.Sprintf(
				"must not get more than the %d characters of policies that IAM takes of a role: clusters %s add %d together",
				platform.MaxRolePolicies, strings.Join(keys, ", "), size), "name another role for some of them, or none")
		}
	}
	return l.Err()
}
