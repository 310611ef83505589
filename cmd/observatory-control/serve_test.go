package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/status"
)

// certificate returns a certificate for 127.0.0.1 and its PEM.
func certificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	block := pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	return server.TLS.Certificates[0], pem.EncodeToMemory(&block)
}

func TestServeStopsWithItsContext(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	address := testenv.Address(t)
	blocker, err := net.Listen("tcp", address)
	require.NoError(t, err)
	own, ca := certificate(t)
	require.ErrorContains(t, serve(t.Context(), newServer(address, own, handler)), "serve on "+address)
	require.NoError(t, blocker.Close())
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, newServer(address, own, handler)) }()
	client, err := status.NewClient(ca, "")
	require.NoError(t, err)
	testenv.Eventually(t, func() bool {
		response, err := client.Get("https://" + address)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, testenv.Arrival, 10*time.Millisecond)

	plain, err := http.Get("http://" + address)
	require.NoError(t, err)
	defer plain.Body.Close()
	require.Equal(t, http.StatusBadRequest, plain.StatusCode, "nothing is served in clear")
	old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	_, err = tls.Dial("tcp", address, old)
	require.ErrorContains(t, err, "protocol version")
	stop()
	require.NoError(t, <-served)
}

// Invalid configuration is rejected before anything listens, all of it at once.
func TestCommandsRejectInvalidConfiguration(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	serveCmd := serveCommand()
	serveCmd.SetArgs([]string{
		"--config", write("status.json", "{}"), "--certificate", write("tls.crt", "text"), "--key", write("tls.key", "text"),
		"--password-file", write("password", "\n"), "--ca-certificate", write("ca.crt", "text"),
	})
	err := serveCmd.ExecuteContext(t.Context())
	for _, want := range []string{
		"control.privateIp", "--certificate", "give the files of the Secret status-access", "0 bytes: must have 16 or more",
		"CA certificate: holds no certificate in PEM form",
	} {
		require.ErrorContains(t, err, want)
	}
	absent := serveCommand()
	absent.SetArgs([]string{"--config", write("status.json", "{}"), "--ca-certificate", filepath.Join(dir, "absent")})
	err = absent.ExecuteContext(t.Context())
	require.ErrorContains(t, err, "--password-file")
	require.ErrorContains(t, err, "--ca-certificate")

	redeliverCmd := redeliverCommand()
	redeliverCmd.SetArgs([]string{"--store", "tempo=tempo:4321", "--profiles", "http://pyroscope:4040"})
	require.ErrorContains(t, redeliverCmd.ExecuteContext(t.Context()), "must be name=http://host:port")
}
