// Package reach_test runs the program's gate where only public addresses have a
// route: on the workstation of a local cloud's internet.
package reach_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/command"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

var openInternet = sync.OnceValues(internet.Open)

const elasticIP = "203.0.113.7"

// certificate returns a certificate for the Elastic IP and the private address, which
// has signed itself, as PEM.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	own := issuer.SelfSigned(t, x509.Certificate{
		Subject: pkix.Name{CommonName: "api"},
		IsCA:    true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.ParseIP(elasticIP), net.ParseIP(regiontest.Gateway)},
	})
	return own.Server, own.Key
}

// serveAPI serves /readyz at the Kubernetes port of a private address.
func serveAPI(t *testing.T, cert, key string) netip.AddrPort {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	require.NoError(t, err)
	l, err := tls.Listen("tcp", fmt.Sprintf("%s:%d", regiontest.Gateway, platform.KubernetesAPI), &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert,
	})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: mux}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
	return netip.MustParseAddrPort(l.Addr().String())
}

// The gate passes where operatorCidrs has the workstation's address, and says what is
// missing where it has not, or where the program would have to run inside the VPC.
func TestGateOnAWorkstation(t *testing.T) {
	regiontest.Region(t)
	outside, err := openInternet()
	require.NoError(t, err)
	cert, key := certificate(t)
	api := serveAPI(t, cert, key)
	gate := func(operators, host string) (string, error) {
		require.NoError(t, outside.Map([]internet.Address{{
			Public: netip.MustParseAddr(elasticIP), Private: api.Addr(),
			Admitted: []internet.Admission{{First: api.Port(), Last: api.Port(), Source: netip.MustParsePrefix(operators)}},
		}}))
		out, log, err := command.Shell{Start: outside.Start}.Run(t.Context(), command.Line{
			Text: controlnode.Gate(), Interpreter: []string{"/bin/sh", "-c"}, Environment: map[string]string{
				controlnode.GateAPIServer: controlnode.APIServer(host), controlnode.GateHint: "or the hint",
				controlnode.GateServerCA: cert, controlnode.GateClientCertificate: cert, controlnode.GateClientKey: key,
				controlnode.GateDeadlineSeconds: "0", controlnode.GatePauseSeconds: "0",
			},
		})
		return out + log, err
	}
	_, cfg, err := config.ReadStackFile(trial.Root(t), "local")
	require.NoError(t, err)
	require.Len(t, cfg.OperatorCIDRs, 1)
	out, err := gate(cfg.OperatorCIDRs[0], elasticIP)
	require.NoError(t, err, out)
	require.Equal(t, "ready\n", out)
	out, err = gate("198.51.100.0/24", elasticIP)
	require.Error(t, err)
	require.Contains(t, out, "was not ready after")
	require.Contains(t, out, "It still boots, or the hint")
	out, err = gate(cfg.OperatorCIDRs[0], regiontest.Gateway)
	require.Error(t, err)
	require.Contains(t, out, "It still boots, or the hint")
}
