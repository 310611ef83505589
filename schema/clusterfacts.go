package schema

import (
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkFacts checks a cluster by what AWS and the applications say about themselves:
// its release on a day, its instance types, and the properties that it sets.
func (c Cluster) checkFacts(l *violation.List, path string, now time.Time) {
	checkSupport(l, path+".releaseLabel", c.ReleaseLabel, now)
	for i, name := range c.Applications {
		checkApplication(l, fmt.Sprintf("%s.applications[%d]", path, i), name, c.ReleaseLabel)
	}
	for _, g := range c.GroupsAt(path) {
		checkInstanceType(l, g.Path+".instanceType", g.InstanceType, c.ReleaseLabel)
		checkVolumeLimits(l, g.Path+".ebs", g.InstanceType, g.EBS)
		checkEBSOptimized(l, g)
		checkSettings(l, settingsOf(g.Configurations, g.Path+".configurations"))
		checkClassificationNames(l, g.Path+".configurations", g.Configurations)
	}
	checkClassificationNames(l, path+".configurations", c.Configurations)
	s, on := c.settings(path), c.machines()
	checkSettings(l, s)
	checkSparkContext(l, s, c.Encryption.InTransit())
	checkExecutors(l, s, on)
	checkApplicationMasters(l, s, on)
	c.checkNodeLabels(l, path, s)
	c.checkReplication(l, path, s)
	c.checkPrograms(l, path)
	for i, step := range c.Steps {
		c.checkSubmitted(l, pathOf(path+".steps", i)+".args", step.Args, s, on)
	}
}

// checkPrograms looks for secrets, and for names of buckets, in what runs on nodes.
func (c Cluster) checkPrograms(l *violation.List, path string) {
	for i, step := range c.Steps {
		step.checkProgram(l, pathOf(path+".steps", i))
	}
	for i, action := range c.BootstrapActions {
		at := pathOf(path+".bootstrapActions", i)
		requireNoSecret(l, !holdsSecret(action.Path), at+".path")
		checkArguments(l, at+".args", action.Args)
	}
}

func (s Step) checkProgram(l *violation.List, at string) {
	requireNoSecret(l, !holdsSecret(s.Jar), at+".jar")
	checkArguments(l, at+".args", s.Args)
	properties := newSettings("", at+".properties", s.Properties)
	checkSecretProperties(l, properties)
	checkPropertyBuckets(l, properties)
}

func checkArguments(l *violation.List, at string, words []string) {
	checkSecretArguments(l, at, words)
	for i, a := range words {
		checkBuckets(l, pathOf(at, i), a)
	}
}

func checkPropertyBuckets(l *violation.List, s settings) {
	s.each(func(_, _ string, v setting) { checkBuckets(l, v.path, v.value) })
}

func checkSettings(l *violation.List, s settings) {
	checkSecretProperties(l, s)
	checkPropertyNames(l, s)
	checkPropertyBuckets(l, s)
	checkSparkValues(l, s)
	checkYARN(l, s)
	checkDecommissioning(l, s)
}

// settingsOf returns what classifications set, those inside others included.
func settingsOf(list []Configuration, path string) settings {
	out := settings{}
	var collect func(prefix, path string, list []Configuration)
	collect = func(prefix, path string, list []Configuration) {
		for i, c := range list {
			at := fmt.Sprintf("%s[%d]", path, i)
			out.add(prefix+c.Classification, at+".properties", c.Properties)
			collect(prefix+c.Classification+"/", at+".configurations", c.Configurations)
		}
	}
	collect("", path, list)
	return out
}
