package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	connectSession   = "0a1b2c3d-0000-4000-8000-00000000000a"
	connectOperation = "0A1B2C3D-1111-4111-8111-11111111111B"
	connectParent    = "00-11111111111111111111111111111111-1111111111111111-01"
)

func TestConnectTags(t *testing.T) {
	of := func(user string) string {
		return "SparkConnect_OperationTag_User_" + user + "_Session_" + connectSession + "_Operation_" + connectOperation
	}
	tag := func(text string) string {
		return "SparkConnect_SessionTag_User_u_Session_" + connectSession + "_Tag_" + text
	}
	named := platform.ConnectTags{Session: connectSession, Operation: connectOperation}
	withParent := named
	withParent.Parent = connectParent
	for name, c := range map[string]struct {
		tags, operation string
		want            platform.ConnectTags
	}{
		"nothing":             {"", "", platform.ConnectTags{}},
		"an operation":        {of("ann"), "", named},
		"a user like a tag":   {of("a_Session_b_Operation_c"), "", named},
		"no user":             {of(""), "", named},
		"another tag":         {of("u") + "," + tag("mine"), "", named},
		"a parent":            {tag("traceparent="+connectParent) + "," + of("u"), "", withParent},
		"a parent, no client": {"traceparent=" + connectParent, "", platform.ConnectTags{Parent: connectParent}},
		"no UUID":             {"SparkConnect_OperationTag_User_u_Session_1_Operation_2", "", platform.ConnectTags{}},
		"analysis":            {"mine", connectSession + ".analysis-7", platform.ConnectTags{Session: connectSession, Operation: "analysis-7"}},
		"tag before property": {of("u"), connectSession + ".analysis-7", named},
		"property of no form": {"", "analysis-7", platform.ConnectTags{}},
	} {
		got := platform.ParseConnectTags(c.tags, c.operation)
		require.Equal(t, c.want, got, name)
	}
	require.Equal(t, connectSession+"."+connectOperation, named.Number())
	require.Empty(t, platform.ConnectTags{Parent: connectParent}.Number())
}
