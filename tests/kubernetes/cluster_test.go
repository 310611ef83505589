// Package kubernetes_test checks the program's certificate authorities, kubeconfig,
// Kubernetes objects and the rights of its workloads against a real kube-apiserver of
// K3s's minor release, and in make test-long the whole stack with pulumi-kubernetes' own
// plugin, Kubernetes' controllers and KWOK. There is no kubelet, so no container runs
// here; the local cloud runs them.
package kubernetes_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	mrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// loopback returns a random loopback address, so that each cluster's API server can
// use its real port.
func loopback() string {
	return fmt.Sprintf("127.%d.%d.%d", 64+mrand.IntN(128), mrand.IntN(256), 1+mrand.IntN(254))
}

// process is a running server.
type process struct {
	command *exec.Cmd
	exited  <-chan struct{} // closed once it has
	log     string          // path
}

// startServer starts a server, which it builds at the first use, and kills it when the
// test ends.
func startServer(t *testing.T, name string, args ...string) process {
	t.Helper()
	log := filepath.Join(t.TempDir(), name+".log")
	out, err := os.Create(log)
	require.NoError(t, err)
	cmd := exec.Command(buildServer(t, name), args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	p := process{cmd, done, log}
	t.Cleanup(func() {
		p.kill()
		require.NoError(t, out.Close())
	})
	return p
}

// kill ends the server and waits for that.
func (p process) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

// tail returns the end of the server's log.
func (p process) tail() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-3000):])
}

// buildServer returns the path of a server's binary.
func buildServer(t *testing.T, name string) string {
	t.Helper()
	path, err := servers.Build(t.Context(), name, func(server, message string, elapsed time.Duration) {
		t.Logf("%s: %s (%s)", server, message, elapsed.Round(time.Second))
	})
	require.NoError(t, err)
	return path
}

// apiServer is the API server of a program's control node.
type apiServer struct {
	process
	program program
	args    []string
	store   process
}

// startAPI starts the API server as K3s does on a node with the program's user data
// and parameters, and returns once the program's gate command succeeds.
func startAPI(t *testing.T, p program) *apiServer {
	t.Helper()
	dir := t.TempDir()
	tlsDir := filepath.Join(dir, "tls")
	require.NoError(t, os.Mkdir(tlsDir, 0o700))
	for name, content := range p.caFiles {
		require.NoError(t, os.WriteFile(filepath.Join(tlsDir, name), []byte(content), 0o600))
	}
	tlsFile := func(file string) string { return filepath.Join(tlsDir, file) }
	cert, key := servingCertificate(t, tlsFile("server-ca.crt"), tlsFile("server-ca.key"), p.k3s.TLSSAN)
	require.NoError(t, os.WriteFile(tlsFile("serving.crt"), cert, 0o600))
	require.NoError(t, os.WriteFile(tlsFile("serving.key"), key, 0o600))
	_, service := newKey(t)
	require.NoError(t, os.WriteFile(tlsFile("service.key"), service, 0o600))

	store := "http://" + net.JoinHostPort(p.k3s.NodeIP, "2379")
	peers := "http://" + net.JoinHostPort(p.k3s.NodeIP, "2380")
	a := &apiServer{program: p}
	a.store = startServer(t, servers.Etcd, "--name=test", "--data-dir="+filepath.Join(dir, "etcd"), "--log-level=warn",
		"--unsafe-no-fsync",
		"--listen-client-urls="+store, "--advertise-client-urls="+store,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=test="+peers)
	a.args = append(k3sFlags(p.k3s),
		"--etcd-servers="+store, fmt.Sprintf("--secure-port=%d", platform.KubernetesAPI), "--bind-address="+p.k3s.NodeIP,
		"--client-ca-file="+tlsFile("client-ca.crt"), "--requestheader-client-ca-file="+tlsFile("request-header-ca.crt"),
		"--tls-cert-file="+tlsFile("serving.crt"), "--tls-private-key-file="+tlsFile("serving.key"),
		"--service-account-key-file="+tlsFile("service.key"), "--service-account-signing-key-file="+tlsFile("service.key"),
		"--cert-dir="+dir, "--advertise-address=10.0.0.5", "--endpoint-reconciler-type=none")
	a.start(t)
	return a
}

// start starts the API server on its store, also after a kill.
func (a *apiServer) start(t *testing.T) {
	t.Helper()
	a.process = startServer(t, servers.KubeAPIServer, a.args...)
	if err := runGate(t, a.program, a.exited); err != nil {
		require.NoError(t, err, "%s\n%s", a.store.tail(), a.tail())
	}
}

// k3sFlags returns the flags that K3s sets for its API server (k3s-io/k3s
// pkg/daemons/control/server.go, apiServer) and that affect what it accepts, with
// the node's configuration applied.
func k3sFlags(c k3sConfig) []string {
	flags := []string{
		"--anonymous-auth=false", "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true", "--service-cluster-ip-range=10.43.0.0/16", "--profiling=false",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--requestheader-allowed-names=system:auth-proxy",
	}
	if c.NodePorts != "" {
		flags = append(flags, "--service-node-port-range="+c.NodePorts)
	}
	return flags
}

// runGate runs the recorded command with which the program waits for the API server.
func runGate(t *testing.T, p program, exited <-chan struct{}) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case <-exited: // the API server cannot become ready any more
		case <-ctx.Done():
		}
		cancel()
	}()
	gate := exec.CommandContext(ctx, p.gate.interpreter[0], append(p.gate.interpreter[1:], p.gate.create)...)
	gate.Env = os.Environ()
	for k, v := range p.gate.environment {
		gate.Env = append(gate.Env, k+"="+v)
	}
	gate.Env = append(gate.Env, boot.GateDeadlineSeconds+"=300", boot.GatePauseSeconds+"=1") // the last value of a variable wins
	out, err := gate.CombinedOutput()
	if err != nil {
		return fmt.Errorf("gate: %w: %s", err, out)
	}
	return nil
}

// newKey generates an EC key; the second result is the key in PEM.
func newKey(t *testing.T) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// servingCertificate creates the API server's certificate and key as K3s does: signed
// by the CA, for the addresses of tls-san.
func servingCertificate(t *testing.T, caCert, caKey string, sans []string) (cert, key []byte) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(caCert, caKey)
	require.NoError(t, err, "the parameters must hold a CA certificate and its key")
	private, key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, san := range sans {
		ip := net.ParseIP(san)
		require.NotNil(t, ip, san)
		template.IPAddresses = append(template.IPAddresses, ip)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, pair.Leaf, &private.PublicKey, pair.PrivateKey)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key
}
