package controls_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/tests/controls"
)

var update = flag.Bool("update", false, "write the generated reference")

// maxExceptions is how many exceptions a stack may have. The control nodes of dev and
// local have a public address. A stack in an existing network has five more, because
// the rules about networks find no resources.
func maxExceptions() map[string]int { return map[string]int{"dev": 11, "local": 11, "pr": 15} }

func stackNames() []string { return []string{"dev", "local", "pr"} }

// resources records the program with a stack's configuration.
func resources(t *testing.T, stack string) controls.Resources {
	t.Helper()
	return controls.FromRecording(trial.Record(t, stack))
}

func TestEveryControlIsMetOrExcepted(t *testing.T) {
	for _, stack := range stackNames() {
		t.Run(stack, func(t *testing.T) {
			verdicts := controls.Judge(stack, resources(t, stack))
			require.Empty(t, controls.Unmet(verdicts), "fix the component; an exception needs a mitigation")
			require.Empty(t, controls.Unneeded(stack, verdicts), "the rule is met: remove the exception")
		})
	}
}

// TestFleetsMeetEveryControl judges the dev stack with fleets in place of the groups, for
// which EMR may choose between two subnets.
func TestFleetsMeetEveryControl(t *testing.T) {
	values := trial.Values(t, "dev")
	values[platform.Project+":clusters"] = `{"main": {"subnets": [0, 1], "fleets": {
		"master": {"types": [{}]}, "core": {"types": [{}], "onDemand": 2}, "task": {"types": [{}], "spot": 2}}}}`
	all := controls.FromRecording(trial.Record(t, "dev", recorder.WithConfig(values)))
	require.Len(t, all.OfType("aws:emr/instanceFleet:InstanceFleet"), 1)
	verdicts := controls.Judge("dev", all)
	require.Empty(t, controls.Unmet(verdicts), "fix the component; an exception needs a mitigation")
	require.Empty(t, controls.Unneeded("dev", verdicts), "the rule is met: remove the exception")
}

func TestExceptionsAreFewAndJustified(t *testing.T) {
	rules := map[string]bool{}
	for _, r := range controls.Rules() {
		rules[r.ID()] = true
	}
	for _, e := range controls.Exceptions() {
		require.True(t, rules[e.Rule], "%s is not a rule", e.Rule)
		require.NotEmpty(t, e.Resources, e.Rule)
		require.NotEmpty(t, e.Reason, e.Rule)
		require.NotEmpty(t, e.Mitigation, e.Rule)
		require.Subset(t, stackNames(), e.Stacks, e.Rule)
	}
	for _, stack := range stackNames() {
		require.LessOrEqual(t, len(controls.ExceptionsOf(stack)), maxExceptions()[stack], stack)
	}
}

// TestExceptionsApplyToTheirStacksOnly judges the pr stack with the dev stack's
// exceptions.
func TestExceptionsApplyToTheirStacksOnly(t *testing.T) {
	var rules []string
	for _, f := range controls.Unmet(controls.Judge("dev", resources(t, "pr"))) {
		rules = append(rules, f.Rule)
	}
	require.ElementsMatch(t, []string{"EMR.1", "CKV2_AWS_19", "CKV2_AWS_12", "CKV2_AWS_11", "CKV_AWS_130"}, rules)
}

func TestNoControlIsClaimedTwice(t *testing.T) {
	seen := map[string]string{}
	for _, r := range controls.Rules() {
		require.NotEmpty(t, r.Requires, r.ID())
		for _, id := range r.IDs {
			require.Empty(t, seen[id], "%s is claimed by %s and %s", id, seen[id], r.ID())
			seen[id] = r.ID()
		}
	}
}

func TestReferenceIsGenerated(t *testing.T) {
	var verdicts []controls.StackVerdicts
	for _, stack := range stackNames() {
		verdicts = append(verdicts, controls.StackVerdicts{Stack: stack, Verdicts: controls.Judge(stack, resources(t, stack))})
	}
	got := controls.Reference(verdicts...)
	file := filepath.Join(trial.Root(t), "docs", "reference", "controls.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run `make generate`")
}

// TestEveryKnownControlIsListed requires each known control for EMR, buckets,
// machines and roles to be a rule or inapplicable.
func TestEveryKnownControlIsListed(t *testing.T) {
	known := []string{
		"CKV2_AWS_55", "CKV_AWS_171", "CKV_AWS_349", "CKV_AWS_350", "CKV_AWS_351", "CKV_AWS_114", "CKV_AWS_390",
		"AWS-0137", "AWS-0138", "AWS-0139", "EMR.1", "EMR.2", "EMR.3", "EMR.4", "CT.EMR.PR.1", "CT.EMR.PR.2", "CT.EMR.PR.3", "CT.EMR.PR.4",
		"emr_cluster_account_public_block_enabled", "emr_cluster_master_nodes_no_public_ip", "emr_cluster_publicly_accesible",
		"emr-master-no-public-ip", "emr-block-public-access", "48af92a5-c89b-4936-bc62-1086fe2bab23",
		"CKV_AWS_19", "CKV_AWS_145", "CKV_AWS_21", "CKV_AWS_18", "CKV2_AWS_6", "CKV_AWS_53", "CKV_AWS_54", "CKV_AWS_55", "CKV_AWS_56",
		"CKV2_AWS_61", "CKV_AWS_300", "CKV2_AWS_65", "CKV2_AWS_62", "CKV_AWS_144", "CKV_AWS_70", "CKV_AWS_93", "CKV_AWS_379",
		"S3.2", "S3.3", "S3.5", "S3.8", "S3.9", "S3.13",
		"CKV_AWS_8", "CKV_AWS_46", "CKV_AWS_79", "CKV_AWS_88", "CKV_AWS_126", "CKV_AWS_135", "CKV2_AWS_41", "CKV_AWS_341",
		"CKV_AWS_3", "CKV_AWS_189", "CKV2_AWS_9", "CKV_AWS_23", "AWS-0104", "AWS-0107", "CKV2_AWS_5", "CKV_AWS_7", "CKV_AWS_33",
		"CKV_AWS_60", "CKV_AWS_61", "CKV_AWS_62", "CKV_AWS_63", "CKV_AWS_274", "CKV_AWS_275",
		"CKV_AWS_66", "CKV_AWS_158", "CKV_AWS_338", "CKV_AWS_337", "CKV_AWS_149",
	}
	placed := map[string]bool{}
	for _, r := range controls.Rules() {
		for _, id := range r.IDs {
			placed[id] = true
		}
	}
	for _, n := range controls.Inapplicables() {
		for _, id := range n.IDs {
			require.False(t, placed[id], "%s is both a rule and inapplicable", id)
			placed[id] = true
		}
	}
	for _, id := range known {
		require.True(t, placed[id], id)
	}
}

func TestInapplicableControlsHaveNoResources(t *testing.T) {
	for _, stack := range stackNames() {
		for _, n := range controls.Inapplicables() {
			require.NotEmpty(t, n.Why)
			require.Empty(t, resources(t, stack).OfType(n.Types...), "%v apply now: turn them into rules", n.IDs)
		}
	}
}

// TestAthenaMeetsEveryControl judges the dev stack with the history in Athena, which no stack here has.
func TestAthenaMeetsEveryControl(t *testing.T) {
	values := trial.Values(t, "dev")
	values[platform.Project+":profiler"] = `{"athena": true}`
	all := controls.FromRecording(trial.Record(t, "dev", recorder.WithConfig(values)))
	require.Len(t, all.OfType("aws:glue/catalogTable:CatalogTable"), len(tables.All()))
	require.Empty(t, controls.Unmet(controls.Judge("dev", all)), "fix the component; an exception needs a mitigation")
	require.Empty(t, controls.CheckAllowances(all))
	workgroups := all.OfType("aws:athena/workgroup:Workgroup")
	require.Len(t, workgroups, 1)
	configuration, is := workgroups[0].At("configuration").(map[string]any)
	require.True(t, is)
	require.Equal(t, true, configuration["enforceWorkgroupConfiguration"], "CKV_AWS_82, AWS-0007: clients cannot override it")
	encryption := configuration["resultConfiguration"].(map[string]any)["encryptionConfiguration"]
	require.Equal(t, "SSE_KMS", encryption.(map[string]any)["encryptionOption"], "CKV_AWS_159, AWS-0006")
}

// TestSchedulesMeetEveryControl judges the dev stack with a schedule, whose role, group and queue no other stack
// here has: of its cluster as it is, and as one that each run starts.
func TestSchedulesMeetEveryControl(t *testing.T) {
	values := trial.Values(t, "dev")
	values[platform.Project+":schedules"] = `{"nightly": {"expression": "cron(0 2 * * ? *)", "cluster": "main",
		"steps": [{"name": "load", "args": ["spark-submit", "s3://bucket/load.py"]}]}}`
	t.Run("of a running cluster", func(t *testing.T) { judgeSchedules(t, values) })
	var clusters map[string]map[string]any
	require.NoError(t, json.Unmarshal([]byte(values[platform.Project+":clusters"]), &clusters))
	clusters["reports"] = map[string]any{"startedBy": schema.StartedBySchedules, "keepAlive": false, "idleTimeoutMinutes": 0}
	text, err := json.Marshal(clusters)
	require.NoError(t, err)
	values[platform.Project+":clusters"] = string(text)
	values[platform.Project+":schedules"] = strings.Replace(values[platform.Project+":schedules"], `"main"`, `"reports"`, 1)
	t.Run("of clusters that runs start", func(t *testing.T) { judgeSchedules(t, values) })
}

// withoutReports leaves out what belongs to the cluster reports: it is what cluster main has, under names that neither
// exceptions nor ports nor allowances list.
func withoutReports(all []controls.Finding) []controls.Finding {
	return slices.DeleteFunc(all, func(f controls.Finding) bool { return strings.HasPrefix(f.Resource, "emr-reports-") })
}

// judgeSchedules judges the dev stack with these values, which have one schedule.
func judgeSchedules(t *testing.T, values map[string]string) {
	t.Helper()
	all := controls.FromRecording(trial.Record(t, "dev", recorder.WithConfig(values)))
	require.Len(t, all.OfType("aws:scheduler/schedule:Schedule"), 1)
	verdicts := controls.Judge("dev", all)
	require.Empty(t, withoutReports(controls.Unmet(verdicts)), "fix the component; an exception needs a mitigation")
	require.Empty(t, controls.Unneeded("dev", verdicts), "the rule is met: remove the exception")
	require.Empty(t, withoutReports(controls.CheckAllowances(all)))
	queues := all.OfType("aws:sqs/queue:Queue")
	require.Len(t, queues, 1)
	require.Equal(t, true, queues[0].At("sqsManagedSseEnabled"), "CKV_AWS_27, AWS-0096, SQS.1")
	require.Nil(t, queues[0].At("policy"), "CKV_AWS_168: without a policy nobody outside the account reaches it")
}
