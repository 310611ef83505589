package observe

import (
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Lack is a key of a cluster's configurations that does not have what the platform
// needs.
type Lack struct {
	Classification string // with those that it is nested in: container-executor.docker
	Key            string
	Value          string // the cluster's own
	Set            bool   // the cluster has the key
	Wanted         string // the value, or the part of a list that is missing
}

// Lacks compares a cluster's configurations with the platform's. A ratio of traces of
// the cluster's own is its choice.
func Lacks(own, wanted []Classification) []Lack { return lacks(own, wanted, "") }

func lacks(own, wanted []Classification, within string) []Lack {
	var out []Lack
	for _, want := range wanted {
		properties, inner := map[string]string{}, []Classification(nil)
		for _, c := range own {
			if c.Classification == want.Classification {
				maps.Copy(properties, c.Properties)
				inner = append(inner, c.Configurations...)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(want.Properties)) {
			value, set := properties[key]
			if part := missingPart(value, set, key, want.Properties[key]); part != "" {
				out = append(out, Lack{within + want.Classification, key, value, set, part})
			}
		}
		out = append(out, lacks(inner, want.Configurations, within+want.Classification+".")...)
	}
	return out
}

// missingPart returns what of the wanted value is not in force, or "".
func missingPart(value string, set bool, key, wanted string) string {
	shared, isList := sharedLists()[key]
	switch {
	case isList && set:
		return strings.Join(shared.missing(value, wanted), shared.separator)
	case !set, value != wanted && key != platform.SparkSamplingRatio:
		return wanted
	}
	return ""
}
