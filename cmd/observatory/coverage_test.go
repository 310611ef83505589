package main_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud"
)

// The provider servers really do what these types stand for: they generate keys,
// certificates and passwords, and run commands. Providers and components are the
// engine's own.
var realTypes = regexp.MustCompile(`^(tls|random|command|pulumi|observatory):`)

// TestEveryTypeOfTheStacksIsCovered: `status` tells users what is only recorded, so
// each type that the stacks create has a handler, or is named.
func TestEveryTypeOfTheStacksIsCovered(t *testing.T) {
	coverage := localcloud.Coverage()
	var missing []string
	for _, stack := range []string{"dev", "local", "pr"} {
		for _, r := range trial.Record(t, stack).Resources {
			if _, found := coverage[r.Type]; !found && !realTypes.MatchString(r.Type) {
				missing = append(missing, r.Type)
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, slices.Compact(missing), "give each a handler in localcloud, or a phrase in localcloud/coverage.go")
}
