package outputs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// TestContractIsCompatible compares the contract with the one recorded for its
// version. `make generate` records new keys, but no removals.
func TestContractIsCompatible(t *testing.T) {
	now := outputs.CurrentSchema()
	file := filepath.Join("testdata", fmt.Sprintf("schema.v%d.json", now.Version))
	text, err := json.MarshalIndent(now, "", "  ")
	require.NoError(t, err)
	recorded, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && *update {
		recorded, err = text, nil
	}
	require.NoError(t, err, "a new version is recorded by `make generate`")
	var before outputs.Schema
	require.NoError(t, json.Unmarshal(recorded, &before))
	require.Empty(t, now.Breaks(before))
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
		return
	}
	require.JSONEq(t, string(text), string(recorded), "new keys are recorded by `make generate`")
}

func TestEveryVersionIsRecorded(t *testing.T) {
	for v := 1; v <= outputs.SchemaVersion; v++ {
		require.FileExists(t, filepath.Join("testdata", fmt.Sprintf("schema.v%d.json", v)))
	}
}

func TestBreaksFindsIncompatibleChanges(t *testing.T) {
	edit := func(change func(*outputs.Schema)) outputs.Schema {
		s := outputs.CurrentSchema()
		s.Object, s.Outputs = maps.Clone(s.Object), maps.Clone(s.Outputs)
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		now  outputs.Schema
		says string // "" = breaks nothing
	}{
		"nothing": {edit(func(*outputs.Schema) {}), ""},
		"added":   {edit(func(s *outputs.Schema) { s.Object["lakeDatabase"] = "string" }), ""},
		"removed": {edit(func(s *outputs.Schema) { delete(s.Object, "s3Paths.lake") }),
			"key s3Paths.lake is gone or renamed at schema version 2"},
		"renamed": {edit(func(s *outputs.Schema) { delete(s.Object, "dataBucket"); s.Object["bucket"] = "string" }),
			"key dataBucket is gone or renamed"},
		"retyped": {edit(func(s *outputs.Schema) { s.Object["observe.bootstrap.args"] = "string" }),
			"key observe.bootstrap.args was list of string and is string"},
		"flat removed": {edit(func(s *outputs.Schema) { delete(s.Outputs, "grafanaUrl") }), "output grafanaUrl is gone or renamed"},
		"secret opened": {edit(func(s *outputs.Schema) { s.Outputs["kubeconfig"] = "string" }),
			"output kubeconfig was secret string and is string"},
		"version falls": {edit(func(s *outputs.Schema) { s.Version-- }), "schema version fell from 2 to 1"},
		"version rises": {edit(func(s *outputs.Schema) { s.Version++; delete(s.Object, "s3Paths.lake") }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			errs := c.now.Breaks(outputs.CurrentSchema())
			if c.says == "" {
				require.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			require.ErrorContains(t, errs[0], c.says)
			if c.now.Version == outputs.SchemaVersion {
				require.ErrorContains(t, errs[0], "raise SchemaVersion")
			}
		})
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	for path := range outputs.CurrentSchema().Object {
		require.Regexp(t, "(?m)^\\| `"+path+"` \\| .+ \\| \\S.+ \\|$", string(outputs.Reference()))
	}
}
