package run_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/run"
)

var update = flag.Bool("update", false, "write the rendered files")

func TestReferenceIsCurrent(t *testing.T) {
	const at = "../../docs/reference/profiler-options.md"
	if *update {
		require.NoError(t, os.WriteFile(at, run.Reference(), 0o644))
	}
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, string(run.Reference()), string(got), "%s is stale: run `make generate`", at)
}

// given are the flags, variables and file of a command.
type given struct {
	flags     []string
	variables map[string]string
	file      string
}

func (g given) resolve(t *testing.T) (run.Options, error) {
	t.Helper()
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	flags := run.AddFlags(set, run.Table())
	if g.file != "" {
		name := filepath.Join(t.TempDir(), "profiler.yaml")
		require.NoError(t, os.WriteFile(name, []byte(g.file), 0o600))
		g.flags = append(g.flags, "--config", name)
	}
	require.NoError(t, set.Parse(g.flags))
	return flags.Resolve(func(name string) (string, bool) { value, ok := g.variables[name]; return value, ok })
}

func defaults() run.Options {
	return run.Options{
		Timeout: 300 * time.Second, UITimeout: 180 * time.Second, MaxClusters: 5, MaxUIs: 180, EndpointFailures: 3,
		ClusterThreads: 4, AppThreads: 2, BatchSize: 10, BatchDelay: 2 * time.Second, Environment: "dev", Output: "history",
	}
}

func TestDefaults(t *testing.T) {
	o, err := given{}.resolve(t)
	require.NoError(t, err)
	require.Equal(t, defaults(), o)
}

// Every option comes from each of its three places, and each goes before the next.
func TestPrecedence(t *testing.T) {
	values := map[string][3]string{ // different, valid, for flag, variable and file
		"aws_region":          {"us-east-1", "eu-west-1", "cn-north-1"},
		"emr_cluster_arn":     {clusterARN("aws"), clusterARN("aws-cn"), clusterARN("aws-us-gov")},
		"logs":                {"a", "b", "c"},
		"history_server":      {"http://a:1", "https://b", "http://c/shs"},
		"databricks":          {"false", "false", "false"}, // TestVariablesOfAWorkspace has what it takes to switch it on
		"databricks_file":     {"", "", ""},
		"source_name":         {"a", "b", "c"},
		"cluster_states":      {"WAITING", "TERMINATED,RUNNING", "ALL"},
		"cluster_name_filter": {"a", "b", "c"},
		"cluster_tags":        {"a=1", "a=2,b=3", "c=4"},
		"created_after_date":  {"2026-01-01", "2026-01-02", "2026-01-03"},
		"created_before_date": {"2026-01-01", "2026-01-02", "2026-01-03"},
		"include_tasks":       {"true", "false", "true"},
		"compact":             {"true", "false", "true"},
		"environment":         {"dev", "dev", "dev"},
		"s3_output_path":      {"s3://b/1/", "s3://b/2/", "s3://b/3/"},
		"output":              {"a", "b", "c"},
	}
	for _, option := range run.Table() {
		t.Run(option.Name, func(t *testing.T) {
			v, known := values[option.Name]
			if !known {
				v = [3]string{"7", "8", "9"}
			}
			all := given{
				flags: []string{"--" + option.Flag() + "=" + v[0]}, variables: map[string]string{option.Name: v[1]},
				file: option.Name + ": " + v[2],
			}
			for place, of := range []given{all, {variables: all.variables, file: all.file}, {file: all.file}} {
				got, err := of.resolve(t)
				require.NoError(t, err)
				want, err := given{flags: []string{"--" + option.Flag(), v[place]}}.resolve(t)
				if option.Switch { // needs the equals sign
					want, err = given{flags: []string{"--" + option.Flag() + "=" + v[place]}}.resolve(t)
				}
				require.NoError(t, err)
				require.Equal(t, want, got)
				if option.Name != "environment" && v[place] != "false" && v[place] != "ALL" && v[place] != "" {
					require.NotEqual(t, defaults(), got)
				}
			}
		})
	}
}

func clusterARN(partition string) string {
	return "arn:" + partition + ":elasticmapreduce:us-east-1:123456789012:cluster/j-1"
}

func TestAllViolationsAtOnce(t *testing.T) {
	_, err := given{
		flags:     []string{"--max-clusters=many", "--environment", "prod", "--output", "x"},
		variables: map[string]string{"cluster_states": "ALIVE", "batch_size": "0", "emr_cluster_arn": "arn:aws:s3:::bucket", "aws_region": ""},
		file:      "created_after_date: 31.1.2026\nmax_cluster: 3\ninclude_tasks: maybe\nhistory_server: http://u:p@host\nlogs: x\n",
	}.resolve(t)
	require.Error(t, err)
	for _, want := range []string{
		`flag --max-clusters: "many" must be a whole number, 0 or more; `,
		`environment variable cluster_states: "ALIVE" must be ALL or a list of `,
		`environment variable batch_size: "0" must be a whole number, 1 or more; correct it, or omit it to use the default 10`,
		`environment variable emr_cluster_arn: "arn:aws:s3:::bucket" must be the ARN of an EMR cluster`,
		`profiler.yaml: created_after_date: "31.1.2026" must be a date such as 2026-01-31; correct it or omit it`,
		`profiler.yaml: "max_cluster" is not the name of an option; the names are those of the flags, with _ in place of -`,
		`profiler.yaml: include_tasks: "maybe" must be true or false; `,
		`profiler.yaml: history_server: "[hidden]" must be an http:// or https:// URL without user and password; `,
		`profiler.yaml: logs: "x" cannot be combined with history_server and emr_cluster_arn; give one source`,
		`s3_output_path: "" must be set in environment prod; set it to s3://bucket/prefix/`,
	} {
		require.Contains(t, err.Error(), want)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 10, err)
	require.NotContains(t, err.Error(), "u:p")
}

func TestConflicts(t *testing.T) {
	for _, test := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--s3-output-path", "s3://b/k", "--output", "x"}, "cannot be combined with s3_output_path"},
		{[]string{"--created-after-date", "2026-02-01", "--created-before-date", "2026-02-01"}, "must be before created_before_date"},
		{[]string{"--aws-region", "eu-west-1", "--emr-cluster-arn", clusterARN("aws")},
			"must be the region of emr_cluster_arn"},
	} {
		_, err := given{flags: test.flags}.resolve(t)
		require.ErrorContains(t, err, test.want)
	}
}

func TestValues(t *testing.T) {
	o, err := given{
		flags: []string{"--include-tasks", "--emr-cluster-arn", "arn:aws-us-gov:elasticmapreduce:us-gov-west-1:123456789012:cluster/j-1"},
		file:  "cluster_states: [terminated, WAITING]\ncreated_after_date: 2026-01-31\nmax_clusters: 0\ns3_output_path: s3://b/lake/history/\n",
	}.resolve(t)
	require.NoError(t, err)
	want := defaults()
	want.IncludeTasks, want.MaxClusters, want.Output, want.S3OutputPath = true, 0, "", "s3://b/lake/history/"
	want.ClusterARN, want.Region = "arn:aws-us-gov:elasticmapreduce:us-gov-west-1:123456789012:cluster/j-1", "us-gov-west-1"
	want.States = []types.ClusterState{types.ClusterStateTerminated, types.ClusterStateWaiting}
	want.CreatedAfter = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	require.Equal(t, want, o)
}

// The options of serve come from the same places as those of a run.
func TestServeOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profiler.yaml")
	require.NoError(t, os.WriteFile(file, []byte("interval_minutes: 45\n"), 0o600))
	resolve := func(args ...string) (run.Options, error) {
		set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		flags := run.AddFlags(set, append(run.Table(), run.ServeOptions()...))
		require.NoError(t, set.Parse(args))
		return flags.Resolve(func(name string) (string, bool) { return "0.0.0.0:80", name == "listen_address" })
	}
	o, err := resolve("--config", file)
	require.NoError(t, err)
	require.Equal(t, 45*time.Minute, o.Interval)
	require.Equal(t, "0.0.0.0:80", o.Listen)
	_, err = resolve("--interval-minutes", "0", "--listen-address", "4322")
	require.ErrorContains(t, err, `flag --interval-minutes: "0" must be a whole number of minutes, 1 or more; correct it`)
	require.ErrorContains(t, err, `flag --listen-address: "4322" must be host:port; correct it, or omit it to use the default 127.0.0.1:4322`)
	_, err = given{file: "interval_minutes: 45\n"}.resolve(t)
	require.NoError(t, err, "a file may serve both commands")
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for _, file := range []string{"max_clusters: 1\nmax_clusters: 2\n", "- a\n", "a: [\n"} {
		_, err := given{file: file}.resolve(t)
		require.ErrorContains(t, err, "read the options from ")
	}
}
