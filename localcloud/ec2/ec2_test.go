package ec2_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

// testTimeout bounds what is waited for; nothing should come near it.
const testTimeout = testenv.Arrival

var addresses atomic.Int32

// service is an EC2 of the test's own, with one network interface.
type service struct {
	*ec2.Service
	t         *testing.T
	instances []string
	networkIf string
	log       *logBuffer
}

type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *logBuffer) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *logBuffer) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// roleCredentials returns credentials for the only instance profile.
func roleCredentials(_ context.Context, profile string) (machine.RoleCredentials, error) {
	if profile != "control" {
		return machine.RoleCredentials{}, fmt.Errorf("instance profile %q does not exist", profile)
	}
	return machine.RoleCredentials{RoleName: "the-role", AccessKeyID: "AKIATEST", SecretAccessKey: "the-role's-secret"}, nil
}

// newService opens a service with one network interface.
func newService(t *testing.T, change ...func(*ec2.Service)) *service {
	t.Helper()
	log := &logBuffer{}
	s := &ec2.Service{
		Region: regiontest.Region(t), Dir: t.TempDir(), Applications: t.TempDir(), Machined: regiontest.Machined(),
		AWSRegion: "us-east-1", AccountID: "123456789012", Gateway: regiontest.Gateway, Prefix: regiontest.Prefix,
		Credentials: roleCredentials, PrepareCLI: applications.WriteCLI,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}
	for _, f := range change {
		f(s)
	}
	require.NoError(t, s.Open(t.Context()))
	n := addresses.Add(1)
	id := fmt.Sprintf("eni-%d", n)
	require.NoError(t, s.PutInterface(id, ec2.Interface{Address: fmt.Sprintf("10.0.1.%d", n)}))
	out := &service{Service: s, t: t, networkIf: id, log: log}
	t.Cleanup(func() {
		for _, i := range out.instances {
			require.NoError(t, s.Terminate(i))
		}
	})
	return out
}

// launch boots an instance, waits for its user data, and returns its failure.
func (s *service) launch(id, userData string) (*region.Machine, error) {
	s.t.Helper()
	s.instances = append(s.instances, id)
	require.NoError(s.t, s.Run(s.t.Context(), ec2.Launch{
		ID: id, Type: "t3.large", InterfaceID: s.networkIf, Profile: "control", UserData: userData,
	}))
	ctx, cancel := context.WithTimeout(s.t.Context(), testTimeout.Scaled())
	defer cancel()
	m, ok := s.Region.Machine(id)
	require.True(s.t, ok)
	return m, s.AwaitUserData(ctx, id)
}

// sh runs a script on a machine and returns its output.
func sh(t *testing.T, m *region.Machine, script string) string {
	t.Helper()
	res, err := m.Run(t.Context(), machine.Exec{Argv: []string{"bash", "-c", script}})
	require.NoError(t, err)
	require.Zero(t, res.ExitCode, "%s: %s", script, res.Tail)
	return strings.TrimSpace(res.Tail)
}

func TestUserDataRunsAsCloudInitDoes(t *testing.T) {
	s := newService(t)
	m, err := s.launch("i-userdata", `#cloud-config
write_files:
- path: /opt/greet.sh
  permissions: "0750"
  content: |
    #!/bin/sh
    echo "hello $1"
runcmd:
- [/opt/greet.sh, "it's one word"]
- exit_code=1; [ $exit_code = 0 ]
- cd /etc
- pwd > /tmp/where
`)
	require.NoError(t, err, "only the last command's failure is the script's")
	require.Equal(t, "750", sh(t, m, "stat -c %a /opt/greet.sh"))
	require.Equal(t, "hello it's one word", sh(t, m, "cat /var/log/cloud-init-output.log"))
	require.Equal(t, "/etc", sh(t, m, "cat /tmp/where"), "runcmd is one script")
	require.Equal(t, "t3.large", sh(t, m, `
		t=$(curl -sX PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 60')
		curl -s -H "X-aws-ec2-metadata-token: $t" http://169.254.169.254/latest/meta-data/instance-type`))
}

func TestFailedCommandIsReportedWithItsLog(t *testing.T) {
	s := newService(t)
	m, err := s.launch("i-failing", "#cloud-config\nruncmd:\n- [sh, -c, 'echo no volume >&2; exit 7']\n")
	log := filepath.Join(m.Root, "var/log/cloud-init-output.log")
	require.ErrorContains(t, err, "ended with 7; see "+log)
	require.Contains(t, s.log.String(), "instance=i-failing")
	text, readErr := os.ReadFile(log)
	require.NoError(t, readErr)
	require.Equal(t, "no volume\n", string(text))
}

func TestUnsupportedUserDataIsRefusedBeforeBoot(t *testing.T) {
	s := newService(t)
	for name, c := range map[string]struct {
		data       string
		violations []string
	}{
		"another module": {"#cloud-config\npackages: [git]\n", []string{"packages", "write_files and runcmd only"}},
		"another field":  {"#cloud-config\nwrite_files:\n- path: /x\n  owner: hadoop\n", []string{"owner"}},
		"a script":       {"#!/bin/sh\ntrue\n", []string{"#cloud-config"}},
		"every violation": {"#cloud-config\nwrite_files:\n- path: x\n  encoding: gz\n  permissions: rw\nruncmd:\n- 7\n", []string{
			`write_files[0].path: "x"`, `write_files[0].encoding: "gz"`, `write_files[0].permissions: "rw"`, "runcmd[0]: 7",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.Run(t.Context(), ec2.Launch{ID: "i-refused", InterfaceID: s.networkIf, UserData: c.data})
			for _, f := range c.violations {
				require.ErrorContains(t, err, f)
			}
			_, boots := s.Region.Machine("i-refused")
			require.False(t, boots)
		})
	}
	err := s.Run(t.Context(), ec2.Launch{ID: "i-refused", InterfaceID: "eni-none"})
	require.ErrorContains(t, err, `networkInterfaces[0].networkInterfaceId: "eni-none"`)
}

func TestStateHoldsNoSecret(t *testing.T) {
	s := newService(t)
	_, err := s.launch("i-state", "")
	require.NoError(t, err)
	s.PutParameter("/observatory/ca", "the-parameter")
	raw, err := os.ReadFile(filepath.Join(s.Dir, "ec2.json"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "i-state")
	require.NotContains(t, string(raw), "the-role's-secret")
	require.NotContains(t, string(raw), "the-parameter")
}

func TestInstanceReadsParameters(t *testing.T) {
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	l, err := net.Listen("tcp", regiontest.Gateway+":0")
	require.NoError(t, err)
	defer l.Close()
	s := newService(t, func(s *ec2.Service) {
		s.Applications = tree
		s.Env = map[string]string{"AWS_ENDPOINT_URL_SSM": "http://" + l.Addr().String(), "AWS_DEFAULT_REGION": "us-east-1"}
	})
	go func() { _ = http.Serve(l, s.Parameters()) }()
	s.PutParameter("/observatory/ca", "a\nPEM\n")
	m, err := s.launch("i-reads", "")
	require.NoError(t, err)
	getParameter := func(name string) string {
		return `aws ssm get-parameter --name ` + name + ` --with-decryption --query Parameter.Value --output text 2>&1`
	}
	require.Equal(t, "a\nPEM", sh(t, m, getParameter("/observatory/ca")), "signed with the role's credentials of the metadata service")
	require.Contains(t, sh(t, m, getParameter("/observatory/none")+" || true"), "ParameterNotFound")
	s.DeleteParameter("/observatory/ca")
	require.Contains(t, sh(t, m, getParameter("/observatory/ca")+" || true"), "ParameterNotFound")

	res, err := http.Post("http://"+l.Addr().String(), "application/x-amz-json-1.1", strings.NewReader("{}"))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, string(body), "UnknownOperationException")
}

func TestNodeAddressesRotate(t *testing.T) {
	s := newService(t)
	require.NoError(t, s.PutSubnet("subnet-1", "10.0.16.0/20"))
	seen := map[string]bool{}
	first, err := s.NodeAddress("subnet-1")
	require.NoError(t, err)
	require.Equal(t, "10.0.16.100/16", first)
	for a := first; !seen[a]; {
		seen[a] = true
		a, err = s.NodeAddress("subnet-1")
		require.NoError(t, err)
		prefix, _, cut := strings.Cut(a, "/")
		require.True(t, cut)
		require.True(t, strings.HasPrefix(prefix, "10.0.16."), "%s lies in the subnet", a)
	}
	require.Greater(t, len(seen), 100)
	_, err = s.NodeAddress("subnet-none")
	require.ErrorContains(t, err, `subnet "subnet-none" does not exist`)
}
