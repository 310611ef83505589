package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// k3sConfig is where K3s reads its configuration.
const k3sConfig = "/etc/rancher/k3s/config.yaml"

// serveReadiness serves the readiness check of a Kubernetes API, with the two CAs that
// the boot script installed: one signs the server's certificate, the other its
// clients'. The local cloud needs no more of K3s: the Kubernetes provider runs the
// workloads.
func serveReadiness(config string) error {
	raw, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	var c struct {
		DataDir string   `json:"data-dir"`
		SANs    []string `json:"tls-san"`
	}
	if err := yaml.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	dir := filepath.Join(c.DataDir, "server", "tls")
	cert, err := newServerCertificate(dir, c.SANs)
	if err != nil {
		return err
	}
	clients := x509.NewCertPool()
	pem, err := os.ReadFile(filepath.Join(dir, "client-ca.crt"))
	if err != nil {
		return fmt.Errorf("client CA: %w", err)
	}
	if !clients.AppendCertsFromPEM(pem) {
		return fmt.Errorf("client CA in %s: no PEM certificate", dir)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	server := &http.Server{
		Addr: fmt.Sprintf(":%d", platform.KubernetesAPI), Handler: mux, ReadHeaderTimeout: 5 * time.Second,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{cert}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
			MinVersion: tls.VersionTLS12,
		},
	}
	return server.ListenAndServeTLS("", "")
}

// newServerCertificate creates a server certificate signed by the CA in dir, as K3s
// does.
func newServerCertificate(dir string, sans []string) (tls.Certificate, error) {
	caPair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server-ca.crt"), filepath.Join(dir, "server-ca.key"))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("server CA: %w", err)
	}
	caCert, err := x509.ParseCertificate(caPair.Certificate[0])
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "k3s"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"kubernetes", "localhost"},
	}
	for _, s := range sans {
		if ip := net.ParseIP(s); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, s)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, caCert, &key.PublicKey, caPair.PrivateKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der, caPair.Certificate[0]}, PrivateKey: key}, nil
}
