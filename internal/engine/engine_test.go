package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/progress"
)

func TestWorkDirKeepsTheSaltAndUpdatesTheSettings(t *testing.T) {
	o := Options{Project: t.TempDir(), Stack: "local"}
	dir := filepath.Join(t.TempDir(), "work")
	write := func(dir, name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write(o.Project, "Pulumi.yaml", "name: emr-observatory\n")
	write(o.Project, "Pulumi.local.yaml", "config:\n  emr-observatory:region: us-east-1\n")
	require.NoError(t, fillWorkDir(dir, o))
	write(dir, "Pulumi.local.yaml", "encryptionsalt: v1:abc\nconfig:\n  emr-observatory:region: stale\n")
	require.NoError(t, fillWorkDir(dir, o))
	text, err := os.ReadFile(filepath.Join(dir, "Pulumi.local.yaml"))
	require.NoError(t, err)
	require.YAMLEq(t, "encryptionsalt: v1:abc\nconfig:\n  emr-observatory:region: us-east-1\n", string(text))

	o.Stack = "absent"
	require.ErrorContains(t, fillWorkDir(dir, o), "Pulumi.absent.yaml")
}

func TestUnreadyResourcesAreFoundInTheState(t *testing.T) {
	ready, unready := apitype.ResourceV3{URN: "a"}, apitype.ResourceV3{URN: "b", InitErrors: []string{"ended with errors"}}
	require.False(t, anyUnready(nil))
	require.False(t, anyUnready([]apitype.ResourceV3{ready}))
	require.True(t, anyUnready([]apitype.ResourceV3{ready, unready}))
}

func TestShortErrorDropsTheTranscript(t *testing.T) {
	require.NoError(t, shortError(nil))
	require.EqualError(t, shortError(errors.New("no stack")), "no stack")
	require.EqualError(t, shortError(errors.New("failed to run update: exit status 255\ncode: 255\nstdout: …")),
		"failed to run update: exit status 255: see the errors above")
}

func TestLogEventsPrintsErrorsAndASummary(t *testing.T) {
	const urn = "urn:pulumi:local::emr-observatory::observatory:emr:Cluster$aws:emr/cluster:Cluster::emr-cluster"
	event := func(e apitype.EngineEvent) events.EngineEvent { return events.EngineEvent{EngineEvent: e} }
	var out bytes.Buffer
	err := logEvents(t.Context(), progress.New(&out), func(ch chan<- events.EngineEvent) error {
		defer close(ch) // as the Automation API does
		ch <- event(apitype.EngineEvent{DiagnosticEvent: &apitype.DiagnosticEvent{URN: urn, Severity: "error", Message: "no such subnet\n"}})
		ch <- event(apitype.EngineEvent{DiagnosticEvent: &apitype.DiagnosticEvent{URN: urn, Severity: "info", Message: "hidden"}})
		step := apitype.StepEventMetadata{URN: urn, Op: apitype.OpSame}
		ch <- event(apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: step}})
		return errors.New("update failed\ncode: 255")
	})
	require.EqualError(t, err, "update failed: see the errors above")
	require.Equal(t, "   0s  error: aws:emr/cluster:Cluster emr-cluster: no such subnet\n"+
		"   0s  resources: 0 created, 0 updated, 0 replaced, 0 deleted, 1 unchanged\n", out.String())
}
