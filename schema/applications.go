package schema

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const (
	presto = "Presto"
	trino  = "Trino"
	hive   = "Hive"
)

func (c Cluster) has(application string) bool { return slices.Contains(c.Applications, application) }

// checkApplications refuses applications that a cluster cannot have beside others, or
// beside what else it is set to.
func (c Cluster) checkApplications(l *violation.List, path string) {
	for i, name := range c.Applications {
		at := pathOf(path+".applications", i)
		// EMR Release Guide, "Considerations with Presto on Amazon EMR".
		l.Require(name != presto && name != trino || !c.has(presto) || !c.has(trino), at, name,
			"must not be beside "+map[string]string{presto: trino, trino: presto}[name]+": EMR installs one of both", "remove one")
		// EMR Management Guide, "Using an auto-termination policy", considerations.
		l.Require(!slices.Contains(outsideYARN(), name) || c.IdleTimeoutMinutes == 0, path+".idleTimeoutMinutes", c.IdleTimeoutMinutes,
			"must be 0 with "+name+": EMR's auto-termination sees no work outside YARN, and ends the cluster in the midst of it",
			"set it to 0, and terminate the cluster yourself")
		c.checkKerberized(l, at, name)
		c.checkGraviton(l, at, name)
	}
}

// checkKerberized requires what an application needs where services ask for tickets (EMR
// Management Guide, "Supported applications" of Kerberos).
func (c Cluster) checkKerberized(l *violation.List, at, name string) {
	if c.Kerberos == nil {
		return
	}
	l.Require(name != presto && name != trino || c.Encryption.InTransit(), at, name,
		"must not be on a cluster with kerberos and without encryption.certificates: its Kerberos needs encryption in transit",
		"set encryption.certificates, or remove it")
	without := []string{"Flink", "Ganglia", "JupyterEnterpriseGateway", "JupyterHub"}
	l.Warn(!slices.Contains(without, name), at, name,
		"should not be on a cluster with kerberos: EMR does not set it up for tickets, so that it may not reach services that ask for them",
		"remove it, or give it tickets in a bootstrap action")
}

// firstOnGraviton names the release from which EMR has an application for Graviton, where
// that is later than others (EMR Release Guide, "TensorFlow").
func firstOnGraviton() map[string]string { return map[string]string{"TensorFlow": "emr-7.5.0"} }

func (c Cluster) checkGraviton(l *violation.List, at, name string) {
	first, late := firstOnGraviton()[name]
	if !late || c.isFrom(first) || !isSupportedRelease(c.ReleaseLabel) {
		return
	}
	for _, g := range c.GroupsAt("") {
		if Arch(g.InstanceType) == platform.ArchARM64 {
			l.Require(false, at, name, "must not be on Graviton, which "+g.InstanceType+" is, before "+first,
				"use "+first+" or later, or another type")
			return
		}
	}
}
