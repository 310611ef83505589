package changes

import (
	"regexp"
	"slices"
	"strings"
)

// waysInPlace are how a running cluster gets what an edit of one of its inputs asks for
// without being replaced, by the input's path; fleets says that it has fleets in place of
// groups. Of other inputs EMR edits none.
func waysInPlace(fleets bool) map[string]string {
	const (
		// EMR API, AddInstanceGroups: of a running cluster only task groups can be added.
		taskGroup = "declare a task group with it under tasks, which EMR adds to a running cluster"
		// EMR API, ModifyInstanceFleet. The provider replaces the cluster instead.
		resize = "resize the fleet with `aws emr modify-instance-fleet`, then run `pulumi refresh`"
	)
	// EMR Release Guide, "Reconfigure an instance group in a running cluster"; EMR
	// Management Guide, "Reconfiguring instance fleets for your Amazon EMR cluster".
	reconfigure := "the running groups with `aws emr modify-instance-groups`"
	if fleets {
		reconfigure = "the running fleets with `aws emr modify-instance-fleet`"
	}
	return map[string]string{
		"coreInstanceGroup.instanceType":           taskGroup,
		"coreInstanceGroup.bidPrice":               taskGroup,
		"coreInstanceGroup.ebsConfigs":             taskGroup,
		"coreInstanceFleet.targetOnDemandCapacity": resize,
		"coreInstanceFleet.targetSpotCapacity":     resize,
		"configurationsJson":                       "reconfigure " + reconfigure + ", and make the edit with the next cluster",
		// EMR's API could set it, but the provider does not read it: the difference would stay.
		"keepJobFlowAliveWhenNoSteps": "there is no way in place, since the provider sets keepAlive only when it creates a cluster: " +
			"leave it as it is until the next one",
	}
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// inPlace says how a cluster that would be replaced gets what was edited without that,
// or which edits have no such way. It is empty for other changes.
func inPlace(c Change) string {
	if c.Type != typeCluster || c.Effect != Replaced {
		return ""
	}
	if len(c.Paths) == 0 {
		return byShape(c)
	}
	known := waysInPlace(has(c.old, "masterInstanceFleet"))
	var ways, none []string
	for _, path := range c.Paths {
		// An index says nothing, and the parts of a value share its fate.
		parts := strings.SplitN(index.ReplaceAllString(path, ""), ".", 3)
		input := strings.Join(parts[:min(len(parts), 2)], ".")
		if way := known[input]; way == "" {
			none = append(none, input)
		} else {
			ways = append(ways, way)
		}
	}
	if len(none) > 0 {
		slices.Sort(none)
		return "EMR cannot edit " + strings.Join(slices.Compact(none), ", ") + " of a running cluster"
	}
	slices.Sort(ways)
	return strings.Join(slices.Compact(ways), "; ")
}

// byShape says what EMR cannot edit where a replacement names no input: the program asked
// for it, since the provider would have found no difference (components/emr, shape).
func byShape(c Change) string {
	differs := func(input string) bool { return has(c.old, input) != has(c.new, input) }
	switch {
	case differs("masterInstanceFleet"):
		return "EMR cannot change a running cluster from groups to fleets, or back"
	case differs("coreInstanceGroup") || differs("coreInstanceFleet"):
		return "EMR cannot add the core nodes of a running cluster, or remove all of them"
	default:
		return "EMR cannot take `ebs` away from the groups and fleets of a running cluster, and only resizes its task fleet"
	}
}

func has(inputs map[string]any, name string) bool {
	_, ok := inputs[name]
	return ok
}
