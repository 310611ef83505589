package workloadconfig_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// prepare runs a preparation as its init container does.
func prepare(t *testing.T, p workloadconfig.Preparation, rebase *strings.Replacer, dir string, env []string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "prepared"), 0o755))
	cmd := exec.Command("/bin/sh", "-euc", p.Script)
	cmd.Env = append(os.Environ(), env...)
	for k, v := range p.Env {
		cmd.Env = append(cmd.Env, k+"="+rebase.Replace(v))
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	writeFile(t, filepath.Join(dir, p.Name+".log"), string(out))
}

// parameters serves Systems Manager to the AWS CLI, which it puts on PATH.
func parameters(t *testing.T) *ec2.Service {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	bin := t.TempDir()
	writeFile(t, filepath.Join(bin, "aws"), "#!/bin/sh\nPYTHONPATH="+tree+"/aws exec /usr/bin/python3 -m awscli \"$@\"\n")
	require.NoError(t, os.Chmod(filepath.Join(bin, "aws"), 0o755))
	s := &ec2.Service{Dir: t.TempDir()}
	require.NoError(t, s.Open(t.Context()))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: s.Parameters(), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("AWS_ENDPOINT_URL_SSM", "http://"+l.Addr().String())
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	return s
}

// logOf returns what a workload has written.
func (l *lab) logOf(w platform.Workload) string {
	l.t.Helper()
	out, err := os.ReadFile(filepath.Join(l.dirs[w], string(w)+".log"))
	require.NoError(l.t, err)
	return string(out)
}
