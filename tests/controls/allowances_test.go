package controls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/tests/controls"
)

func TestEveryAllowedActionIsListedWithPurpose(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		require.Empty(t, controls.CheckAllowances(resources(t, stack)), stack)
	}
	for _, a := range controls.Allowances() {
		require.NotEmpty(t, a.Holder, a.Policy)
		require.NotEmpty(t, a.Purpose, a.Policy)
		require.NotEmpty(t, a.Actions, a.Policy)
	}
}

// What only some configurations need is allowed in these, and in no other.
func TestInstanceStoresAreEncryptedWithListedActions(t *testing.T) {
	values := trial.Values(t, "dev")
	const key = platform.Project + ":clusters"
	before := values[key]
	values[key] = strings.ReplaceAll(before, `"m5.xlarge"`, `"d2.xlarge"`)
	require.NotEqual(t, before, values[key])
	all := controls.FromRecording(trial.Record(t, "dev", recorder.WithConfig(values)))
	require.Empty(t, controls.CheckAllowances(all))
	policyOf := func(all controls.Resources) string {
		for _, r := range all {
			if r.Type == "aws:iam/rolePolicy:RolePolicy" && r.Name == "emr-main-node" {
				return r.Text("policy")
			}
		}
		return ""
	}
	require.Contains(t, policyOf(all), "kms:ReEncryptTo")
	require.NotContains(t, policyOf(resources(t, "dev")), "kms:ReEncryptTo")
}

// A copy of the traces opens one port and lets one more pod use the role, both only
// where it is configured.
func TestACopyOfTracesAddsOneException(t *testing.T) {
	values := trial.Values(t, "dev")
	values[platform.Project+":tracing"] = `{"endpoint":"otlp.example.com:4317","headersParameter":"/team/trace-headers"}`
	all := controls.FromRecording(trial.Record(t, "dev", recorder.WithConfig(values)))
	require.Equal(t, []string{"AWS-0104 network-control-traces-out"}, findings(controls.Judge("dev", all)))
	require.Empty(t, controls.CheckAllowances(all))
}

func TestAllowancesMatchPolicies(t *testing.T) {
	const unlisted = "which is not listed; remove it, or list it with its purpose"
	all := resources(t, "dev")
	for name, c := range map[string]struct {
		alteration alteration
		want       []string
	}{
		"an action that is not listed": {
			edit("RolePolicy", "emr-main-node", "policy", `"kms:DescribeKey"`, `"kms:DescribeKey","ssm:GetParameter"`),
			[]string{"observatory/allowances emr-main-node: allows ssm:GetParameter, " + unlisted},
		},
		"a listed action that is not allowed": {
			edit("RolePolicy", "emr-main-node", "policy", `"kms:Decrypt","kms:GenerateDataKey"`, `"kms:Decrypt"`),
			[]string{"observatory/allowances emr-main-node: kms:GenerateDataKey is listed but not allowed; remove it from the list"},
		},
		"an action listed for another policy": {
			add("aws:iam/rolePolicy:RolePolicy", "stray", map[string]any{
				"policy": `{"Version":"2012-10-17","Statement":[{"Sid":"S","Effect":"Allow",` +
					`"Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]}]}`}),
			[]string{"observatory/allowances stray: allows s3:GetObject, " + unlisted},
		},
	} {
		var got []string
		for _, f := range controls.CheckAllowances(alter(t, all, c.alteration)) {
			got = append(got, f.String())
		}
		require.Equal(t, c.want, got, name)
	}
	unreadable := alter(t, all, edit("RolePolicy", "emr-main-node", "policy", `"Action":`, `"NotAction":`))
	require.NotEmpty(t, controls.CheckAllowances(unreadable), "a negated element is an error, not overlooked")
}
