package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema"
)

// Parse reads a cluster's configuration list as EMR takes it. What Merge could not
// keep, such as a misspelt key or a number, is an error.
func Parse(list string) ([]Classification, error) {
	var parsed []Classification
	in := json.NewDecoder(strings.NewReader(list))
	in.DisallowUnknownFields()
	if err := in.Decode(&parsed); err != nil {
		return nil, fmt.Errorf("configurations: %w: must be a list of {Classification, Properties, Configurations}, with texts as "+
			"properties; write it as RunJobFlow takes it", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("configurations: text after the list: must be one list; remove what follows")
	}
	return parsed, nil
}

// Render writes a configuration list as one line of JSON. The same list gives the
// same bytes.
func Render(list []Classification) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // EMR gives back the characters themselves
	if err := encoder.Encode(append([]Classification{}, list...)); err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// Merge returns a cluster's own configurations with those of the platform. EMR
// replaces a value by its key, so the platform's part is appended to JVM options and
// to lists of mounts. Of any other key that both have, the cluster's value stays.
// Merging twice is like merging once, and the arguments stay as they are.
func Merge(own, platforms []Classification) []Classification {
	merged := make([]Classification, 0, len(own)+len(platforms))
	for _, c := range own {
		merged = append(merged, c.clone())
	}
	for _, wanted := range platforms {
		merged = mergeOne(merged, wanted)
	}
	return merged
}

// mergeOne changes list. If a classification is in it twice, each gets everything:
// which of them EMR obeys is not documented.
func mergeOne(list []Classification, wanted Classification) []Classification {
	found := false
	for i := range list {
		if list[i].Classification != wanted.Classification {
			continue
		}
		found = true
		for key, value := range wanted.Properties {
			list[i].Properties[key] = mergeValue(list[i].Properties, key, value)
		}
		list[i].Configurations = nested(Merge(list[i].Configurations, wanted.Configurations))
	}
	if !found {
		list = append(list, wanted.clone())
	}
	return list
}

func mergeValue(own map[string]string, key, wanted string) string {
	value, set := own[key]
	shared, isList := sharedLists()[key]
	switch {
	case !set:
		return wanted
	case !isList:
		return value
	}
	parts := shared.missing(value, wanted)
	if strings.TrimSpace(value) != "" {
		parts = append([]string{value}, parts...)
	}
	return strings.Join(parts, shared.separator)
}

// clone returns a deep copy, with Properties.
func (c Classification) clone() Classification {
	properties := map[string]string{}
	maps.Copy(properties, c.Properties)
	return Classification{c.Classification, nested(Merge(c.Configurations, nil)), properties}
}

// nested returns nil for an empty list, which JSON then leaves out.
func nested(list []Classification) []Classification {
	if len(list) == 0 {
		return nil
	}
	return list
}

// sharedList is the value of a key that others fill too.
type sharedList struct {
	separator string
	shipped   string // what EMR itself puts there
}

// sharedLists returns the keys whose values are lists, of which the platform needs
// only a part.
func sharedLists() map[string]sharedList {
	defaults, allowed := shippedMounts()
	lists := map[string]sharedList{
		defaultMountsKey: {",", strings.Join(defaults, ",")},
		allowedMountsKey: {",", strings.Join(allowed, ",")},
	}
	shipped := ShippedJavaOptions()
	for _, key := range []string{schema.SparkDriverAgentKey, schema.SparkExecutorAgentKey} {
		lists[key] = sharedList{" ", shipped[key]}
	}
	return lists
}

// parts splits a value. The platform's own parts hold no blank, comma or quote.
func (s sharedList) parts(value string) []string {
	if s.separator == " " {
		return strings.Fields(value)
	}
	var parts []string
	for part := range strings.SplitSeq(value, s.separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// missing lists the parts of wanted that value lacks. What EMR ships is not among
// them: whoever has set the key did without it.
func (s sharedList) missing(value, wanted string) []string {
	present, shipped := s.parts(value), s.parts(s.shipped)
	return slices.DeleteFunc(s.parts(wanted), func(part string) bool {
		return slices.Contains(present, part) || slices.Contains(shipped, part)
	})
}
