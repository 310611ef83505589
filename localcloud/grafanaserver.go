package localcloud

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

// GrafanaServer is a Grafana that is installed on this machine. The zero value is none:
// no package registry has the server.
type GrafanaServer struct {
	Home    string // its folder, with conf and public
	Binary  string
	Plugins string // folder of its plugins; "" without one
}

// Installed reports whether there is one.
func (g GrafanaServer) Installed() bool { return g.Binary != "" }

// grafanaProgram is Grafana's executable.
const grafanaProgram = "grafana"

// FindGrafana returns the Grafana on PATH, or none. It fails if there is an executable
// whose home folder is not found.
func FindGrafana() (GrafanaServer, error) {
	found, err := exec.LookPath(grafanaProgram)
	if errors.Is(err, exec.ErrNotFound) {
		return GrafanaServer{}, nil
	}
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	if err != nil {
		return GrafanaServer{}, fmt.Errorf("find Grafana on PATH: %w", err)
	}
	prefix := filepath.Dir(filepath.Dir(found))
	// An archive has bin, conf and public in one folder; packages put the last two below
	// share, and a script that changes the user on PATH.
	homes := []string{prefix, filepath.Join(prefix, "share", grafanaProgram), filepath.Join("/usr/share", grafanaProgram)}
	for _, home := range homes {
		if !exists(filepath.Join(home, "conf/defaults.ini")) {
			continue
		}
		g := GrafanaServer{Home: home, Binary: found}
		if own := filepath.Join(home, "bin", grafanaProgram); exists(own) {
			g.Binary = own
		}
		for _, plugins := range []string{"/var/lib/grafana/plugins", filepath.Join(home, "data/plugins")} {
			if g.Plugins == "" && exists(plugins) {
				g.Plugins = plugins
			}
		}
		return g, nil
	}
	return GrafanaServer{}, fmt.Errorf("find the home of %s: none of %q has conf/defaults.ini", found, homes)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Where the folders of an installed Grafana appear in its pod.
const (
	grafanaHome    = "/opt/grafana"
	grafanaPlugins = "/opt/grafana-plugins"
)

// image returns what runs instead of Grafana's image: the installed server with its own
// plugins, since a pod here reaches no internet to install one from; or a stand-in at
// the node's port (serveGrafana).
func (g GrafanaServer) image() kube.Image {
	if !g.Installed() {
		return kube.Image{
			Absent: "no `grafana` is on PATH, and no package registry has the server; " +
				"`observatory dashboards check` checks the dashboards",
			StandIn: servicesHost,
		}
	}
	image := kube.Image{
		Binary: g.Binary, Entrypoint: []string{"/opt/grafana-server"}, Cmd: []string{"server", "--homepath", grafanaHome},
		Binds: []machine.Bind{{From: g.Home, To: grafanaHome, ReadOnly: true}},
		Env:   map[string]string{platform.EnvGrafanaPreinstall: ""},
	}
	if g.Plugins != "" {
		image.Binds = append(image.Binds, machine.Bind{From: g.Plugins, To: grafanaPlugins, ReadOnly: true})
		image.Env[platform.EnvGrafanaPlugins] = grafanaPlugins
	}
	return image
}

// grafanaServer describes Grafana at the control node's port, as an operator's browser
// reaches it.
func (c *cloud) grafanaServer() forwarder.Options {
	return forwarder.Options{
		Name: string(platform.WorkloadGrafana), Dial: c.internet.Dial, Log: c.log,
		Access: func() (forwarder.Access, error) {
			return c.access(platform.WorkloadGrafana, platform.Grafana, platform.GrafanaUser)
		},
	}
}
