package controlnode_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/schema"
)

// statement is one of the role's policy.
type statement struct {
	Sid              string
	Action, Resource []string
	Condition        map[string]map[string][]string
}

// allows reports whether the statement allows an action on a resource of this beginning.
func (s statement) allows(action, resource string) bool {
	return slices.Contains(s.Action, action) &&
		slices.ContainsFunc(s.Resource, func(r string) bool { return strings.TrimSuffix(r, "*") == strings.TrimSuffix(resource, "*") })
}

func policyWith(t *testing.T, profiler schema.Profiler) []statement {
	t.Helper()
	args := validArgs()
	args.Profiler = profiler
	var policy struct{ Statement []statement }
	text := plain(one(t, run(t, args), "aws:iam/rolePolicy:RolePolicy", "control-access").Inputs["policy"])
	require.NoError(t, json.Unmarshal([]byte(text), &policy))
	return policy.Statement
}

// The profiler may make the calls that it makes, each where it makes it, and nothing else
// is allowed for its sake. Event logs in S3 are those of the prefixes that are configured.
func TestProfilerMayMakeItsCallsAndNoOthers(t *testing.T) {
	const emr = "arn:aws:elasticmapreduce:us-east-1:123456789012:"
	resources := map[source.Target][]string{
		source.AnyCluster:   {"*"},
		source.EachCluster:  {emr + "cluster/*"},
		source.PersistentUI: {emr + "cluster/*", emr + "persistent-app-ui/*"},
		source.Lake:         {bucketARN + "/" + string(platform.PrefixHistory) + "*"},
		source.StepLogs:     {bucketARN + "/" + string(platform.PrefixEMRLogs) + "*"},
	}
	profiler := schema.Defaults().Profiler
	profiler.EventLogs = []string{"s3://logs/spark/", "s3://logs/etl/spark/", "s3://whole/"}
	resources[source.EventLogs] = []string{"arn:aws:s3:::logs/spark/*", "arn:aws:s3:::logs/etl/spark/*", "arn:aws:s3:::whole/*"}
	all, without := policyWith(t, profiler), policyWith(t, schema.Profiler{})
	made := map[string]bool{}
	for call, actions := range source.Calls() {
		require.Contains(t, resources, call.Target, call.Operation)
		for _, action := range actions {
			on := resources[call.Target]
			if action == "s3:ListBucket" {
				on = []string{bucketARN}
				if call.Target == source.EventLogs {
					on = []string{"arn:aws:s3:::logs", "arn:aws:s3:::whole"}
				}
			}
			for _, resource := range on {
				made[action+" "+resource] = true
				require.True(t, slices.ContainsFunc(all, func(s statement) bool { return s.allows(action, resource) }), "%s on %s", action, resource)
			}
		}
	}
	own, listable := all[len(without):], map[string][]string{}
	require.Equal(t, without, all[:len(without)])
	require.NotEmpty(t, own)
	for _, s := range own {
		for _, action := range s.Action {
			for _, resource := range s.Resource {
				require.True(t, made[action+" "+resource], "%s: %s on %s is no call of the profiler", s.Sid, action, resource)
			}
		}
		listable[s.Sid] = s.Condition["StringLike"]["s3:prefix"]
	}
	requireScope(t, own, map[string][]string{
		"elasticmapreduce:ResourceTag/observatory:project": {platform.Project}, "elasticmapreduce:ResourceTag/observatory:stack": {"test"},
	})
	require.Equal(t, []string{"lake/history", "lake/history/*", "emr-logs", "emr-logs/*"}, listable["ListHistory"])
	require.Equal(t, []string{"spark", "spark/*", "etl/spark", "etl/spark/*"}, listable["ListEventLogs0"])
	require.Equal(t, []string{"", "*"}, listable["ListEventLogs1"])
}

// requireScope requires that histories are those of clusters with these tags. Only the steps of
// any cluster may be listed, which the status page shows.
func requireScope(t *testing.T, statements []statement, tags map[string][]string) {
	t.Helper()
	asked := 0
	for _, s := range statements {
		if !slices.ContainsFunc(s.Resource, func(r string) bool { return strings.HasSuffix(r, ":cluster/*") }) {
			continue
		}
		if slices.Equal(s.Action, []string{"elasticmapreduce:ListSteps"}) {
			require.Empty(t, s.Condition)
			continue
		}
		asked += len(s.Action)
		require.Equal(t, tags, s.Condition["StringEquals"], s.Sid)
	}
	require.Equal(t, 7, asked)
}

func TestProfilerOfTheAccountAsksForNoTags(t *testing.T) {
	profiler := schema.Defaults().Profiler
	profiler.Scope = schema.ScopeAccount
	requireScope(t, policyWith(t, profiler)[len(policyWith(t, schema.Profiler{})):], nil)
}

// The longest list of prefixes that the schema accepts leaves the role's policies within
// what IAM takes of a role: 10,240 characters without white space (IAM User Guide, "IAM and
// AWS STS quotas").
func TestEventLogPrefixesFitThePolicy(t *testing.T) {
	args := validArgs()
	args.Profiler = schema.Defaults().Profiler
	for i := range 10 {
		args.Profiler.EventLogs = append(args.Profiler.EventLogs, fmt.Sprintf("s3://bucket-%d/%s/", i, strings.Repeat("k", 85)))
	}
	require.Len(t, strings.Join(args.Profiler.EventLogs, ""), 1000)
	rec, size := run(t, args), 0
	for _, r := range rec.OfType("aws:iam/rolePolicy:RolePolicy") {
		size += len(strings.Join(strings.Fields(plain(r.Inputs["policy"])), ""))
	}
	require.LessOrEqual(t, size, 10_240)
	for _, tooMuch := range [][]string{append(args.Profiler.EventLogs, "s3://one-more/"), {"s3://long/" + strings.Repeat("k", 990) + "/"}} {
		args.Profiler.EventLogs = tooMuch
		require.ErrorContains(t, args.Validate(), "profiler.eventLogs")
	}
}

// The limits on event logs leave the policy room for what else it holds.
func TestTheMostEventLogsFitIntoThePolicy(t *testing.T) {
	profiler := schema.Defaults().Profiler
	for i := range 10 { // each in a bucket of its own, which is a statement of its own
		profiler.EventLogs = append(profiler.EventLogs, fmt.Sprintf("s3://%s-%d/%s/", strings.Repeat("b", 61), i, strings.Repeat("&", 30)))
	}
	cfg := schema.Defaults()
	cfg.Region, cfg.Profiler = "us-east-1", profiler
	require.NoError(t, cfg.Validate())
	args := validArgs()
	args.Profiler, args.TraceHeadersParameter = profiler, "/"+strings.Repeat("p", 500)
	text := plain(one(t, run(t, args), "aws:iam/rolePolicy:RolePolicy", "control-access").Inputs["policy"])
	require.LessOrEqual(t, utf8.RuneCountInString(strings.Join(strings.Fields(text), "")), platform.MaxRolePolicies)
}
