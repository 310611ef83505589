package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/status/statustest"
	"github.com/emr-observatory/emr-observatory/submit"
)

// outputsOf returns the stack output of a platform with these clusters as JSON.
func outputsOf(t *testing.T, clusters map[string]outputs.Cluster) []byte {
	t.Helper()
	out := outputs.Outputs{
		SchemaVersion: outputs.SchemaVersion, DataBucket: "data", S3Paths: platform.NewS3Paths("data"), Clusters: clusters,
		Network: outputs.Network{SubnetIDs: []string{}}, Dashboards: map[string]string{}, Endpoints: map[string]string{},
		Observe: observe.Settings{Bootstrap: observe.Bootstrap{Args: []string{}}, Configurations: []observe.Classification{}},
	}
	text, err := json.Marshal(out)
	require.NoError(t, err)
	return text
}

// With the stack's outputs a cluster is named by its key or EMR's name, and its id may
// change from day to day. With one cluster no name is needed; with several the error
// lists them.
func TestSubmitFindsTheClusterByName(t *testing.T) {
	id := emrapitest.ServeCluster(t, &sparkStep{t: t, page: statustest.New(t)})
	etl := outputs.Cluster{ID: id, Name: "emr-observatory-dev-etl"}
	adhoc := outputs.Cluster{ID: "j-ADHOC", Name: "emr-observatory-dev-adhoc"}
	one, two := map[string]outputs.Cluster{"etl": etl}, map[string]outputs.Cluster{"etl": etl, "adhoc": adhoc}
	run := func(clusters map[string]outputs.Cluster, args ...string) (submit.Result, error) {
		file := filepath.Join(t.TempDir(), "outputs.json")
		require.NoError(t, os.WriteFile(file, outputsOf(t, clusters), 0o600))
		var out bytes.Buffer
		command := submitCommand(&settings{state: t.TempDir()})
		command.SetOut(&out)
		command.SetErr(&bytes.Buffer{})
		command.SetArgs(append([]string{"--json", "--outputs", file}, append(args, "s3://data/job.py")...))
		err := command.ExecuteContext(t.Context())
		var result submit.Result
		if err == nil {
			require.NoError(t, json.Unmarshal(out.Bytes(), &result))
		}
		return result, err
	}
	for name, c := range map[string]struct {
		clusters map[string]outputs.Cluster
		args     []string
	}{
		"the only one": {one, nil}, "key": {two, []string{"--cluster", "etl"}}, "EMR's name": {two, []string{"--cluster", etl.Name}},
		"id": {two, []string{"--cluster", id}}, "id of another's": {map[string]outputs.Cluster{"adhoc": adhoc}, []string{"--cluster", id}},
	} {
		got, err := run(c.clusters, c.args...)
		require.NoError(t, err, name)
		require.Equal(t, id, got.Cluster, name)
	}
	_, err := run(two)
	require.ErrorContains(t, err, "which has adhoc, etl; name one of them")
	_, err = run(two, "--cluster", "elt")
	require.ErrorContains(t, err, `cluster: "elt": must be a cluster of the stack, which has adhoc, etl`)
	_, err = run(map[string]outputs.Cluster{})
	require.ErrorContains(t, err, "the stack has no cluster of its own")
}

// The outputs may come from a pipe. What is no such output is refused with the command
// that writes one.
func TestSubmitReadsOutputsFromAPipe(t *testing.T) {
	id := emrapitest.ServeCluster(t, &sparkStep{t: t, page: statustest.New(t)})
	run := func(file, text string) error {
		command := submitCommand(&settings{state: t.TempDir()})
		command.SetIn(strings.NewReader(text))
		command.SetOut(&bytes.Buffer{})
		command.SetErr(&bytes.Buffer{})
		command.SetArgs([]string{"--outputs", file, "s3://data/job.py"})
		return command.ExecuteContext(t.Context())
	}
	require.NoError(t, run("-", string(outputsOf(t, map[string]outputs.Cluster{"etl": {ID: id}}))))
	for text, want := range map[string]string{
		"j-1": "decode", `{"schemaVersion":1}`: "schema version", `{"schemaVersion":2}`: "observatory.clusters: missing",
	} {
		err := run("-", text)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "pulumi stack output observatory --json")
	}
	require.ErrorContains(t, run(filepath.Join(t.TempDir(), "absent"), ""), "no such file")
}

// Without a local cloud a cluster of AWS has to be named.
func TestSubmitWithoutAClusterSaysHowToGetOne(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for given, want := range map[string]string{
		"":     "or name a cluster of AWS with --cluster j-…, ",
		"main": `or name the cluster of AWS "main" by its id, --cluster j-…, `,
	} {
		for _, command := range []func(*settings) *cobra.Command{submitCommand, stepFollowCommand, stepCancelCommand} {
			c := command(&settings{state: state})
			c.SetArgs([]string{"--cluster", given, "s-0123456789ABC"})
			c.SetErr(&bytes.Buffer{})
			require.EqualError(t, c.ExecuteContext(t.Context()), "no local cloud runs (state folder "+state+"): start one with `make up`, "+want+
				"or by its name with --outputs (`pulumi stack output observatory --json > FILE`)")
		}
	}
	require.NoDirExists(t, state)
}
