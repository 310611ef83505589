// Package kubernetes_test lets a real kube-apiserver of K3s's minor release
// judge what the program gives the control node: its certificate authorities
// and kubeconfig, its Kubernetes objects, the rights of its workloads. There is
// no kubelet and no controller: no pod runs here (the local cloud runs them).
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
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
)

// loopback gives an address of this machine for one cluster alone, so that the
// API server can have its real port.
func loopback() string {
	return fmt.Sprintf("127.%d.%d.%d", 64+mrand.IntN(128), mrand.IntN(256), 1+mrand.IntN(254))
}

// server builds, the first time, and starts one of the two servers; the test
// ends it. The channel closes when it has ended.
func server(t *testing.T, name string, args ...string) (ended <-chan struct{}, log string) {
	t.Helper()
	path, err := servers.Build(t.Context(), name, func(server, message string, elapsed time.Duration) {
		t.Logf("%s: %s (%s)", server, message, elapsed.Round(time.Second))
	})
	require.NoError(t, err)
	log = filepath.Join(t.TempDir(), name+".log")
	out, err := os.Create(log)
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
		require.NoError(t, out.Close())
	})
	return done, log
}

// start runs the API as K3s would on the node that got the program's user data
// and parameters, and returns once the program's own gate is open.
func start(t *testing.T, p program) {
	t.Helper()
	dir := t.TempDir()
	tlsDir := filepath.Join(dir, "tls")
	require.NoError(t, os.Mkdir(tlsDir, 0o700))
	for file, content := range p.authorities {
		require.NoError(t, os.WriteFile(filepath.Join(tlsDir, file), []byte(content), 0o600))
	}
	at := func(file string) string { return filepath.Join(tlsDir, file) }
	cert, key := leaf(t, at("server-ca.crt"), at("server-ca.key"), p.k3s.TLSSAN)
	require.NoError(t, os.WriteFile(at("serving.crt"), cert, 0o600))
	require.NoError(t, os.WriteFile(at("serving.key"), key, 0o600))
	_, service := newKey(t)
	require.NoError(t, os.WriteFile(at("service.key"), service, 0o600))

	store := "http://" + net.JoinHostPort(p.k3s.NodeIP, "2379")
	peers := "http://" + net.JoinHostPort(p.k3s.NodeIP, "2380")
	_, etcdLog := server(t, servers.Etcd, "--name=test", "--data-dir="+filepath.Join(dir, "etcd"), "--log-level=warn", "--unsafe-no-fsync",
		"--listen-client-urls="+store, "--advertise-client-urls="+store,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=test="+peers)
	ended, log := server(t, servers.KubeAPIServer, append(k3sFlags(p.k3s),
		"--etcd-servers="+store, fmt.Sprintf("--secure-port=%d", platform.KubernetesAPI), "--bind-address="+p.k3s.NodeIP,
		"--client-ca-file="+at("client-ca.crt"), "--requestheader-client-ca-file="+at("request-header-ca.crt"),
		"--tls-cert-file="+at("serving.crt"), "--tls-private-key-file="+at("serving.key"),
		"--service-account-key-file="+at("service.key"), "--service-account-signing-key-file="+at("service.key"),
		"--cert-dir="+dir, "--advertise-address=10.0.0.5", "--endpoint-reconciler-type=none")...)

	if err := openGate(t, p, ended); err != nil {
		said := ""
		for _, file := range []string{etcdLog, log} {
			text, _ := os.ReadFile(file)
			said += "\n" + string(text[max(0, len(text)-3000):])
		}
		require.NoError(t, err, said)
	}
}

// k3sFlags are those that K3s gives its API server by itself (k3s-io/k3s
// pkg/daemons/control/server.go, apiServer) and that decide what it accepts,
// and what the node's configuration changes of them.
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

// openGate runs the command that the program waits with, as it was recorded.
func openGate(t *testing.T, p program, ended <-chan struct{}) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case <-ended: // nobody is left to wait for
		case <-ctx.Done():
		}
		cancel()
	}()
	gate := exec.CommandContext(ctx, p.gate.interpreter[0], append(p.gate.interpreter[1:], p.gate.create)...)
	gate.Env = os.Environ()
	for k, v := range p.gate.environment {
		gate.Env = append(gate.Env, k+"="+v)
	}
	gate.Env = append(gate.Env, boot.GateDeadlineSeconds+"=120", boot.GatePauseSeconds+"=1") // of two, the later holds
	out, err := gate.CombinedOutput()
	if err != nil {
		return fmt.Errorf("gate: %w: %s", err, out)
	}
	return nil
}

// newKey is a fresh EC key and its PEM text.
func newKey(t *testing.T) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

// leaf is the API server's certificate, signed as K3s signs it: by the given
// authority, for the addresses of tls-san.
func leaf(t *testing.T, caCert, caKey string, sans []string) (cert, key []byte) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(caCert, caKey)
	require.NoError(t, err, "the parameters must hold an authority and its key")
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
