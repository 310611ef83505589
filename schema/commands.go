package schema

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// commandRunner starts a command of the primary node as a step.
const commandRunner = "command-runner.jar"

// command is a program that applications put on the primary node.
type command struct {
	names        []string
	applications []string // any of them installs it
}

// commands returns the programs that come with an application, each with those that have
// its component (EMR Release Guide, "Components installed with" each application; "Run
// commands and scripts": tool availability varies with the installed applications).
// Hadoop's own are on every cluster, but for s3-dist-cp.
func commands() []command {
	return []command{
		{[]string{"spark-submit", "spark-shell", "spark-sql", "spark-class", "spark-example", "run-example", "pyspark", "sparkR",
			"spark-beeline"},
			[]string{spark, "Livy", "Zeppelin", "JupyterHub", "JupyterEnterpriseGateway"}},
		{[]string{"hive-script", "hive", "beeline", "schematool"}, []string{"Hive", "HCatalog", "Presto", "Trino"}},
		{[]string{"hcat"}, []string{"HCatalog"}},
		{[]string{"pig-script", "pig"}, []string{"Pig"}},
		{[]string{"hbase"}, []string{"HBase", "Phoenix"}},
		{[]string{"flink", "flink-yarn-session", "flink-scala"}, []string{"Flink"}},
		{[]string{"sqoop"}, []string{"Sqoop"}},
		{[]string{"oozie"}, []string{"Oozie", "Hue"}},
		{[]string{"presto-cli"}, []string{"Presto", "Trino"}},
		{[]string{"trino-cli"}, []string{"Trino"}},
		{[]string{"s3-dist-cp"}, []string{"Hadoop", "Hive", "HCatalog", "Pig", "Oozie", "Hue", "HBase", "Phoenix", "Sqoop", "Tez"}},
	}
}

// checkCommand checks what command-runner.jar starts: it takes a command and each of its
// options as arguments of their own (EMR Release Guide, "Run commands and scripts").
func (c Cluster) checkCommand(l *violation.List, at string, arguments []string) {
	if len(arguments) == 0 {
		return
	}
	first := arguments[0]
	words := strings.Fields(first)
	l.Warn(len(words) <= 1, at+"[0]", first,
		"should be a command alone: command-runner.jar takes each option as an argument of its own, and finds no command with blanks in its name",
		"write ["+strings.Join(quoted(words), ", ")+", …]")
	if len(words) == 0 {
		return
	}
	for _, known := range commands() {
		if slices.Contains(known.names, path.Base(words[0])) {
			l.Require(slices.ContainsFunc(known.applications, func(a string) bool { return slices.Contains(c.Applications, a) }),
				at+"[0]", first, "must be a command that the cluster has: "+path.Base(words[0])+" comes with "+joinOr(known.applications),
				"add "+known.applications[0]+" to applications, or remove the step")
		}
	}
	if strings.HasPrefix(path.Base(words[0]), "spark-") {
		warnOfJoined(l, at, arguments)
	}
}

// warnOfJoined warns of options of Spark that stand in one argument with their values, as
// in "--deploy-mode cluster": Spark takes the whole for the option's name.
func warnOfJoined(l *violation.List, at string, arguments []string) {
	for i, a := range arguments[1:] {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(arguments[i], "-") {
			return // the application, and what follows is its own
		}
		name, _, joined := strings.Cut(a, " ")
		l.Warn(!joined || !strings.HasPrefix(a, "--") || strings.Contains(name, "="), fmt.Sprintf("%s[%d]", at, i+1), a,
			"should be an option alone: Spark takes its value as the next argument", "write "+strings.Join(quoted(strings.Fields(a)), ", "))
	}
}

func quoted(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, `"`+w+`"`)
	}
	return out
}
