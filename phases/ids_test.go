package phases_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The ids were computed with Python's hashlib. The driver's plugin is held to the
// same table.
func TestIDsOfSpans(t *testing.T) {
	var table struct {
		Traces []struct {
			Trace []string `json:"trace"`
			Want  string   `json:"want"`
		} `json:"traces"`
		Spans []struct {
			Application string            `json:"application"`
			Attempt     string            `json:"attempt"`
			Kind        platform.SpanKind `json:"kind"`
			Number      string            `json:"number"`
			Want        string            `json:"want"`
		} `json:"spans"`
		Steps []struct {
			Step string `json:"step"`
			Want string `json:"want"`
		} `json:"steps"`
	}
	text, err := os.ReadFile("testdata/ids.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &table))
	require.NotEmpty(t, table.Spans)
	for _, row := range table.Traces {
		id := platform.TraceID(row.Trace...)
		require.Equal(t, row.Want, hex.EncodeToString(id[:]), row.Trace)
	}
	for _, row := range table.Spans {
		id := platform.SpanID(row.Application, row.Attempt, row.Kind, row.Number)
		require.Equal(t, row.Want, hex.EncodeToString(id[:]), row)
	}
	for _, row := range table.Steps {
		id := platform.StepSpanID(row.Step)
		require.Equal(t, row.Want, hex.EncodeToString(id[:]), row.Step)
	}
}
