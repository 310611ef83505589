package changes_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// id returns the id of a resource by its logical name.
func (s *scene) id(t *testing.T, name string) string {
	t.Helper()
	exported, err := s.Stack.Export(t.Context())
	require.NoError(t, err)
	var deployment apitype.DeploymentV3
	require.NoError(t, json.Unmarshal(exported.Deployment, &deployment))
	for _, r := range deployment.Resources {
		if strings.HasSuffix(string(r.URN), "::"+name) {
			return string(r.ID)
		}
	}
	require.Fail(t, "no resource "+name)
	return ""
}

// TestLostControlNodeComesBackOnARestoredVolume loses the instance and its data
// volume, and restores both as docs/guides/control-node.md does: nothing else is
// replaced, since the volume's id is the identity of the Kubernetes objects too.
func TestLostControlNodeComesBackOnARestoredVolume(t *testing.T) {
	s := open(t, "dev")
	s.up(t)
	before := s.outputs(t)
	s.Servers.Account.End(before.ControlInstanceID)
	s.Servers.Account.End(s.id(t, "control-attachment"))
	_, err := s.Stack.Refresh(t.Context(), optrefresh.Target([]string{"**control-instance", "**control-attachment"}))
	require.NoError(t, err)

	const restored = "vol-0fedcba9876543210"
	exported, err := s.Stack.Export(t.Context())
	require.NoError(t, err)
	exported.Deployment = bytes.ReplaceAll(exported.Deployment, []byte(before.ControlVolumeID), []byte(restored))
	require.NoError(t, s.Stack.Import(t.Context(), exported))

	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Equal(t, []string{"control-attachment", "control-instance"}, plan.Names(changes.Created), "%s", plan)
	require.Equal(t, []string{"control-boot", "control-gate"}, plan.Names(changes.Replaced), "%s", plan)
	require.Equal(t, []string{bootAccess}, plan.Names(changes.Updated), "%s", plan)
	for _, effect := range []changes.Effect{changes.Restarted, changes.Deleted} {
		require.Empty(t, plan.Names(effect), "%s", plan)
	}
	s.up(t)
	after := s.outputs(t)
	require.NotEqual(t, before.ControlInstanceID, after.ControlInstanceID)
	require.Equal(t, restored, after.ControlVolumeID)
	after.ControlInstanceID, after.ControlVolumeID = before.ControlInstanceID, before.ControlVolumeID
	require.Equal(t, before, after)
	plan, err = changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Empty(t, plan)
}
