package controlnode_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/assets/controlnode"
)

// ca is a certificate authority.
type ca struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newCA(t *testing.T, name string) ca {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return ca{t, cert, key}
}

func (a ca) pem() string { return pemOf("CERTIFICATE", a.cert.Raw) }

// issue signs a certificate for 127.0.0.1 and returns it with its key as PEM.
func (a ca) issue(name string, usage x509.ExtKeyUsage) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{usage}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, a.cert, &private.PublicKey, a.key)
	require.NoError(a.t, err)
	b, err := x509.MarshalECPrivateKey(private)
	require.NoError(a.t, err)
	return pemOf("CERTIFICATE", der), pemOf("EC PRIVATE KEY", b)
}

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// serveAPI starts a server that checks certificates as the Kubernetes API does, and
// is ready from the third request on.
func serveAPI(t *testing.T, server, client ca) *httptest.Server {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(client.cert)
	var requests atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		options := x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		switch {
		case r.URL.Path != "/readyz":
			w.WriteHeader(http.StatusNotFound)
		case len(r.TLS.PeerCertificates) == 0:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			if _, err := r.TLS.PeerCertificates[0].Verify(options); err != nil {
				w.WriteHeader(http.StatusUnauthorized)
			} else if requests.Add(1) < 3 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}))
	cert, key := server.issue("api", x509.ExtKeyUsageServerAuth)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	require.NoError(t, err)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// runGate runs the script, which must leave nothing in its temporary folder.
func runGate(t *testing.T, url string, trusted, client ca, deadline string) (string, error) {
	t.Helper()
	cert, key := client.issue("admin", x509.ExtKeyUsageClientAuth)
	tmp := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", controlnode.Gate())
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp,
		controlnode.GateAPIServer+"="+url, controlnode.GateServerCA+"="+trusted.pem(),
		controlnode.GateClientCertificate+"="+cert, controlnode.GateClientKey+"="+key,
		controlnode.GateDeadlineSeconds+"="+deadline, controlnode.GatePauseSeconds+"=0",
		controlnode.GateHint+"=or no tunnel is open")
	out, err := cmd.CombinedOutput()
	left, readErr := os.ReadDir(tmp)
	require.NoError(t, readErr)
	require.Empty(t, left, "key material in the temporary folder")
	require.NotContains(t, string(out), "BEGIN")
	return string(out), err
}

func TestGateReturnsWhenAPIIsReady(t *testing.T) {
	server, client := newCA(t, "server"), newCA(t, "client")
	out, err := runGate(t, serveAPI(t, server, client).URL, server, client, "60")
	require.NoError(t, err, out)
	require.Contains(t, out, "HTTP 500: K3s is still starting")
	require.Contains(t, out, "ready\n")
}

func TestGateReportsReason(t *testing.T) {
	server, client, other := newCA(t, "server"), newCA(t, "client"), newCA(t, "other")
	running := serveAPI(t, server, client)
	const closed = "https://127.0.0.1:1" // no other test listens on such a port
	for name, c := range map[string]struct {
		url             string
		trusted, client ca
		reason          string
	}{
		"server certificate of another CA": {running.URL, other, client, "its certificate is not signed by this stack's CA"},
		"client certificate of another CA": {running.URL, server, other, "rejects the administrator's certificate"},
		"nobody listens":                   {closed, server, client, "no connection"},
		"nobody listens, how to":           {closed, server, client, "It still boots, or no tunnel is open"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runGate(t, c.url, c.trusted, c.client, "0")
			require.Error(t, err)
			require.Contains(t, out, "was not ready after")
			require.Contains(t, out, c.reason)
		})
	}
}

func TestKubeconfigAuthenticates(t *testing.T) {
	server, client := newCA(t, "server"), newCA(t, "client")
	cert, key := client.issue("admin", x509.ExtKeyUsageClientAuth)
	text, err := controlnode.Kubeconfig(controlnode.Credentials{
		APIServer: controlnode.APIServer("10.0.1.10"), ServerCA: server.pem(), ClientCertificate: cert, ClientKey: key,
	})
	require.NoError(t, err)
	var k struct {
		CurrentContext string `json:"current-context"`
		Clusters       []struct {
			Name    string
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct {
			Name string
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			}
		}
		Contexts []struct {
			Name    string
			Context struct{ Cluster, User string }
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(text), &k))
	require.Equal(t, "https://10.0.1.10:6443", k.Clusters[0].Cluster.Server)
	require.Equal(t, server.pem(), string(k.Clusters[0].Cluster.CA))
	_, err = tls.X509KeyPair(k.Users[0].User.Certificate, k.Users[0].User.Key)
	require.NoError(t, err)
	require.Equal(t, k.CurrentContext, k.Contexts[0].Name)
	require.Equal(t, k.Clusters[0].Name, k.Contexts[0].Context.Cluster)
	require.Equal(t, k.Users[0].Name, k.Contexts[0].Context.User)
}
