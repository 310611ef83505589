package main_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
)

// verdict is what `guard --json` prints.
type verdict struct {
	Changes           map[string][]string
	Notices, Refusals []string
}

func verdictOf(t *testing.T, o outcome) verdict {
	t.Helper()
	var v verdict
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &v), o.stdout)
	return v
}

// The preview is made up; stacks/changes reads real ones of the engine
// (TestPreviewOfAnEndedCluster). EMR's API is real, with a cluster that ended idle.
func TestGuardReportsAnEndedCluster(t *testing.T) {
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	server, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	cluster := emrapitest.PutCluster(t, store)
	idle := types.ClusterStateChangeReason{Message: aws.String("Cluster was terminated after 60 minutes idle")}
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning, types.ClusterStateTerminating} {
		require.NoError(t, store.SetClusterState(cluster, state, idle))
	}
	guard := func(preview string, arguments ...string) outcome {
		file := filepath.Join(t.TempDir(), "preview.json")
		require.NoError(t, os.WriteFile(file, []byte(preview), 0o600))
		return observatory(t, t.TempDir(), []string{
			"AWS_REGION=us-east-1", "AWS_ENDPOINT_URL_EMR=" + served.URL, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local-secret",
		}, append([]string{"guard", file}, arguments...)...)
	}
	stackOf := func(id string) string {
		return fmt.Sprintf(`{"op":"same","urn":"urn:pulumi:dev::emr-observatory::pulumi:pulumi:Stack::emr-observatory-dev",`+
			`"oldState":{"type":"pulumi:pulumi:Stack","outputs":{"clusters":{"etl":{"id":%q}}}}}`, id)
	}
	const created = `,{"op":"create","urn":"urn:pulumi:dev::emr-observatory::aws:emr/cluster:Cluster::emr-etl-cluster",` +
		`"newState":{"type":"aws:emr/cluster:Cluster","custom":true}}`

	o := guard(`{"steps":[` + stackOf(cluster) + created + `]}`)
	require.Zero(t, o.code, o.stderr)
	ended := "cluster " + cluster + ` ended \(TERMINAT[A-Z_]+: Cluster was terminated after 60 minutes idle\)`
	require.Regexp(t, ended+"; up creates another\n", o.stdout)
	require.Contains(t, o.stdout, "created: emr-etl-cluster\n")

	o = guard(`{"steps":[`+stackOf(cluster)+`]}`, "--json")
	require.Zero(t, o.code, o.stderr)
	notices := verdictOf(t, o).Notices
	require.Len(t, notices, 1)
	require.Regexp(t, ended+", and this preview has not noticed; `pulumi refresh --target .+`, then `pulumi up` creates another$", notices[0])

	o = guard(`{"steps":[` + stackOf("j-UNKNOWN") + `]}`)
	require.Zero(t, o.code, "a failed look-up refuses nothing")
	require.Contains(t, o.stdout, "look whether the stack's cluster etl still runs: describe cluster j-UNKNOWN")
	require.NotContains(t, guard(`{"steps":[`+created[1:]+`]}`).stdout, "ended", "a stack's first update")
}
