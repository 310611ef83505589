package diff

import (
	"slices"
	"strings"
)

// Patterns returns all field patterns of the tables by type, split at their
// dots. A test compares them with the SDK's fields.
func Patterns() map[string][][]string {
	out := map[string][][]string{}
	for _, table := range []map[string]policy{awsPolicies(), otherPolicies()} {
		for typ, p := range table {
			out[typ] = [][]string{}
			for _, pattern := range slices.Concat(p.replace, p.inPlace, p.neverApplied, p.kept) {
				out[typ] = append(out[typ], strings.Split(pattern, "."))
			}
		}
	}
	return out
}
