package schema

import (
	"fmt"
	"unicode/utf8"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Profiler configures the workload that copies the Spark history of EMR clusters to the
// lake. Options that only interactive runs need exist only as flags of the program.
type Profiler struct {
	Enabled         bool     `json:"enabled"`
	Scope           string   `json:"scope" rule:"profilerScope"`
	IntervalMinutes int      `json:"intervalMinutes" rule:"profilerInterval"`
	MaxClusters     int      `json:"maxClusters" rule:"profilerClusters"`
	ClusterStates   []string `json:"clusterStates" rule:"profilerState"`
	NameFilter      string   `json:"nameFilter" rule:"profilerName"`
	IncludeTasks    bool     `json:"includeTasks"`
	RetentionDays   int      `json:"retentionDays" rule:"historyDays"`
	EventLogs       []string `json:"eventLogs" rule:"eventLogPrefix"`
	ReadableByJobs  bool     `json:"readableByJobs"`
	Athena          bool     `json:"athena"`
	AthenaScanGiB   int      `json:"athenaScanGiB" rule:"athenaScan"`
}

// Help describes the keys, for documents.
func (Profiler) Help() map[string]string {
	return map[string]string{
		"enabled": "Read the Spark history of EMR clusters in this region, and write it as tables to lake/history/. " +
			"False: no workload, and no rights for it; tables that exist stay.",
		"scope": "Whose clusters: those with the stack's tags (" + ScopeStack + "), which are the stack's own and those that others start with " +
			"what `observatory observe print` prints, or every cluster of the account (" + ScopeAccount + ").",
		"intervalMinutes": "Time between the starts of two runs. A run reads what is new, and again what was not final.",
		"maxClusters": "Clusters that one run reads: first those that no run has read, then ended ones; " +
			"a quarter is for running ones. Those whose history is complete do not count.",
		"clusterStates": "States of the clusters that are read.",
		"nameFilter":    "Text that the names of the clusters contain. Empty: any name.",
		"includeTasks":  "Write a row for every task, too: the table tasks may be larger than all others together.",
		"retentionDays": "Days after its start that the rows of an application are kept; 0 for ever.",
		"readableByJobs": "Let the nodes of the stack's clusters, and so every job on them, read lake/history/: names, SQL texts and errors of " +
			"all applications that the profiler reads. They never write it.",
		"athena": "Declare the tables in Glue, create a workgroup of Athena, and output an IAM policy for users who query the history. " +
			"AWS bills queries only.",
		"athenaScanGiB": "What a query may scan before Athena cancels it. AWS bills what is scanned.",
		"eventLogs": "Prefixes in S3 that the workload may read, for clusters whose Spark writes its event logs there " +
			"(spark.eventLog.dir). EMR keeps no history of those. Where a KMS key encrypts the objects, its policy must allow the control " +
			"node's role to decrypt.",
	}
}

// The values of scope.
const (
	ScopeStack   = "stack"
	ScopeAccount = "account"
)

// ClusterTags are the tags without which the history of a cluster is not read. The policy of
// the control node's role has them as a condition. They are empty if every cluster is read, or
// none.
func (p Profiler) ClusterTags(stack string) map[string]string {
	if !p.Enabled || p.Scope == ScopeAccount {
		return map[string]string{}
	}
	return platform.StackTags(stack)
}

// stackUIs leaves room for a second stack in the account, and for people: EMR has no call that
// lists or deletes persistent UIs, so that stacks cannot see each other's.
const stackUIs = 90

// PersistentUIs is how many persistent UIs the workload may have at one time; 0 = as many as
// the program has by default, which leaves room for people alone.
func (p Profiler) PersistentUIs() int {
	if p.Scope == ScopeAccount {
		return 0
	}
	return stackUIs
}

// SetDefaults reads the stack's clusters that may have a history, every hour.
func (p *Profiler) SetDefaults() {
	*p = Profiler{Enabled: true, Scope: ScopeStack, IntervalMinutes: 60, MaxClusters: 50, ClusterStates: clusterStates(),
		EventLogs: []string{}, AthenaScanGiB: 10}
}

// clusterStates are the states in which EMR may have a history of a cluster: before, no
// application has run, and TERMINATING passes within minutes.
func clusterStates() []string {
	return []string{"RUNNING", "WAITING", "TERMINATED", "TERMINATED_WITH_ERRORS"}
}

const (
	// minProfilerMinutes: EMR's history is two minutes late anyway (EMR Management Guide,
	// "View persistent application user interfaces").
	minProfilerMinutes = 5
	maxProfilerMinutes = 24 * 60
	// maxProfilerClusters is EMR's quota of persistent UIs in an account, of which each
	// cluster needs one (same page).
	maxProfilerClusters = 200
	// Each prefix appears three times in the policy of the control node's role, and each
	// bucket in a statement of its own; IAM takes 10,240 characters of a role's own policies
	// (IAM User Guide, "IAM and AWS STS quotas").
	maxEventLogs = 10
	// maxAthenaGiB limits the cost of a typo to some fifty dollars: a query scans a few MiB as a rule.
	maxAthenaGiB      = 10_000
	maxEventLogLength = 1000 // characters of all
)

func profilerRules() map[string]Rule {
	return map[string]Rule{
		"profilerInterval": intRange(minProfilerMinutes, maxProfilerMinutes),
		"profilerClusters": intRange(1, maxProfilerClusters).with(", EMR's quota of persistent UIs", ""),
		"profilerScope":    oneOf(ScopeStack, ScopeAccount),
		"profilerState":    oneOf(clusterStates()...),
		"profilerName":     pattern(`^[^[:cntrl:]]{1,256}$`, "1 to 256 characters of one line").optional(),
		"eventLogPrefix":   s3Prefix(fmt.Sprintf(", with %d characters in all", maxEventLogLength)),
		"athenaScan":       intRange(1, maxAthenaGiB),
		"historyDays":      intRange(0, maxDays).with("; 0 keeps rows forever", ""),
	}
}

// Validate adds the section's violations to l.
func (p Profiler) Validate(l *violation.List, path string) {
	checkFields(l, path, p)
	l.Require(len(p.ClusterStates) > 0, path+".clusterStates", p.ClusterStates, "must not be empty: nothing would be read",
		"name a state, or set "+path+".enabled to false")
	l.Warn(!p.Enabled || p.Scope != ScopeAccount, path+".scope", p.Scope,
		"reads the Spark history of every EMR cluster of the account in this region, whoever started it, for all who may read this stack's lake",
		"leave it out unless they may; of others, the clusters with the stack's tags are then read (`observatory observe print` has them)")
	p.validateEventLogs(l, path+".eventLogs")
}

func (p Profiler) validateEventLogs(l *violation.List, path string) {
	checkPolicyPrefixes(l, path, p.EventLogs)
	total := 0
	for _, prefix := range p.EventLogs {
		total += utf8.RuneCountInString(prefix)
	}
	const remedy = "name prefixes that contain the others"
	l.Require(len(p.EventLogs) <= maxEventLogs, path, len(p.EventLogs), fmt.Sprintf("must be at most %d prefixes", maxEventLogs), remedy)
	l.Require(total <= maxEventLogLength, path, total,
		fmt.Sprintf("must be at most %d characters together: IAM takes 10,240 of a role's own policies", maxEventLogLength), remedy)
}
