package workloadconfig

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

//go:embed templates/*.yaml
var templates embed.FS

// Folders inside each server's container.
const (
	ConfigDir = "/etc/observatory"     // Config.Files, read-only
	DataDir   = "/var/lib/observatory" // what outlives the container
)

// EnvNodeName is the variable that tells a server the name of the Kubernetes
// node it runs on, which becomes the platform.HostName of its own signals.
const EnvNodeName = "NODE_NAME"

// Config is one server's command line, environment and files.
type Config struct {
	Args  []string
	Env   map[string]string
	Files map[string]string // file name in ConfigDir -> content
}

// Memory is what a server's container may use. The server's own limits are
// derived from it, so that it refuses work before the kernel ends it.
type Memory struct{ MiB int }

// share gives percent of the memory in MiB.
func (m Memory) share(percent int) int { return m.MiB * percent / 100 }

// Quantity is the memory as Kubernetes writes it.
func (m Memory) Quantity() string { return fmt.Sprintf("%dMi", m.MiB) }

// MemoryOf gives the container limits, in one table because the servers'
// own limits follow them. 6.75 GiB together: a control node of 8 GiB holds them
// beside K3s.
func MemoryOf(w platform.Workload) Memory {
	return map[platform.Workload]Memory{
		platform.WorkloadCollector:       {MiB: 768},
		platform.WorkloadVictoriaMetrics: {MiB: 1536},
		platform.WorkloadVictoriaLogs:    {MiB: 1024},
		platform.WorkloadTempo:           {MiB: 1024},
		platform.WorkloadPyroscope:       {MiB: 1536},
		platform.WorkloadYACE:            {MiB: 256},
		platform.WorkloadGrafana:         {MiB: 512},
		platform.WorkloadStatus:          {MiB: 128},
		platform.WorkloadRedelivery:      {MiB: 256},
	}[w]
}

// address is host:port of another workload inside the cluster.
func address(w platform.Workload, p platform.Port) string { return fmt.Sprintf("%s:%d", w, p) }

// listen is every address of the server's own container.
func listen(p platform.Port) string { return fmt.Sprintf("0.0.0.0:%d", p) }

// hours writes a retention as Tempo and Pyroscope read it.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", int(d.Hours())) }

// days writes a retention as VictoriaMetrics and VictoriaLogs read it.
func days(d time.Duration) string { return fmt.Sprintf("%dd", int(d.Hours()/24)) }

// render fills a template; a value that the template names and data lacks is
// an error.
func render(name string, data map[string]any) (string, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"join": strings.Join}).
		ParseFS(templates, "templates/"+name)
	if err != nil {
		return "", fmt.Errorf("parse %s: %w", name, err)
	}
	var out strings.Builder
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return out.String(), nil
}
