package schema

import (
	"fmt"
	"regexp"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// maxIdleMinutes are the 604800 s of EMR's AutoTerminationPolicy, whose minimum is
// one minute.
const maxIdleMinutes = 7 * 24 * 60

// Limits of EMR's API (RunJobFlow; Management Guide, "Submit work to a cluster").
const (
	maxStepConcurrency = 256
	maxSteps           = 256
)

// atTaskCompletion is the only scale-down behaviour that EMR supports since emr-5.10.0
// (EMR Management Guide, "Cluster scale-down options").
const atTaskCompletion = "TERMINATE_AT_TASK_COMPLETION"

// continueOnFailure is the only action on failure that EMR accepts of steps that run
// beside others (EMR API, StepConcurrencyLevel).
const continueOnFailure = "CONTINUE"

func lifeRules() map[string]Rule {
	return map[string]Rule{
		"startedBy":       oneOf(StartedByUpdate, StartedBySchedules),
		"idleTimeout":     intRange(0, maxIdleMinutes).with("; EMR takes one minute to seven days, 0 is never", ""),
		"scaleDown":       oneOf(atTaskCompletion, "TERMINATE_AT_INSTANCE_HOUR"),
		"stepConcurrency": intRange(1, maxStepConcurrency),
		"placement":       oneOf("SPREAD").optional().with(", or empty", "remove it"),
		"steps":           textOnly(fmt.Sprintf("must be at most %d steps", maxSteps)),
		"stepAction":      oneOf(continueOnFailure, "CANCEL_AND_WAIT", "TERMINATE_CLUSTER"),
		"stepName":        predicate(isEMRName, fmt.Sprintf("1 to %d characters without < > $ | ` and line breaks", platform.MaxStepName)),
		"jar": pattern(`^(command-runner\.jar|s3[an]?://`+bucketPattern+`/[^\s/](\S*[^\s/])?|file://\S+|/\S+)$`,
			"command-runner.jar, the s3:// URI of an object "+bucketText+", or a path on the primary node, without blanks").ofBucket().
			with("", "use command-runner.jar to start a command such as spark-submit"),
		"stepArgument":   textOnly(fmt.Sprintf("must be at most %d characters together", platform.MaxStepArguments)),
		"mainClass":      pattern(`^[\p{L}_$][\p{L}\p{N}_$]*(\.[\p{L}_$][\p{L}\p{N}_$]*)*$`, "a Java class name").optional(),
		"stepProperties": textOnly("must be properties of one line, without secrets"),
	}
}

// emrName: EMR refuses these characters in names (EMR API, XmlStringMaxLen256, and the
// error "contains invalid characters").
var emrName = regexp.MustCompile("^[^<>$|`\r\n\t]+$")

func isEMRName(s string) bool {
	return emrName.MatchString(s) && len([]rune(s)) <= platform.MaxStepName
}

// Step is work that a cluster does once, after it has started.
type Step struct {
	Name            string            `json:"name" rule:"stepName"`
	ActionOnFailure string            `json:"actionOnFailure" rule:"stepAction"`
	Jar             string            `json:"jar" rule:"jar"`
	Args            []string          `json:"args" rule:"stepArgument"`
	MainClass       string            `json:"mainClass" rule:"mainClass"`
	Properties      map[string]string `json:"properties" rule:"stepProperties"`
}

// Help describes the keys, for documents.
func (Step) Help() map[string]string {
	return map[string]string{
		"name":            "Name in EMR's console.",
		"actionOnFailure": "What a failure of the step does to the others and to the cluster.",
		"jar":             "What runs: command-runner.jar starts the command of its arguments. Nodes may read this object, if it is in S3.",
		"args": "Arguments, such as spark-submit and its own. Nodes may read the programs and libraries in S3 that they name; name data " +
			"in access.s3Read.",
		"mainClass":  "Class to start. Empty: that of the jar's manifest.",
		"properties": "Java properties of the jar.",
	}
}

// SetDefaults sets the values of a command.
func (s *Step) SetDefaults() {
	*s = Step{ActionOnFailure: continueOnFailure, Jar: commandRunner, Args: []string{}, Properties: map[string]string{}}
}

// checkLife checks how the cluster ends.
func (c Cluster) checkLife(l *violation.List, path string, ephemeral bool) {
	l.Require(!ephemeral || !c.TerminationProtection, path+".terminationProtection", c.TerminationProtection,
		"must be false in an ephemeral stack: EMR would refuse to terminate the cluster",
		"set ephemeral or "+path+".terminationProtection to false")
	// EMR takes the other one, and an edit replaces a running cluster: so no refusal.
	l.Warn(c.ScaleDownBehavior == atTaskCompletion || !rules["scaleDown"].Holds(c.ScaleDownBehavior), path+".scaleDownBehavior",
		c.ScaleDownBehavior,
		"should be "+atTaskCompletion+": releases since emr-5.10.0 do not support the other, because EC2 bills by the second",
		"remove it when the cluster is replaced")
	l.Require(c.Placement == "" || c.Masters() == threeMasters, path+".placement", c.Placement,
		"must be empty with one primary node: there is nothing to spread", "remove it, or set "+path+".master.count to 3")
	c.checkStartedBy(l, path)
	if c.KeepAlive {
		return
	}
	l.Require(len(c.Steps) > 0 || c.OfSchedules(), path+".keepAlive", c.KeepAlive, "must be true without steps: the cluster would end at once",
		"add steps, or remove the key")
	l.Require(c.IdleTimeoutMinutes == 0, path+".idleTimeoutMinutes", c.IdleTimeoutMinutes,
		"must be 0 without keepAlive: the cluster ends after its last step, idle or not", "set it to 0")
	l.Warn(!c.TerminationProtection, path+".terminationProtection", c.TerminationProtection,
		"should be false without keepAlive: EMR ends the cluster after its last step all the same, and only a destroy before that fails",
		"remove it, or set keepAlive")
	l.Require(c.Masters() != threeMasters, path+".keepAlive", c.KeepAlive,
		"must be true with three primary nodes: EMR protects them from termination", "remove the key, or set "+path+".master.count to 1")
}

func (c Cluster) checkSteps(l *violation.List, path string) {
	l.Require(len(c.Steps) <= maxSteps, path, len(c.Steps), rules["steps"].Text, "submit the others with `observatory submit`")
	for i, s := range c.Steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		s.check(l, at)
		if s.Jar == commandRunner {
			c.checkCommand(l, at+".args", s.Args)
		}
		l.Require(c.StepConcurrency <= 1 || s.ActionOnFailure == continueOnFailure, at+".actionOnFailure", s.ActionOnFailure,
			"must be "+continueOnFailure+" with a stepConcurrency above 1", "use it, or run one step at a time")
	}
}

func (s Step) check(l *violation.List, path string) {
	checkFields(l, path, s)
	total := 0
	for _, a := range s.Args {
		total += len([]rune(a))
	}
	l.Require(total <= platform.MaxStepArguments, path+".args", total, rules["stepArgument"].Text, "read them from a file")
	l.Require(s.Jar != commandRunner || len(s.Args) > 0, path+".args", s.Args, "must name the command that command-runner.jar starts",
		"begin with spark-submit, for example")
	checkProperties(l, path+".properties", s.Properties)
	l.Require(s.MainClass == "" || s.Jar != commandRunner, path+".mainClass", s.MainClass,
		"must be empty with command-runner.jar, which has its own", "pass --class among the arguments of spark-submit")
}
