package changes_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// readOldState reads the state of a stack of Pulumi.dev.yaml that the last program with a
// single cluster has deployed; testdata/README.md tells how it was made.
func readOldState(t *testing.T) (state apitype.UntypedDeployment, text string) {
	t.Helper()
	file, err := os.Open("testdata/one-cluster.json.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	raw, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &state))
	return state, string(raw)
}

// TestStackOfOneClusterKeepsItsData updates a stack from before clusters was a map. Of what
// holds data, the cluster alone is another one. The control node's instance is replaced
// only for its boot script, which repeats itself now; its volume and its addresses stay.
func TestStackOfOneClusterKeepsItsData(t *testing.T) {
	old, text := readOldState(t)
	require.NotContains(t, text, "PRIVATE KEY", "secrets are in clear")
	require.NotContains(t, text, "observatory-boot.service", "its boot script runs once")
	s := open(t, "dev")
	require.NoError(t, s.Stack.Import(t.Context(), old))
	before := s.resources(t)

	plan, err := changes.Preview(t.Context(), s.Stack, optpreview.Refresh())
	require.NoError(t, err)
	require.Equal(t, []string{"emr-cluster"}, plan.Lost().Names(changes.Deleted), "%s", plan)
	require.Empty(t, plan.Lost().Names(changes.Replaced), "%s", plan)
	var others []string // that are not there afterwards
	for _, c := range plan {
		ends := c.Effect == changes.Replaced || c.Effect == changes.Deleted
		if ends && slices.Contains([]string{"storage", "control", "workloads"}, strings.Split(c.Name, "-")[0]) {
			others = append(others, c.Name)
		}
		if c.Name == "control-instance" {
			require.Equal(t, []string{"userData"}, c.Paths)
		}
	}
	slices.Sort(others)
	require.Equal(t, []string{"control-attachment", "control-gate", "control-instance"}, others, "%s", plan)

	_, err = s.Stack.Up(t.Context(), optup.Refresh())
	require.NoError(t, err)
	after := s.resources(t)
	var kept []string
	for urn, r := range before {
		if changes.Stateful()[string(r.Type)] != "" && r.ID == after[urn].ID {
			kept = append(kept, r.URN.Name())
		}
	}
	require.Subset(t, kept, []string{"control-data", "storage-data", "storage-logs", "storage-key"})
	plan, err = changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Empty(t, plan)
}

// TestClusterThatEncryptedOtherBucketsIsReplaced updates a stack whose security configuration
// names the stack's key for S3. EMR edits none, so the cluster is another one, and the guard
// says so first. Nothing else that holds data changes.
func TestClusterThatEncryptedOtherBucketsIsReplaced(t *testing.T) {
	s := open(t, "dev")
	s.up(t)
	state, err := s.Stack.Export(t.Context())
	require.NoError(t, err)
	const now = `\"AtRestEncryptionConfiguration\":{`
	require.Contains(t, string(state.Deployment), now)
	state.Deployment = []byte(strings.ReplaceAll(string(state.Deployment), now,
		now+`\"S3EncryptionConfiguration\":{\"EncryptionMode\":\"SSE-KMS\",\"AwsKmsKey\":\"key\"},`))
	require.NoError(t, s.Stack.Import(t.Context(), state))
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Equal(t, []string{"emr-main-cluster"}, plan.Lost().Names(changes.Replaced), "%s", plan)
	require.Empty(t, plan.Lost().Names(changes.Deleted))
	require.ElementsMatch(t, []string{"emr-main-cluster", "emr-main-security"}, plan.Names(changes.Replaced), "%s", plan)
	s.up(t)
	plan, err = changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Empty(t, plan)
}
