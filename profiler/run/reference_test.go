package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// Reference renders docs/reference/profiler-options.md.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(`# Options of the profiler

Rendered from profiler/run; edit the table there and run ` + "`make generate`" + `.

` + "`run`, `serve` and `tools`" + ` take each option as a flag, as an environment variable, or from a YAML file
(` + "`--config FILE`" + `) whose keys are the names of the variables. ` + only("serve", ServeOptions()) + `
` + only("tools", ToolOptions()) + `
` + only("ddl", CatalogOptions()) + `
` + "`judge`, `expire`, `delete`, `compact` and `ddl`" + ` have flags for the options that say where the tables are. A flag overrides
a variable, which overrides the file, which overrides the default. An empty variable counts as not set. All violations are reported at once.

| Variable, key | Flag | Default | Meaning | Rule |
|---|---|---|---|---|
`)
	for _, o := range slices.Concat(Table(), ServeOptions(), ToolOptions(), CatalogOptions()) {
		standard := ""
		if o.Default != "" {
			standard = "`" + o.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `--%s` | %s | %s | %s |\n", o.Name, o.Flag(), standard, o.Doc, o.Rule)
	}
	b.WriteString(permissions())
	fmt.Fprintf(&b, `
| Exit code | Meaning |
|---|---|
| %d | Everything that the sources still have is in the tables. Rows that a source has lost are in `+"`completeness`"+`. |
| %d | The run failed: clusters could not be listed, or the tables could not be read or written. |
| %d | The options or arguments are wrong. |
| %d | Something is missing: a cluster or an application could not be read, a limit left some out, or the run was interrupted. |

A cluster without a history for a reason that cannot change (release, primary nodes, upload policy, age) is named by the first
run after its end. From then on, only its row in `+"`cluster_summaries`"+` has the reason.
`, ExitComplete, ExitFailed, ExitUsage, ExitIncomplete)
	return []byte(b.String())
}

// only says which options a command alone has.
func only(command string, options []Option) string {
	var names []string
	for _, o := range options {
		names = append(names, "`"+o.Name+"`")
	}
	last := len(names) - 1
	return fmt.Sprintf("%s and %s are for `%s` only.", strings.Join(names[:last], ", "), names[last], command)
}

// permissions renders what a run may call in AWS.
func permissions() string {
	byTarget := map[source.Target]map[string]bool{}
	for call, actions := range source.Calls() {
		if byTarget[call.Target] == nil {
			byTarget[call.Target] = map[string]bool{}
		}
		for _, action := range actions {
			byTarget[call.Target][action] = true
		}
	}
	var b strings.Builder
	b.WriteString("\n| AWS permissions | On | For |\n|---|---|---|\n")
	for _, t := range targets {
		var actions []string
		for _, action := range slices.Sorted(maps.Keys(byTarget[t.target])) {
			actions = append(actions, "`"+action+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(actions, ", "), t.resource, t.use)
	}
	return b.String() + "\nTables and logs in a bucket with a KMS key also need `kms:Decrypt` and, for the tables, `kms:GenerateDataKey`\n" +
		"on it. Only clusters with runtime roles need `elasticmapreduce:AccessAllEventLogs`, for applications of all roles.\n"
}

// targets are what calls read or write.
var targets = []struct {
	target   source.Target
	resource string // in IAM's terms
	use      string // when a run needs it
}{
	{source.AnyCluster, "`*`", "finding clusters; not with `emr_cluster_arn`"},
	{source.EachCluster, "`arn:aws:elasticmapreduce:REGION:ACCOUNT:cluster/*`", "EMR clusters"},
	{source.PersistentUI, "`arn:aws:elasticmapreduce:REGION:ACCOUNT:persistent-app-ui/*`, and the clusters", "EMR clusters"},
	{source.StepLogs, "the log URIs of the clusters, and their buckets",
		"steps whose application EMR does not name, and what YARN accounted to applications"},
	{source.EventLogs, "the folder of event logs, and its bucket", "`logs`, or clusters whose `spark.eventLog.dir` is in S3"},
	{source.Lake, "`s3_output_path`, and its bucket", "tables in S3; reading them needs no `s3:PutObject` and `s3:DeleteObject`"},
}
