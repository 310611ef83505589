package localcloud

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// installed writes the files of an installation, and sets PATH to one of its folders.
func installed(t *testing.T, path string, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, f)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, f), []byte("#!/bin/sh\n"), 0o755))
	}
	t.Setenv("PATH", filepath.Join(root, path))
	return root
}

func TestFindGrafana(t *testing.T) {
	t.Run("archive", func(t *testing.T) {
		root := installed(t, "bin", "bin/grafana", "conf/defaults.ini", "data/plugins/x/plugin.json")
		g, err := FindGrafana()
		require.NoError(t, err)
		require.Equal(t, root, g.Home)
		require.Equal(t, filepath.Join(root, "bin/grafana"), g.Binary)
		image := g.image()
		require.Empty(t, image.Absent)
		require.Empty(t, image.Env[platform.EnvGrafanaPreinstall], "pods reach no internet")
		require.Contains(t, image.Env, platform.EnvGrafanaPreinstall)
		require.Equal(t, "/opt/grafana-plugins", image.Env[platform.EnvGrafanaPlugins])
	})
	t.Run("package", func(t *testing.T) {
		root := installed(t, "sbin", "sbin/grafana", "share/grafana/conf/defaults.ini", "share/grafana/bin/grafana")
		g, err := FindGrafana()
		require.NoError(t, err)
		require.Equal(t, filepath.Join(root, "share/grafana/bin/grafana"), g.Binary, "not the script that changes the user")
	})
	t.Run("link", func(t *testing.T) {
		root := installed(t, "links", "own/bin/grafana", "own/conf/defaults.ini")
		require.NoError(t, os.Mkdir(filepath.Join(root, "links"), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(root, "own/bin/grafana"), filepath.Join(root, "links/grafana")))
		g, err := FindGrafana()
		require.NoError(t, err)
		require.Equal(t, filepath.Join(root, "own"), g.Home)
	})
	t.Run("without a home", func(t *testing.T) {
		installed(t, "bin", "bin/grafana")
		_, err := FindGrafana()
		require.ErrorContains(t, err, "has conf/defaults.ini")
	})
	t.Run("none", func(t *testing.T) {
		installed(t, "bin")
		g, err := FindGrafana()
		require.NoError(t, err)
		require.False(t, g.Installed())
		require.Equal(t, servicesHost, g.image().StandIn)
	})
}

// grafanaStub answers for objects as Grafana's HTTP API reference says.
type grafanaStub struct {
	objects map[string]map[string]any // request bodies by path
}

func (s *grafanaStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); user != platform.GrafanaUser || password != "secret" {
		http.Error(w, "Invalid username or password", http.StatusUnauthorized)
		return
	}
	var body map[string]any
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	path := r.URL.Path
	switch path {
	case "/api/dashboards/db":
		dashboard, _ := body["dashboard"].(map[string]any)
		path = "/api/dashboards/uid/" + dashboard["uid"].(string)
	case "/api/datasources":
		path = "/api/datasources/uid/" + body["uid"].(string)
	case "/api/folders":
		path = "/api/folders/" + body["uid"].(string)
	}
	_, exists := s.objects[path]
	switch {
	case r.Method == http.MethodPost && exists && body["dashboard"] == nil:
		http.Error(w, "exists", http.StatusConflict)
	case r.Method != http.MethodPost && !exists:
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(s.objects, path)
	case body != nil:
		s.objects[path] = body
	}
}

func TestGrafanaIsProvisioned(t *testing.T) {
	stub := &grafanaStub{objects: map[string]map[string]any{}}
	access := accessSecret(t, "203.0.113.7", "secret")
	served := httptest.NewUnstartedServer(stub)
	served.Listener = tls.NewListener(served.Listener, grafanaTLS(func() (map[string][]byte, error) { return access, nil }))
	served.Start()
	t.Cleanup(served.Close)
	password := "secret"
	server := forwarder.Options{
		Name: "grafana",
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, served.Listener.Addr().String())
		},
		Access: func() (forwarder.Access, error) {
			return forwarder.Access{
				Address: "203.0.113.7:3000", CACertificate: access[platform.AccessCertificate],
				User: platform.GrafanaUser, Password: password,
			}, nil
		},
	}
	for token, c := range map[string]struct {
		inputs map[string]any
		path   string
		want   map[string]any
	}{
		"grafana:oss/folder:Folder": {
			map[string]any{"uid": "emr", "title": "EMR"}, "/api/folders/emr",
			map[string]any{"uid": "emr", "title": "EMR", "overwrite": true},
		},
		"grafana:oss/dataSource:DataSource": {
			map[string]any{
				"uid": "metrics", "name": "VictoriaMetrics", "type": "prometheus", "accessMode": "proxy", "isDefault": true,
				"url": "http://victoria-metrics:8428", "jsonDataEncoded": `{"timeInterval":"10s"}`,
			}, "/api/datasources/uid/metrics",
			map[string]any{
				"uid": "metrics", "name": "VictoriaMetrics", "type": "prometheus", "access": "proxy", "isDefault": true,
				"url": "http://victoria-metrics:8428", "jsonData": map[string]any{"timeInterval": "10s"},
			},
		},
		"grafana:oss/dashboard:Dashboard": {
			map[string]any{"configJson": `{"uid":"emr-overview","title":"EMR"}`, "folder": "emr", "message": "m", "overwrite": true},
			"/api/dashboards/uid/emr-overview",
			map[string]any{
				"dashboard": map[string]any{"uid": "emr-overview", "title": "EMR"}, "folderUid": "emr", "message": "m", "overwrite": true,
			},
		},
	} {
		t.Run(token, func(t *testing.T) {
			h := grafanaObject{server: server, kind: grafanaKinds()[token]}
			recorded := simulator.Result{Outputs: resource.NewPropertyMapFromMap(c.inputs)}
			require.NoError(t, h.put(t.Context(), recorded))
			require.Equal(t, c.want, stub.objects[c.path])
			require.NoError(t, h.put(t.Context(), recorded), "replaced")
			exists, err := h.exists(t.Context(), recorded)
			require.NoError(t, err)
			require.True(t, exists)
			request := simulator.Request{Outputs: recorded.Outputs}
			require.NoError(t, h.remove(t.Context(), request))
			require.NoError(t, h.remove(t.Context(), request), "deleted by hand")
			exists, err = h.exists(t.Context(), recorded)
			require.NoError(t, err)
			require.False(t, exists)
			password = "other"
			err = h.put(t.Context(), recorded)
			password = "secret"
			require.ErrorContains(t, err, "401")
			require.ErrorContains(t, err, "Invalid username or password")
		})
	}
}
