package stacks_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

var update = flag.Bool("update", false, "write the golden files")

// build records the program with a stack file's configuration and fake materials.
// It returns the recording and the exports.
func build(t *testing.T, stack string) (*recorder.Recording, map[string]pulumi.Input) {
	t.Helper()
	m := trial.Materials(t)
	var exported map[string]pulumi.Input
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		cfg, err := config.Load(ctx)
		if err != nil {
			return err
		}
		err = stacks.Build(ctx, cfg, m)
		exported = ctx.GetCurrentExportMap()
		return err
	}, append(trial.Answers(), recorder.WithConfig(trial.Values(t, stack)))...)
	require.NoError(t, err)
	return rec, exported
}

// TestResources compares the resources of both stacks with golden files: a changed
// name replaces the resource and must be visible in review.
func TestResources(t *testing.T) {
	for _, stack := range []string{"dev", "local"} {
		t.Run(stack, func(t *testing.T) {
			rec, _ := build(t, stack)
			got := describe(rec)
			file := filepath.Join("testdata", stack+".resources.golden")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got, "if intended: alias what was renamed, then run the test with -update")
		})
	}
}

// describe formats one line for each resource: type, name, parent, provider and
// protection.
func describe(rec *recorder.Recording) string {
	lines := make([]string, 0, len(rec.Resources))
	for _, r := range rec.Resources {
		line := fmt.Sprintf("%s %s", r.Type, r.Name)
		for _, part := range []struct{ word, value string }{{"in", r.Parent}, {"by", r.Provider}, {"with", r.DeletedWith}} {
			if part.value != "" {
				line += " " + part.word + " " + part.value
			}
		}
		if r.Protect {
			line += " protected"
		}
		if r.Retain {
			line += " retained"
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n"
}

func TestNothingUsesADefaultProvider(t *testing.T) {
	for _, stack := range []string{"dev", "local"} {
		rec, _ := build(t, stack)
		require.Empty(t, rec.Defaults, stack)
	}
}

func TestEveryResourceBelongsToAComponent(t *testing.T) {
	rec, _ := build(t, "dev")
	components := map[string]bool{}
	for _, r := range rec.Resources {
		if r.Component {
			require.True(t, strings.HasPrefix(r.Type, platform.Name+":"), r.Type)
			components[r.Name] = true
		}
	}
	require.Len(t, components, 7)
	for _, r := range rec.Resources {
		if !r.Component && !strings.HasPrefix(r.Type, "pulumi:providers:") {
			require.True(t, components[r.Parent], "%s %s has parent %q", r.Type, r.Name, r.Parent)
		}
	}
}

// The Kubernetes provider waits up to ten minutes for the pods of a Service, and holds a
// worker of the engine meanwhile (pulumi-kubernetes, "Resource await behavior"). An update
// on few cores would never come to the Deployments, which create these pods.
// TestAwaitedServicesStallTheFirstUpdate of tests/kubernetes shows that.
func TestNoServiceTakesAWorkerToWaitForItsPods(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		rec, _ := build(t, stack)
		services := rec.OfType("kubernetes:core/v1:Service")
		require.NotEmpty(t, services)
		for _, r := range services {
			metadata, _ := property.Plain(r.Inputs)["metadata"].(map[string]any)
			require.Equal(t, map[string]any{"pulumi.com/skipAwait": "true"}, metadata["annotations"], "%s: create it with objects.service", r.Name)
		}
	}
}

func TestOnlyDataIsProtected(t *testing.T) {
	rec, _ := build(t, "dev")
	require.Equal(t, []string{"control-data", "storage-data", "storage-key", "storage-logs"}, rec.Protected())

	ephemeral, _ := build(t, "local")
	require.Empty(t, ephemeral.Protected())
	for _, r := range ephemeral.Resources {
		inBucket := r.Type == "aws:s3/bucketObjectv2:BucketObjectv2" // which forceDestroy empties
		require.Equal(t, inBucket, r.Retain, "%s would outlive the ephemeral stack", r.Name)
	}
}

func TestExportsMatchTheContract(t *testing.T) {
	_, exported := build(t, "dev")
	names := make([]string, 0, len(exported))
	for n := range exported {
		names = append(names, n)
	}
	require.ElementsMatch(t, outputs.Names(), names)
}

func TestAWSProviderConfiguration(t *testing.T) {
	dev, _ := build(t, "dev")
	p, err := dev.One("pulumi:providers:aws", "aws")
	require.NoError(t, err)
	require.Equal(t, "us-east-1", p.Inputs["region"].StringValue())
	require.Contains(t, fmt.Sprint(p.Inputs["defaultTags"]), platform.TagStack)
	require.Contains(t, fmt.Sprint(p.Inputs["defaultTags"]), "data-platform")
	require.NotContains(t, p.Inputs, resource.PropertyKey("endpoints"))
	require.NotContains(t, p.Inputs, resource.PropertyKey("s3UsePathStyle"))

	local, _ := build(t, "local")
	p, err = local.One("pulumi:providers:aws", "aws")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(p.Inputs["endpoints"]), "http://10.0.0.2:7070")
	require.Contains(t, fmt.Sprint(p.Inputs["s3UsePathStyle"]), "true")
}

// A new kubeconfig or instance must not replace every Kubernetes object: the
// cluster's identity is the volume with its datastore.
func TestKubernetesProviderConfiguration(t *testing.T) {
	rec, _ := build(t, "dev")
	p, err := rec.One("pulumi:providers:kubernetes", "kubernetes")
	require.NoError(t, err)
	require.Equal(t, "vol-0123456789abcdef0", p.Inputs["clusterIdentifier"].StringValue())
	require.Contains(t, fmt.Sprint(p.Inputs["kubeconfig"]), "https://"+trial.PublicAddress+":6443")
	require.Contains(t, fmt.Sprint(p.Inputs["enableServerSideApply"]), "true")
	require.Contains(t, fmt.Sprint(p.Inputs["enableConfigMapMutable"]), "true", "an edited ConfigMap would be replaced")
}

// The local cloud runs the same program, and reaches the control node in the same way:
// only protection and counts differ.
func TestBothStacksHaveTheSameResourceTypes(t *testing.T) {
	types := func(stack string) []string {
		rec, _ := build(t, stack)
		set := map[string]bool{}
		for _, r := range rec.Resources {
			set[r.Type] = true
		}
		out := make([]string, 0, len(set))
		for k := range set {
			out = append(out, k)
		}
		sort.Strings(out)
		return out
	}
	require.Equal(t, types("dev"), types("local"))
}
