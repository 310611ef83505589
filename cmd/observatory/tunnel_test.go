package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// awsStandIn prints an instance for describe-instances, and records the arguments of
// start-session, one per line.
const awsStandIn = `#!/bin/sh
if [ "$1 $2" = "ec2 describe-instances" ]; then
  printf '%s\n' "$@" >>"$RECORD.found"
  echo i-0123456789abcdef0
else
  printf '%s\n' "$@" >>"$RECORD"
fi
`

// TestTunnelPrintsWhatForwardsThePorts runs the printed lines in a shell.
func TestTunnelPrintsWhatForwardsThePorts(t *testing.T) {
	dir := projectWithEditedStack(t, "dev", "access: public", "access: tunnel\n    apiUrl: https://127.0.0.1:16443",
		"emr-observatory:region: us-east-1", "emr-observatory:region: us-east-1\n  emr-observatory:grafana:\n    url: https://localhost:13000")
	o := observatory(t, dir, nil, "tunnel", "--stack", "dev")
	require.Zero(t, o.code, o.stderr)

	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "aws"), []byte(awsStandIn), 0o700))
	record := filepath.Join(bin, "record")
	sh := exec.CommandContext(t.Context(), "sh", "-eu")
	sh.Stdin = strings.NewReader(o.stdout)
	sh.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "RECORD="+record)
	out, err := sh.CombinedOutput()
	require.NoError(t, err, "%s", out)

	session := func(ports string) string {
		return strings.Join([]string{"ssm", "start-session", "--region", "us-east-1", "--target", "i-0123456789abcdef0",
			"--document-name", "AWS-StartPortForwardingSession", "--parameters", ports}, "\n")
	}
	started, err := os.ReadFile(record)
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{
		session(`{"localPortNumber":["16443"],"portNumber":["6443"]}`),
		session(`{"localPortNumber":["13000"],"portNumber":["3000"]}`),
		session(`{"localPortNumber":["8080"],"portNumber":["8080"]}`),
		session(`{"localPortNumber":["8070"],"portNumber":["8070"]}`),
	}, "\n")+"\n", string(started))
	found, err := os.ReadFile(record + ".found")
	require.NoError(t, err)
	for _, filter := range []string{"Name=tag:Name,Values=control-instance", "Name=tag:observatory:project,Values=emr-observatory",
		"Name=tag:observatory:stack,Values=dev", "Name=instance-state-name,Values=pending,running"} {
		require.Contains(t, string(found), filter+"\n")
	}

	o = observatory(t, dir, nil, "tunnel", "--stack", "dev", "--json")
	require.Zero(t, o.code, o.stderr)
	var list []struct {
		Name                  string
		RemotePort, LocalPort int
		Command               string
	}
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &list))
	require.Len(t, list, 4)
	require.Equal(t, 16443, list[0].LocalPort)
}

func TestTunnelNeedsAStackThatUsesOne(t *testing.T) {
	o := observatory(t, root, nil, "tunnel", "--stack", "dev")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "controlNode.access is public")
}

// A rehearsal accepts the stack file as it is, and says what `pulumi up` refuses.
func TestRehearsalSaysWhatUpRefuses(t *testing.T) {
	o := observatory(t, root, nil, "preview", "--stack", "dev")
	require.Zero(t, o.code, o.stderr)
	require.Contains(t, o.stderr, "`pulumi up` refuses: emr-observatory:operatorCidrs[0]")
	o = observatory(t, root, nil, "preview", "--stack", "pr")
	require.Zero(t, o.code, o.stderr)
	require.NotContains(t, o.stderr, "refuses")
}
