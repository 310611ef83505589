package stacks_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/record"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// TestShippedStacksPreviewWithoutAWarning previews every stack's file of the checkout. A
// warning that everybody gets is one that nobody reads.
func TestShippedStacksPreviewWithoutAWarning(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(trial.Root(t), "Pulumi.*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	program := trial.Program(trial.Materials(t))
	for _, file := range files {
		stack := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "Pulumi."), ".yaml")
		t.Run(stack, func(t *testing.T) {
			options := rehearse.Options{
				Project: platform.Project, Stack: stack, Config: auto.ConfigMap{}, PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir(),
				Existing: existingNetwork(t, stack),
			}
			for k, v := range trial.Values(t, stack) {
				options.Config[k] = auto.ConfigValue{Value: v}
			}
			stage, err := rehearse.Open(t.Context(), program, options)
			require.NoError(t, err)
			stream, printed := make(chan events.EngineEvent, 64), make(chan []string)
			go func() {
				var texts []string
				for e := range stream {
					if d := e.DiagnosticEvent; d != nil && d.Severity != "debug" && !strings.HasPrefix(d.Severity, "info") {
						texts = append(texts, d.Severity+": "+d.Message)
					}
				}
				printed <- texts
			}()
			_, err = stage.Stack.Preview(t.Context(), optpreview.EventStreams(stream))
			require.NoError(t, err)
			require.Empty(t, <-printed)
			require.NoError(t, stage.Close())
		})
	}
}

// existingNetwork is the network that a stack's file names.
func existingNetwork(t *testing.T, stack string) []record.Resource {
	t.Helper()
	_, cfg, err := config.ReadStackFile(trial.Root(t), stack)
	require.NoError(t, err)
	if cfg.Network.VPCID == "" {
		return nil
	}
	n := record.Network{VPC: cfg.Network.VPCID, CIDR: cfg.Network.CIDR}
	for _, id := range cfg.Network.SubnetIDs {
		n.Private = append(n.Private, record.Subnet{ID: id, CIDR: cfg.Network.CIDR, Zone: cfg.Region + "a"})
	}
	return n.Resources()
}
