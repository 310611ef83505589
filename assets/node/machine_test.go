package node_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	insideVariable = "OBSERVATORY_TEST_INSIDE" // set to the test's name in the namespaces
	controlIP      = "127.0.0.2"               // the control node's address on this machine
	nodeIP         = "10.0.0.17"
	nodeHost       = "ip-10-0-0-17"
	nodeRegion     = "eu-west-1"
)

// onMachine runs the calling test again in user, mount and network namespaces of its
// own, where the assets can use their real paths, ports and addresses. It returns
// true there, and false in the outer process once the inner one has ended: then the
// test must return.
func onMachine(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != t.Name() {
		again := exec.Command("unshare", "--map-root-user", "--user", "--mount", "--net", "--pid", "--fork", "--kill-child",
			os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), insideVariable+"="+t.Name())
		out, err := again.CombinedOutput()
		t.Log(string(out))
		require.NoError(t, err, "the test failed on its machine (or namespaces are refused here: see above)")
		return false
	}
	require.NoError(t, unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for _, dir := range []string{"/opt", "/mnt", "/var/log", platform.NodeUnitDir} {
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"), dir)
	}
	require.NoError(t, unix.Mount("proc", "/proc", "proc", 0, ""))
	lo, err := netlink.LinkByName("lo")
	require.NoError(t, err)
	require.NoError(t, netlink.LinkSetUp(lo))
	for _, address := range []string{nodeIP + "/32", "169.254.169.254/32"} {
		a, err := netlink.ParseAddr(address)
		require.NoError(t, err)
		require.NoError(t, netlink.AddrAdd(lo, a))
	}
	return true
}

// startNode installs what a node's JVMs have, and starts the real collector between
// them and fakes of the control node's servers.
func startNode(t *testing.T) (*sink, chan sentProfile) {
	t.Helper()
	installLauncher(t)
	profiles := startPyroscope(t, nil)
	s := startSink(t, fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	startCollector(t)
	s.metric(t, "system.memory.usage", nil) // the collector is up
	return s, profiles
}

// write writes a file and creates its folder.
func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// serveMetadata answers as the instance metadata service does, version 2 only.
func serveMetadata(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "169.254.169.254:80")
	require.NoError(t, err)
	values := map[string]string{"local-hostname": nodeHost + ".ec2.internal", "local-ipv4": nodeIP, "placement/region": nodeRegion}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
			_, _ = io.WriteString(w, "token")
		case r.Header.Get("X-aws-ec2-metadata-token") != "token":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(w, values[strings.TrimPrefix(r.URL.Path, "/latest/meta-data/")])
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

// writeEMRInfo writes the files that EMR's instance controller writes before any
// bootstrap action runs.
func writeEMRInfo(t *testing.T, role string, nodes int) {
	t.Helper()
	write(t, platform.EMRInfoDir+"/instance.json",
		fmt.Sprintf(`{"instanceGroupId":"ig-1","isMaster":%v,"isRunningNameNode":false}`, role == platform.RoleMaster))
	write(t, platform.EMRInfoDir+"/job-flow.json",
		fmt.Sprintf("{\n  \"jobFlowId\" : \"j-ABC123\",\n  \"instanceCount\" : %d,\n"+
			"  \"instanceGroups\":[{\"instanceRole\":\"Master\"},{\"instanceRole\":\"Core\"}]\n}\n", nodes))
	write(t, platform.EMRInfoDir+"/extraInstanceData.json",
		fmt.Sprintf(`{"jobFlowId":"j-ABC123","instanceRole":%q,"region":%q}`, strings.ToUpper(role), nodeRegion))
}

// fakeCommands puts fakes of the commands of a real node on PATH: sudo, aws (s3 cp
// out of bucketDir) and systemctl (starts the unit's process).
func fakeCommands(t *testing.T, bucketDir string) {
	t.Helper()
	dir := t.TempDir()
	for name, body := range map[string]string{
		"sudo": `exec "$@"`,
		"aws": `echo "$*" >>` + bucketDir + `/calls
key=${4#s3://bucket/}
if [ -e "` + bucketDir + `/hang/$key" ]; then exec sleep 600; fi
cp "` + bucketDir + `/$key" "$5" 2>/dev/null || {
  echo "fatal error: An error occurred (404) when calling the HeadObject operation: Key \"$key\" does not exist" >&2; exit 1; }`,
		"systemctl": `echo "$*" >>` + bucketDir + `/units
if [ "$1" = restart ]; then
  set -a; . ` + platform.NodeCollectorEnv + `
  $(sed -n 's/^ExecStart=//p' ` + platform.NodeUnitDir + `/"$2") >` + bucketDir + `/collector.log 2>&1 &
fi`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/usr/bin/env bash\n"+body+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// lockedFile returns the verified file of an artifact in the store.
func lockedFile(t *testing.T, name string) string {
	t.Helper()
	locked, err := artifacts.Locked(artifacts.Development)
	require.NoError(t, err)
	store, err := artifacts.DefaultStore()
	require.NoError(t, err)
	for _, a := range locked {
		if a.Name == name {
			path, err := store.Path(a)
			require.NoError(t, err)
			return path
		}
	}
	t.Fatalf("the lock has no artifact %s", name)
	return ""
}
