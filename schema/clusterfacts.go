package schema

import (
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkFacts checks a cluster by what AWS and the applications say about themselves:
// its release on a day, its instance types, and the properties that it sets.
func (c Cluster) checkFacts(l *violation.List, path string, now time.Time) {
	checkSupport(l, path+".releaseLabel", c.ReleaseLabel, now)
	for i, name := range c.Applications {
		checkApplication(l, fmt.Sprintf("%s.applications[%d]", path, i), name, c.ReleaseLabel)
	}
	var workers []string
	for _, g := range c.GroupsAt(path) {
		checkInstanceType(l, g.Path+".instanceType", g.InstanceType, c.ReleaseLabel)
		checkVolumeLimits(l, g.Path+".ebs", g.InstanceType, g.EBS)
		if g.Role != platform.RoleMaster || !c.HasCore() { // a primary node alone runs YARN's containers
			workers = append(workers, g.InstanceType)
		}
		checkSettings(l, settingsOf(g.Configurations, g.Path+".configurations"))
		checkClassificationNames(l, g.Path+".configurations", g.Configurations)
	}
	checkClassificationNames(l, path+".configurations", c.Configurations)
	s := settingsOf(c.Configurations, path+".configurations")
	s.add(sparkDefaults, path+".sparkDefaults", c.SparkDefaults)
	checkSettings(l, s)
	checkExecutors(l, s, workers, c.Applications)
	for i, step := range c.Steps {
		at := fmt.Sprintf("%s.steps[%d]", path, i)
		checkSecretArguments(l, at+".args", step.Args)
		checkSecretProperties(l, newSettings("", at+".properties", step.Properties))
	}
	for i, action := range c.BootstrapActions {
		checkSecretArguments(l, fmt.Sprintf("%s.bootstrapActions[%d].args", path, i), action.Args)
	}
}

func checkSettings(l *violation.List, s settings) {
	checkSecretProperties(l, s)
	checkPropertyNames(l, s)
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
