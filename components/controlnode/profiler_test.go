package controlnode_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/source"
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

func policyWith(t *testing.T, profiler bool) []statement {
	t.Helper()
	args := validArgs()
	args.Profiler = profiler
	var policy struct{ Statement []statement }
	text := plain(one(t, run(t, args), "aws:iam/rolePolicy:RolePolicy", "control-access").Inputs["policy"])
	require.NoError(t, json.Unmarshal([]byte(text), &policy))
	return policy.Statement
}

// The profiler may make the calls that it makes, each where it makes it, and nothing else
// is allowed for its sake. Event logs in other buckets are for people with own rights.
func TestProfilerMayMakeItsCallsAndNoOthers(t *testing.T) {
	const emr = "arn:aws:elasticmapreduce:us-east-1:123456789012:"
	resources := map[source.Target][]string{
		source.AnyCluster:   {"*"},
		source.EachCluster:  {emr + "cluster/*"},
		source.PersistentUI: {emr + "cluster/*", emr + "persistent-app-ui/*"},
		source.Lake:         {bucketARN + "/" + string(platform.PrefixHistory) + "*"},
		source.StepLogs:     {bucketARN + "/" + string(platform.PrefixEMRLogs) + "*"},
	}
	all, without := policyWith(t, true), policyWith(t, false)
	made := map[string]bool{}
	for call, actions := range source.Calls() {
		if call.Target == source.EventLogs {
			continue
		}
		require.Contains(t, resources, call.Target, call.Operation)
		for _, action := range actions {
			on := resources[call.Target]
			if action == "s3:ListBucket" {
				on = []string{bucketARN}
			}
			for _, resource := range on {
				made[action+" "+resource] = true
				require.True(t, slices.ContainsFunc(all, func(s statement) bool { return s.allows(action, resource) }), "%s on %s", action, resource)
			}
		}
	}
	own := all[len(without):]
	require.Equal(t, without, all[:len(without)])
	require.NotEmpty(t, own)
	for _, s := range own {
		for _, action := range s.Action {
			for _, resource := range s.Resource {
				require.True(t, made[action+" "+resource], "%s: %s on %s is no call of the profiler", s.Sid, action, resource)
			}
		}
		if s.Sid == "ListHistory" {
			require.Equal(t, []string{"lake/history", "lake/history/*", "emr-logs", "emr-logs/*"}, s.Condition["StringLike"]["s3:prefix"])
		}
	}
}
