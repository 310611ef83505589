package main

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The password comes from a file, stdin or the environment, never from an argument.
func TestStatusOfAPlatformOnAWS(t *testing.T) {
	const password = "correct-horse-battery"
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, given, _ := r.BasicAuth(); user != "observatory" || given != password {
			http.Error(w, "log in", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"schemaVersion": 1, "control": {"privateIp": "10.0.0.4"}}`))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		return file
	}
	ca := write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	file, empty := write("password", []byte(password+"\n")), write("empty", nil)
	absent := filepath.Join(dir, "absent")
	for name, test := range map[string]struct {
		stdin, environment string
		args               []string
		want               string // "" = the status
	}{
		"file":             {"", "", []string{"--ca-certificate", ca, "--password-file", file}, ""},
		"stdin":            {password + "\n", "", []string{"--ca-certificate", ca, "--password-file", "-"}, ""},
		"environment":      {"", password, []string{"--ca-certificate", ca}, ""},
		"file wins":        {"", "wrong-horse-battery", []string{"--ca-certificate", ca, "--password-file", file}, ""},
		"no password":      {"", "", []string{"--ca-certificate", ca}, "--password-file FILE or OBSERVATORY_STATUS_PASSWORD"},
		"no authority":     {"", password, nil, "--ca-certificate FILE"},
		"absent authority": {"", password, []string{"--ca-certificate", absent}, "pulumi stack output caCertificate"},
		"absent file":      {"", "", []string{"--password-file", absent}, "pulumi stack output statusPassword --show-secrets"},
		"empty file":       {"", "", []string{"--password-file", empty}, "empty: must hold the password of observatory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(envStatusPassword, test.environment)
			command := statusCommand(&settings{})
			var out bytes.Buffer
			command.SetIn(strings.NewReader(test.stdin))
			command.SetOut(&out)
			command.SetErr(&out)
			command.SetArgs(append([]string{"--url", server.URL}, test.args...))
			err := command.ExecuteContext(t.Context())
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Contains(t, out.String(), "control node 10.0.0.4")
		})
	}
}
