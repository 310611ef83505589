package controls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/controls"
)

func TestEveryAllowedActionIsListedWithItsNeed(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		require.Empty(t, controls.Unlisted(resources(t, stack)), stack)
	}
	for _, a := range controls.Allowances() {
		require.NotEmpty(t, a.Holder, a.Policy)
		require.NotEmpty(t, a.Needs, a.Policy)
		require.NotEmpty(t, a.Actions, a.Policy)
	}
}

func TestAllowancesAndPoliciesKeepEachOther(t *testing.T) {
	all := resources(t, "dev")
	for name, c := range map[string]struct {
		by   alteration
		want []string
	}{
		"one action more": {
			edit("RolePolicy", "emr-node", "policy", `"kms:DescribeKey"`, `"kms:DescribeKey","ssm:GetParameter"`),
			[]string{"observatory/allowances emr-node: allows ssm:GetParameter, which nobody is listed to need; take it away, or list it with its reason"},
		},
		"one action less": {
			edit("RolePolicy", "emr-node", "policy", `"kms:GenerateDataKey","kms:DescribeKey"`, `"kms:GenerateDataKey"`),
			[]string{"observatory/allowances emr-node: kms:DescribeKey is listed and not allowed; take it from the table"},
		},
		"the same action for another": {
			add("aws:iam/rolePolicy:RolePolicy", "stray", map[string]any{"policy": `{"Version":"2012-10-17","Statement":[{"Sid":"S","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]}]}`}),
			[]string{"observatory/allowances stray: allows s3:GetObject, which nobody is listed to need; take it away, or list it with its reason"},
		},
	} {
		var got []string
		for _, f := range controls.Unlisted(altered(t, all, c.by)) {
			got = append(got, f.String())
		}
		require.Equal(t, c.want, got, name)
	}
	unreadable := altered(t, all, edit("RolePolicy", "emr-node", "policy", `"Action":`, `"NotAction":`))
	require.NotEmpty(t, controls.Unlisted(unreadable), "a negated element is refused, not overlooked")
}
