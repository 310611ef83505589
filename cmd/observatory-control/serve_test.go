package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServeStopsWithItsContext(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	blocker, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := blocker.Addr().String()
	require.ErrorContains(t, serve(t.Context(), address, handler), "serve on "+address)
	require.NoError(t, blocker.Close())
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, address, handler) }()
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + address)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-served)
}

// Invalid configuration is rejected before anything listens.
func TestCommandsRejectInvalidConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status.json")
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	serveCmd := serveCommand()
	serveCmd.SetArgs([]string{"--config", file})
	require.ErrorContains(t, serveCmd.ExecuteContext(t.Context()), "control.privateIp")
	redeliverCmd := redeliverCommand()
	redeliverCmd.SetArgs([]string{"--store", "tempo=tempo:4321"})
	require.ErrorContains(t, redeliverCmd.ExecuteContext(t.Context()), "must be name=http://host:port")
}
