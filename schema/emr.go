package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// EMR describes the cluster.
type EMR struct {
	ReleaseLabel          string            `json:"releaseLabel" rule:"release"`
	Applications          []string          `json:"applications" rule:"application"`
	Architectures         []string          `json:"architectures" rule:"clusterArch"`
	Master                InstanceGroup     `json:"master"`
	Core                  InstanceGroup     `json:"core"`
	Task                  *InstanceGroup    `json:"task"`
	IdleTimeoutMinutes    int               `json:"idleTimeoutMinutes" rule:"idleTimeout"`
	TerminationProtection bool              `json:"terminationProtection"`
	BlockPublicAccess     bool              `json:"blockPublicAccess"`
	SparkDefaults         map[string]string `json:"sparkDefaults" rule:"sparkDefaults"`
}

// Help describes the keys, for documents.
func (EMR) Help() map[string]string {
	return map[string]string{
		"releaseLabel": "EMR release.",
		"applications": "EMR applications to install, Spark among them.",
		"architectures": "Processor architectures whose nodes find their artifacts in the data bucket: of this cluster, and of" +
			" others that use the stack's bootstrap action.",
		"master":                "Primary node or nodes.",
		"core":                  "Core nodes: YARN and HDFS.",
		"task":                  "Task nodes: YARN only. Left out: none.",
		"idleTimeoutMinutes":    "Minutes without work after which EMR terminates the cluster; 0 for never.",
		"terminationProtection": "Refuse to terminate the cluster, by API or by destroy.",
		"blockPublicAccess": "Make EMR refuse clusters with public security groups, on every port, in the whole account and region. " +
			"Removing the key, or the stack, leaves the account as it is. False: the account's own setting is left alone.",
		"sparkDefaults": "Entries of spark-defaults, merged key by key over the platform's.",
	}
}

// SetDefaults sets the values of a small cluster.
func (e *EMR) SetDefaults() {
	*e = EMR{
		ReleaseLabel:       "emr-7.10.0",
		Applications:       []string{"Hadoop", spark},
		Architectures:      platform.Architectures(),
		IdleTimeoutMinutes: 60,
		SparkDefaults:      map[string]string{},
	}
	e.Master.SetDefaults()
	e.Core.SetDefaults()
	e.Core.Count = 2
}

const spark = "Spark"

// maxIdleMinutes are the 604800 s of EMR's AutoTerminationPolicy, whose minimum is
// one minute.
const maxIdleMinutes = 7 * 24 * 60

// Keys of spark-defaults that load the platform's agent. EMR merges by key and
// appends to no value: a user's value would replace the agent's.
const (
	SparkDriverAgentKey   = "spark.driver.defaultJavaOptions"
	SparkExecutorAgentKey = "spark.executor.defaultJavaOptions"
)

// agentKeys returns the Spark properties that load the launcher's agent.
func agentKeys() []string { return []string{SparkDriverAgentKey, SparkExecutorAgentKey} }

var (
	sparkKey = regexp.MustCompile(`^spark\.[^\s=]+$`)
	// secretKey matches names of properties with secrets (cf. spark.redaction.regex).
	secretKey = regexp.MustCompile(`(?i)(secret|password|passwd|token|(secret|access|api)[.-]?key)$`)
)

func emrRules() map[string]Rule {
	release := predicate(isSupportedRelease, "emr-X.Y.Z, "+strings.TrimPrefix(oldestRelease().label(), "emr-")+" or later")
	release.Pattern = releaseLabel
	names := oneOf(applicationNames()...)
	names.Text = "must be an EMR application of the release"
	return map[string]Rule{
		"release":     release,
		"application": names.with("", "known: "+strings.Join(applicationNames(), ", ")),
		"clusterArch": oneOf(platform.Architectures()...).with(", that of each group's instance type among them", ""),
		"idleTimeout": intRange(0, maxIdleMinutes).with("; EMR takes one minute to seven days, 0 is never", ""),
		"sparkDefaults": textOnly("must be spark.* properties of one line, without secrets and without " +
			strings.Join(agentKeys(), " and ") + ", which carry the observatory's agent"),
	}
}

// Validate adds the cluster's violations to l.
func (e EMR) Validate(l *violation.List, path string, ephemeral bool) {
	checkFields(l, path, e)
	l.Require(slices.Contains(e.Applications, spark), path+".applications", e.Applications, "must contain "+spark, "add it")
	e.checkReleases(l, path+".applications")
	e.checkArchitectures(l, path+".architectures")
	l.Require(!ephemeral || !e.TerminationProtection, path+".terminationProtection", e.TerminationProtection,
		"must be false in an ephemeral stack: EMR would refuse to terminate the cluster", "set ephemeral or emr.terminationProtection to false")
	e.checkMaster(l, path+".master", ephemeral)
	e.Core.Validate(l, path+".core")
	if e.Task != nil {
		e.Task.Validate(l, path+".task")
		e.Task.checkTask(l, path+".task")
	}
	e.checkSparkDefaults(l, path+".sparkDefaults")
}

// Groups returns the instance groups that exist.
func (e EMR) Groups() []InstanceGroup {
	groups := []InstanceGroup{e.Master, e.Core}
	if e.Task != nil {
		groups = append(groups, *e.Task)
	}
	return groups
}

func (e EMR) checkReleases(l *violation.List, path string) {
	for i, name := range e.Applications {
		a, known := applicationNamed(name)
		if !known || !isSupportedRelease(e.ReleaseLabel) {
			continue
		}
		l.Require(a.isIncludedIn(e.ReleaseLabel), fmt.Sprintf("%s[%d]", path, i), name, "must be an application of "+e.ReleaseLabel+": "+a.span(),
			"remove it, or choose another release")
	}
}

// checkArchitectures requires that the data bucket has artifacts for the nodes of
// each group.
func (e EMR) checkArchitectures(l *violation.List, path string) {
	for _, g := range e.Groups() {
		if arch := Arch(g.InstanceType); !slices.Contains(e.Architectures, arch) {
			l.Require(false, path, e.Architectures, rules["clusterArch"].Text, "add "+arch+", which "+g.InstanceType+" has")
			return
		}
	}
}

func (e EMR) checkMaster(l *violation.List, path string, ephemeral bool) {
	checkFields(l, path, e.Master)
	e.Master.checkVolumes(l, path)
	l.Require(slices.Contains(masterCounts(), e.Master.Count), path+".count", e.Master.Count, rules["count"].Text, "")
	l.Require(e.Master.BidPrice == "" || ephemeral, path+".bidPrice", e.Master.BidPrice,
		"must be empty unless the stack is ephemeral: losing the primary node loses the cluster", "run the primary node on demand")
}

func (e EMR) checkSparkDefaults(l *violation.List, path string) {
	rule := rules["sparkDefaults"].Text
	for _, k := range slices.Sorted(maps.Keys(e.SparkDefaults)) {
		v, at := e.SparkDefaults[k], path+"."+k
		switch {
		case secretKey.MatchString(k):
			// DescribeCluster shows the value to anyone, and its masked form
			// replaces the cluster at each update.
			l.Require(false, at, violation.Hidden, rule, "read it from Secrets Manager in the job")
		case k == platform.SparkSamplingRatio:
			l.Require(false, at, v, "must not be set here: steps would have another ratio", "set tracing.samplingRatio")
		case slices.Contains(agentKeys(), k):
			l.Require(false, at, v, rule, "use "+strings.Replace(k, "default", "extra", 1)+", which Spark adds to it")
		default:
			l.Require(sparkKey.MatchString(k), at, v, rule, "write the property's full name, e.g. spark.executor.memory")
			l.Require(!strings.ContainsAny(v, "\r\n"), at, v, rule, "remove the line break")
		}
	}
}
