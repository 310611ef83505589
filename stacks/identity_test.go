package stacks_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/catalog"
)

// identityKeys are the properties by which an organisation recognises what may act in its
// account, with values for them.
var identityKeys = map[string]string{"permissionsBoundary": "arn:aws:iam::123456789012:policy/boundary", "path": "/team/"}

// TestEveryIAMResourceHasBoundaryAndPath records the stacks, and one with every role, with
// and without both keys. Whatever the provider gives such a property must have it.
func TestEveryIAMResourceHasBoundaryAndPath(t *testing.T) {
	const scaled = `{"main": {"tasks": {"task": {"instanceType": "m5.xlarge", "count": 1, "autoScaling": {"min": 1, "max": 3, "rules": [
		{"name": "out", "adjustment": 1, "metric": "YARNMemoryAvailablePercentage", "comparison": "LESS_THAN", "threshold": 15},
		{"name": "in", "adjustment": -1, "metric": "YARNMemoryAvailablePercentage", "comparison": "GREATER_THAN", "threshold": 75}]}}}}}`
	every := trial.Values(t, "dev")
	every[platform.Project+":clusters"] = scaled
	seen := map[string]bool{}
	for _, values := range []map[string]string{trial.Values(t, "dev"), trial.Values(t, "local"), trial.Values(t, "pr"), every} {
		requireIdentity(t, trial.Record(t, "dev", recorder.WithConfig(values)), nil)
		limited := maps.Clone(values)
		limited[platform.Project+":permissionsBoundary"] = identityKeys["permissionsBoundary"]
		limited[platform.Project+":iamPath"] = identityKeys["path"]
		for _, name := range requireIdentity(t, trial.Record(t, "dev", recorder.WithConfig(limited)), identityKeys) {
			seen[name] = true
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(seen)), []string{"control-role", "control-profile", "emr-main-node", "emr-main-service",
		"emr-main-scaling", "telemetry-observed-nodes"})
}

// requireIdentity requires these values of the properties that IAM resources have, and
// returns the resources' names; a nil want: none has a value.
func requireIdentity(t *testing.T, rec *recorder.Recording, want map[string]string) []string {
	t.Helper()
	var names []string
	for _, r := range rec.Resources {
		if !strings.HasPrefix(r.Type, "aws:iam/") {
			continue
		}
		typ, known := catalog.Packages()["aws"].Resources[r.Type]
		require.True(t, known, r.Type)
		for i := range typ.Args.NumField() {
			key, _, _ := strings.Cut(typ.Args.Field(i).Tag.Get("pulumi"), ",")
			if identityKeys[key] == "" {
				continue
			}
			names = append(names, r.Name)
			value, set := r.Inputs[resource.PropertyKey(key)]
			require.Equal(t, want != nil, set && value.IsString(), "%s of %s %s", key, r.Type, r.Name)
			if want != nil {
				require.Equal(t, want[key], value.StringValue(), "%s of %s %s", key, r.Type, r.Name)
			}
		}
	}
	return names
}
