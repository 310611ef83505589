package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Cluster describes one EMR cluster.
type Cluster struct {
	ReleaseLabel          string            `json:"releaseLabel" rule:"release"`
	Applications          []string          `json:"applications" rule:"application"`
	Master                InstanceGroup     `json:"master"`
	Core                  InstanceGroup     `json:"core"`
	Task                  *InstanceGroup    `json:"task"`
	IdleTimeoutMinutes    int               `json:"idleTimeoutMinutes" rule:"idleTimeout"`
	TerminationProtection bool              `json:"terminationProtection"`
	SparkDefaults         map[string]string `json:"sparkDefaults" rule:"sparkDefaults"`
}

// Help describes the keys, for documents.
func (Cluster) Help() map[string]string {
	return map[string]string{
		"releaseLabel":          "EMR release.",
		"applications":          "EMR applications to install, Spark among them.",
		"master":                "Primary node or nodes.",
		"core":                  "Core nodes: YARN and HDFS.",
		"task":                  "Task nodes: YARN only. Left out: none.",
		"idleTimeoutMinutes":    "Minutes without work after which EMR terminates the cluster; 0 for never.",
		"terminationProtection": "Refuse to terminate the cluster, by API or by destroy.",
		"sparkDefaults":         "Entries of spark-defaults, merged key by key over the platform's.",
	}
}

// SetDefaults sets the values of a small cluster.
func (c *Cluster) SetDefaults() {
	*c = Cluster{
		ReleaseLabel:       "emr-7.10.0",
		Applications:       []string{"Hadoop", spark},
		IdleTimeoutMinutes: 60,
		SparkDefaults:      map[string]string{},
	}
	c.Master.SetDefaults()
	c.Core.SetDefaults()
	c.Core.Count = 2
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

func clusterRules() map[string]Rule {
	names := oneOf(applicationNames()...)
	names.Text = "must be an EMR application of the release"
	return map[string]Rule{
		"release":     releaseRule(),
		"application": names.with("", "known: "+strings.Join(applicationNames(), ", ")),
		"idleTimeout": intRange(0, maxIdleMinutes).with("; EMR takes one minute to seven days, 0 is never", ""),
		"sparkDefaults": textOnly("must be spark.* properties of one line, without secrets and without " +
			strings.Join(agentKeys(), " and ") + ", which carry the observatory's agent"),
	}
}

// Validate adds the cluster's violations to l. path is the cluster's own, such as
// clusters.etl.
func (c Cluster) Validate(l *violation.List, path string, ephemeral bool) {
	checkFields(l, path, c)
	l.Require(slices.Contains(c.Applications, spark), path+".applications", c.Applications, "must contain "+spark, "add it")
	c.checkFacts(l, path, time.Now())
	l.Require(!ephemeral || !c.TerminationProtection, path+".terminationProtection", c.TerminationProtection,
		"must be false in an ephemeral stack: EMR would refuse to terminate the cluster",
		"set ephemeral or "+path+".terminationProtection to false")
	c.checkMaster(l, path+".master", ephemeral)
	c.Core.Validate(l, path+".core")
	if c.Task != nil {
		c.Task.Validate(l, path+".task")
		c.Task.checkTask(l, path+".task")
	}
	c.checkSparkDefaults(l, path+".sparkDefaults")
}

// Groups returns the instance groups that exist.
func (c Cluster) Groups() []InstanceGroup {
	groups := []InstanceGroup{c.Master, c.Core}
	if c.Task != nil {
		groups = append(groups, *c.Task)
	}
	return groups
}

func (c Cluster) checkMaster(l *violation.List, path string, ephemeral bool) {
	checkFields(l, path, c.Master)
	c.Master.checkVolumes(l, path)
	l.Require(slices.Contains(masterCounts(), c.Master.Count), path+".count", c.Master.Count, rules["count"].Text, "")
	l.Require(c.Master.BidPrice == "" || ephemeral, path+".bidPrice", c.Master.BidPrice,
		"must be empty unless the stack is ephemeral: losing the primary node loses the cluster", "run the primary node on demand")
}

func (c Cluster) checkSparkDefaults(l *violation.List, path string) {
	rule := rules["sparkDefaults"].Text
	for _, k := range slices.Sorted(maps.Keys(c.SparkDefaults)) {
		v, at := c.SparkDefaults[k], path+"."+k
		switch {
		case secretKey.MatchString(k): // checkFacts refuses it
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
