package lessons_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the reference anew")

// lesson is a defect seen elsewhere.
type lesson struct {
	defect string
	here   string   // what makes it impossible, or how it would show
	tests  []string // folder and function
}

const life = "cmd/observatory TestLife"

func lessons() []lesson {
	return []lesson{
		{"The relay names every host after itself, so all nodes' series collide.", "Labels are stamped on the node; the relay only relays.", []string{"assets/workloads TestRelayPipelinesOnlyRelay", life}},
		{"Dashboards filter by a role that no collector sends.", "Queries are built from the table of emitted metrics and run against a real job's data.", []string{"dashboards TestMetricsQueriesKeepTheContract", life}},
		{"The status page names a bucket and prefix that the server does not use.", "One value feeds servers, outputs and /status; objects must appear under each path.", []string{"components/workloads TestStatusReadsItsOwnConfiguration", life}},
		{"A storage prefix is given up for a fault of its configuration.", "The real binaries read the files as they are; blocks are read back from their prefixes.", []string{"assets/workloads TestServersAcceptTheirFiles", life}},
		{"A job's own profile name loses to a system property.", "A job's settings win over the launcher's.", []string{"assets/node TestLauncherOnRealJVMs"}},
		{"Executors have no host label, since spark-env does not reach them.", "The launcher reads the node's facts, in whatever way a JVM was started.", []string{"assets/node TestLauncherOnRealJVMs", life}},
		{"Drivers and application masters are left out, depending on deploy mode.", "The launcher finds a driver's application in client and cluster mode.", []string{"assets/node TestLauncherOnRealJVMs", "assets/node TestLauncherWaitsForTheDriversApplicationID"}},
		{"A job that sets extraJavaOptions loses the agents.", "The agent is in defaultJavaOptions, which Spark puts before them; configuration may not take it away.", []string{"components/emr TestConfigurations", "components/emr TestAgentMayBeLeftOutOnlyWhereAllowed"}},
		{"A failed download ends the bootstrap action, or the JVMs that want the missing jar.", "Artifacts come from the stack's own bucket with their sha256; each part may fail alone and says so.", []string{"assets/node TestBootstrapRunsOnWithoutAPart", life}},
		{"What is measured while the control node is away is lost.", "Queues on disk on both sides, without an end to retries.", []string{"assets/node TestCollectorQueuesOnDiskWhileControlIsAway", "assets/workloads TestNothingIsLostWhileAStoreIsDown", "cmd/observatory TestOutagesLoseNothing"}},
		{"Servers run as latest, and other versions are tested than run.", "One list of images; the local cloud builds the same versions.", []string{"platform TestImagesArePinned", "localcloud/servers TestEveryImageHasAServerOfItsVersion"}},
		{"Nothing is known of YARN, HDFS and Spark themselves.", "Daemon metrics, JVM metrics and container, daemon and step logs, each against the real thing.", []string{"dashboards/contract TestDaemonsReallyAnswerThis", "assets/node TestEveryMetricOfTheJVMArrives", "assets/node TestCollectorReadsLogs", life}},
		{"Signals of one host carry different labels, so links lead nowhere.", "The same labels on metrics, logs, spans and profiles.", []string{"dashboards TestLinksLeadSomewhere", "assets/node TestLogsOfAnExecutorArrive", life}},
		{"Command lines, process ids and random instance ids become labels.", "A list of labels that may be there; series per host are counted.", []string{"assets/node TestEveryMetricOfTheJVMArrives", "assets/workloads TestSignalsReachTheirStores", life}},
		{"Two parts make the same span metrics, which count twice.", "It cannot occur: Tempo has no metrics generator and the collectors no connector.", []string{"assets/workloads TestRelayPipelinesOnlyRelay"}},
		{"Panels divide used by free, show one file system, or mix executors.", "Queries keep the contract's units and labels; a share above the whole is a fault of its query; panels by host show each host.", []string{"dashboards/check TestAgainstRealStores", "dashboards TestCountersAreNeverReadRaw", "dashboards TestMetricsQueriesKeepTheContract", life}},
		{"Open ports, wildcards in policies, an anonymous administrator.", "Every rule and policy is listed; scanners' controls are tests.", []string{"components/network TestInboundIsExactlyThis", "components/emr TestNodePolicyIsBoundToPrefixes", "assets/workloads TestGrafanaLetsNobodyInByDefault", "stacks/controls TestEveryControlIsMetOrExcepted"}},
		{"A restart loses the profiler's unflushed data, and blocks expire with the bucket.", "Volumes for what is not in S3 yet; no lifecycle rule takes blocks; blocks are read back.", []string{"components/workloads TestMountsAreVolumesAndFilesAreThere", "components/storage TestNoValidRuleTakesBlocks", life}},
		{"A list of workloads to restart names some that do not exist.", "A hash of its configuration in each pod's template.", []string{"components/workloads TestAnEditRestartsOnlyWhoReadsIt", "stacks/changes TestOneWorkloadRestarts", life}},
		{"Constants for log paths and poll intervals drift from the parts that use them.", "Paths come from one package; what EMR pushed is looked for under them.", []string{"assets/workloads TestCloudWatchIsAskedOnlyForTheStacksOwn", life}},
	}
}

const reference = "../../docs/reference/lessons.md"

func TestEveryLessonHasItsTest(t *testing.T) {
	require.Len(t, lessons(), 20)
	var page strings.Builder
	page.WriteString("# Lessons\n\nWhat platforms of this kind got wrong before, and what would catch it here. Generated by `make generate`.\n\n| | defect | here | tests |\n|---|---|---|---|\n")
	for i, l := range lessons() {
		require.NotEmptyf(t, l.tests, "lesson %d", i+1)
		var tests []string
		for _, name := range l.tests {
			folder, function, ok := strings.Cut(name, " ")
			require.True(t, ok, name)
			require.Truef(t, hasTest(t, folder, function), "lesson %d: %s has no test %s", i+1, folder, function)
			tests = append(tests, "`"+name+"`")
		}
		fmt.Fprintf(&page, "| %d | %s | %s | %s |\n", i+1, l.defect, l.here, strings.Join(tests, ", "))
	}
	if *update {
		require.NoError(t, os.WriteFile(reference, []byte(page.String()), 0o600))
	}
	have, err := os.ReadFile(reference)
	require.NoError(t, err)
	require.Equal(t, page.String(), string(have), "run `make generate`")
}

func hasTest(t *testing.T, folder, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == function {
				return true
			}
		}
	}
	return false
}
