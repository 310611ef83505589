package schema

import (
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const (
	presto = "Presto"
	trino  = "Trino"
	hive   = "Hive"
)

func (c Cluster) has(application string) bool { return slices.Contains(c.Applications, application) }

// restriction is what EMR says of applications on some clusters.
type restriction struct {
	applications []string
	// on reports whether a cluster is one of them, and what of it makes it so, for the rule.
	on    func(Cluster) (string, bool)
	until string // release from which it no longer holds; "": it holds in all
	// key is what the violation is of, and its value; the application's own entry if there is none.
	key    string
	value  func(Cluster) any
	warned bool   // and not refused
	rule   string // with {application}, {what} of the cluster, and {until}
	remedy string // with {until}
	source string // page of AWS's documentation
}

// restrictions are all that EMR says of applications beside others, and beside what else a cluster is set to.
// checkMetastore has those about databases, which are settings of the applications themselves.
func restrictions() []restriction {
	const kerberosGuide = `EMR Management Guide, "Supported applications" of Kerberos`
	const oneOfBoth = "must not be beside {what}: EMR installs one of both"
	return []restriction{
		{
			applications: []string{presto}, on: beside(trino), rule: oneOfBoth, remedy: "remove one",
			source: `EMR Release Guide, "Considerations with Presto on Amazon EMR"`,
		},
		{
			applications: []string{trino}, on: beside(presto), rule: oneOfBoth, remedy: "remove one",
			source: `EMR Release Guide, "Considerations with Presto on Amazon EMR"`,
		},
		{
			applications: outsideYARN(), on: when(func(c Cluster) bool { return c.IdleTimeoutMinutes > 0 }),
			key: "idleTimeoutMinutes", value: func(c Cluster) any { return c.IdleTimeoutMinutes },
			rule:   "must be 0 with {application}: EMR's auto-termination sees no work outside YARN, and ends the cluster in the midst of it",
			remedy: "set it to 0, and terminate the cluster yourself",
			source: `EMR Management Guide, "Using an auto-termination policy", considerations`,
		},
		{
			applications: outsideYARN(), on: when(func(c Cluster) bool { return c.ManagedScaling != nil }),
			rule: "must run on YARN with managedScaling, which sees nothing else", remedy: "remove it, or the key managedScaling",
			source: `EMR Management Guide, "Using managed scaling"`,
		},
		{
			applications: []string{presto, trino}, on: when(func(c Cluster) bool { return c.Kerberos != nil && !c.Encryption.InTransit() }),
			rule:   "must not be on a cluster with kerberos and without encryption.certificates: its Kerberos needs encryption in transit",
			remedy: "set encryption.certificates, or remove it", source: kerberosGuide,
		},
		{
			applications: []string{"Flink", "Ganglia", "JupyterEnterpriseGateway", "JupyterHub"}, warned: true,
			on: when(func(c Cluster) bool { return c.Kerberos != nil }),
			rule: "should not be on a cluster with kerberos: EMR does not set it up for tickets, so that it may not reach services that " +
				"ask for them",
			remedy: "remove it, or give it tickets in a bootstrap action", source: kerberosGuide,
		},
		{
			applications: []string{"TensorFlow"}, until: "emr-7.5.0", on: onGraviton,
			rule:   "must not be on Graviton, which {what} is, before {until}",
			remedy: "use {until} or later, or another type", source: `EMR Release Guide, "TensorFlow"`,
		},
		{
			applications: []string{"AmazonCloudWatchAgent"}, until: "emr-7.6.0",
			on:  when(func(c Cluster) bool { return c.RuntimeRoles.Enabled() }),
			key: "runtimeRoles.arns", value: func(c Cluster) any { return c.RuntimeRoles.ARNs },
			rule:   "must be empty with {application} before {until}: EMR does not install both",
			remedy: "remove one of them, or use {until} or later",
			source: `EMR Management Guide, "Runtime roles for Amazon EMR steps", considerations`,
		},
	}
}

// outsideYARN returns the applications whose work is not YARN's. Phoenix is a part of HBase.
func outsideYARN() []string { return []string{"HBase", "Phoenix", presto, trino} }

func beside(other string) func(Cluster) (string, bool) {
	return func(c Cluster) (string, bool) { return other, c.has(other) }
}

func when(holds func(Cluster) bool) func(Cluster) (string, bool) {
	return func(c Cluster) (string, bool) { return "", holds(c) }
}

// onGraviton returns the first instance type of the cluster that is Graviton's.
func onGraviton(c Cluster) (string, bool) {
	for _, g := range c.GroupsAt("") {
		if Arch(g.InstanceType) == platform.ArchARM64 {
			return g.InstanceType, true
		}
	}
	return "", false
}

// checkApplications refuses applications that a cluster cannot have beside others, or
// beside what else it is set to. Of releases that nobody knows it says nothing.
func (c Cluster) checkApplications(l *violation.List, path string) {
	for _, r := range restrictions() {
		what, on := r.on(c)
		if !on || r.until != "" && (c.isFrom(r.until) || !isSupportedRelease(c.ReleaseLabel)) {
			continue
		}
		for i, name := range c.Applications {
			if !slices.Contains(r.applications, name) {
				continue
			}
			at, value := pathOf(path+".applications", i), any(name)
			if r.key != "" {
				at, value = path+"."+r.key, r.value(c)
			}
			text := strings.NewReplacer("{application}", name, "{what}", what, "{until}", r.until)
			rule, remedy := text.Replace(r.rule)+" ("+r.source+")", text.Replace(r.remedy)
			if r.warned {
				l.Warn(false, at, value, rule, remedy)
			} else {
				l.Require(false, at, value, rule, remedy)
			}
		}
	}
}
