package region_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// stateEnv is set in the re-executed test binary that is the region's process: the
// folder of its state.
const stateEnv = "REGION_TEST_STATE"

// probeEnv is set in the one that region.CheckPermitted runs: "1" opens a region; "twice"
// opens two, of which the kernel refuses the second.
const probeEnv = "REGION_TEST_PROBE"

func TestMain(m *testing.M) {
	if times := os.Getenv(probeEnv); times != "" {
		if err := openAndProbe(times == "twice"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(stateEnv); dir != "" {
		if err := runInRegion(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// openAndProbe calls region.Probe, after a first region.Open if openFirst is set.
func openAndProbe(openFirst bool) error {
	if openFirst {
		if _, err := region.Open("", "", "10.0.0.1/16"); err != nil {
			return err
		}
	}
	return region.Probe()
}

// findings are the commands' outputs by name. The region's process writes them and
// the test outside reads them.
type findings map[string]string

// runInRegion does the work of the region's process: it boots two machines, runs
// commands on them and writes its findings.
func runInRegion(dir string) error {
	listeners, reportUp, err := region.Inherited()
	if err != nil {
		return err
	}
	r, err := region.Open(filepath.Join(dir, "machines"), filepath.Join(dir, "machined"), "10.0.0.1/16")
	if err != nil {
		return err
	}
	ctx := context.Background()
	f := findings{}
	for i, name := range []string{"a", "b"} {
		spec := machine.Spec{
			Name: name, Hostname: fmt.Sprintf("ip-10-0-1-%d", i+1), Domain: "ec2.internal", Gateway: "10.0.0.1",
			Addresses: []string{fmt.Sprintf("10.0.1.%d/16", i+1)},
			Users: []machine.User{
				{Name: "hadoop", UID: 1001, GID: 1001, Home: "/home/hadoop", Groups: []string{machine.AdminGroup}},
				{Name: "yarn", UID: 1002, GID: 1002, Home: "/var/lib/hadoop-yarn"},
				{Name: machine.AdminGroup, UID: 10, GID: 10, Home: "/"},
			},
			Hosts: map[string][]string{"10.0.1.1": {"ip-10-0-1-1"}, "10.0.1.2": {"ip-10-0-1-2"}},
			Env:   map[string]string{"AWS_REGION": "us-east-1"},
			Metadata: machine.Metadata{InstanceID: "i-" + name, Region: "us-east-1", RoleCredentials: machine.RoleCredentials{
				RoleName: "ec2", AccessKeyID: "k", SecretAccessKey: "s",
			}},
		}
		if _, err := r.Boot(ctx, spec); err != nil {
			return err
		}
	}
	a, _ := r.Machine("a")
	b, _ := r.Machine("b")
	unit := "[Service]\nExecStart=/usr/bin/python3 -m http.server 8000 --directory /etc\nUser=yarn\nRestart=always\n"
	if err := os.WriteFile(filepath.Join(b.Root, "etc/systemd/system/web.service"), []byte(unit), 0o600); err != nil {
		return err
	}
	probe := func(key string, m *region.Machine, user, script string) {
		res, err := m.Run(ctx, machine.Exec{Argv: []string{"bash", "-c", script}, User: user})
		f[key] = strings.TrimSpace(res.Tail)
		if err != nil || res.ExitCode != 0 {
			f[key] = fmt.Sprintf("exit %d %v %s", res.ExitCode, err, f[key])
		}
	}
	probe("hostname", a, "", "hostname")
	probe("who", a, "hadoop", "id -un")
	probe("sudo", a, "hadoop", "sudo id -u; echo in | sudo tee /opt/x; sudo -u yarn id -un")
	probe("sudo-yarn", a, "yarn", "sudo id -u")
	probe("start", b, "hadoop", "sudo systemctl enable --now web && systemctl is-active web")
	probe("peer", a, "", `for i in $(seq 100); do
		(exec 3<>/dev/tcp/ip-10-0-1-2/8000 && printf 'GET /hostname HTTP/1.0\r\n\r\n' >&3 && tail -1 <&3) 2>/dev/null && break
		sleep 0.1
	done`)
	probe("imds", a, "hadoop", `
		t=$(curl -sX PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 60')
		curl -s -H "X-aws-ec2-metadata-token: $t" http://169.254.169.254/latest/meta-data/instance-id`)
	probe("imds-v1", a, "hadoop", `curl -so /dev/null -w '%{http_code}' http://169.254.169.254/latest/meta-data/instance-id`)
	probe("usr", a, "", "touch /usr/share/x 2>&1 | grep -c 'Read-only'")
	probe("processes", a, "", "ls /proc | grep -c '^[0-9]'")
	probe("java", a, "hadoop", "java -version 2>&1 | head -1")
	for _, name := range []string{"lost", "successor"} { // at the same address
		r.Stop("lost")
		if _, err := r.Boot(ctx, machine.Spec{Name: name, Hostname: name, Gateway: "10.0.0.1", Addresses: []string{"10.0.1.3/16"}}); err != nil {
			return err
		}
		probe(name, a, "", "timeout 3 bash -c 'exec 3<>/dev/tcp/10.0.1.3/9' 2>&1 | grep -o refused | head -1")
	}
	go machine.Relay(listeners["web"], func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", b.Address()+":8000")
	})
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "findings.json"), raw, 0o600); err != nil {
		return err
	}
	if err := reportUp(); err != nil {
		return err
	}
	select {}
}

func TestMachinesBehaveLikeInstances(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "machined"), "../machine/machined")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	t.Setenv(stateEnv, dir)
	pid, err := region.Spawn(filepath.Join(dir, "machined"), []string{os.Args[0]}, map[string]net.Listener{"web": l}, log, time.Minute)
	text, _ := os.ReadFile(log.Name())
	require.NoError(t, err, string(text))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })

	raw, err := os.ReadFile(filepath.Join(dir, "findings.json"))
	require.NoError(t, err)
	var f findings
	require.NoError(t, json.Unmarshal(raw, &f))
	t.Log(string(raw))
	require.Equal(t, "ip-10-0-1-1", f["hostname"])
	require.Equal(t, "hadoop", f["who"])
	require.Equal(t, "ip-10-0-1-2", f["peer"], "a reaches b by name")
	require.Equal(t, "active", f["start"])
	require.Equal(t, "refused", f["lost"])
	require.Equal(t, "refused", f["successor"], "the neighbours of a lost machine find its successor at once")
	require.Equal(t, "i-a", f["imds"])
	require.Equal(t, "401", f["imds-v1"], "only IMDSv2 is answered")
	require.Contains(t, f["usr"], "1", "/usr is read-only")
	require.Contains(t, f["java"], "version")
	if region.Privileged() {
		require.Equal(t, "0\nin\nyarn", f["sudo"])
		require.Contains(t, f["sudo-yarn"], "password is required")
	} else {
		require.Equal(t, "0\nin\nhadoop", f["sudo"], "with a single uid, every process is shown as the first account")
	}

	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err, "an inherited listener is forwarded into the region")
	_, err = conn.Write([]byte("GET /hostname HTTP/1.0\r\nHost: localhost\r\n\r\n"))
	require.NoError(t, err)
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	require.NoError(t, err)
	require.Contains(t, string(buf[:n]), "200 OK")
}
