package emr_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// characters counts what IAM counts of a policy.
func characters(policy string) int {
	return utf8.RuneCountInString(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, policy))
}

// What Validate measures is what the update sends: the largest access that it lets through
// fits, and leaves less room than one more prefix takes.
func TestTheMeasuredPolicyIsTheOneThatIsSent(t *testing.T) {
	largest := validArgs()
	for n := 1; ; n++ {
		args := validArgs()
		args.Access.S3Read = numbered(n, "s3://bkt%02d/größe/")
		if args.Validate() != nil {
			break
		}
		largest = args
	}
	require.Greater(t, len(largest.Access.S3Read), 10)
	rec, err := recorder.Run(program(largest), recorderOptions("aws", "amazonaws.com")...)
	require.NoError(t, err)
	sent := characters(one(t, rec, policyType, "emr-node").Inputs["policy"].StringValue())
	require.LessOrEqual(t, sent, platform.MaxRolePolicies)
	require.Greater(t, sent, platform.MaxRolePolicies*9/10, "there was room for more")
}

// Policies of one role count together.
func TestClustersThatShareARole(t *testing.T) {
	share := func(n int, edit func(*emr.Args)) error {
		var clusters []*emr.Args
		for _, key := range numbered(n, "c%d") {
			a := validArgs()
			a.Key = key
			edit(a)
			require.NoError(t, a.Validate(), "each by itself")
			clusters = append(clusters, a)
		}
		return emr.CheckSharedRoles(clusters)
	}
	service := func(a *emr.Args) { a.ServiceRoleARN = "arn:aws:iam::123456789012:role/emr" }
	nodes := func(a *emr.Args) { a.InstanceProfileARN = "arn:aws:iam::123456789012:instance-profile/nodes" }
	require.NoError(t, share(20, func(*emr.Args) {}), "each has roles of its own")
	require.NoError(t, share(2, service))
	require.NoError(t, share(2, nodes))
	require.ErrorContains(t, share(15, service),
		`clusters.c14.serviceRoleArn: "arn:aws:iam::123456789012:role/emr" must not get more than the 10240`)
	require.ErrorContains(t, share(6, nodes), "clusters.c5.instanceProfileArn: ")
	require.ErrorContains(t, share(6, nodes), "clusters c0, c1, c2, c3, c4, c5 add ")
}
