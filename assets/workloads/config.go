package workloadconfig

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/status"
)

//go:embed templates/*.yaml
var templates embed.FS

// Folders inside each server's container.
const (
	ConfigDir = "/etc/observatory"     // Config.Files and Config.LateFiles, read-only
	DataDir   = "/var/lib/observatory" // what outlives the container

	PreparedDir = "/run/observatory" // files of Config.Preparation, in memory

	accessDir = "/etc/observatory-access" // keys of an AccessSecret
)

// EnvNodeName is the variable with the name of the Kubernetes node that a server
// runs on, which becomes the platform.HostName of its own signals.
const EnvNodeName = "NODE_NAME"

// Config is one server's command line, environment and files.
type Config struct {
	Args      []string
	Env       map[string]string
	Files     map[string]string   // file name in ConfigDir -> content
	LateFiles map[string]LateFile // further files in ConfigDir

	SecretEnv   map[string]SecretKey // variable -> its value
	SecretFiles []SecretFiles

	Preparation *Preparation // nil = none
}

// Preparation is a shell script that runs before the server, with the AWS CLI and the
// control node's role, and writes files of PreparedDir. What it reads from AWS is in
// no object of Kubernetes and on no disk.
type Preparation struct {
	Name   string // of the init container
	Script string
	Env    map[string]string
}

// LateFile is a file whose content depends on facts that are known only once
// other resources exist.
type LateFile struct {
	Needs  []Fact
	Render func(facts map[Fact]string) (string, error)
}

// Fact names a value of the deployment.
type Fact string

// The facts that a LateFile may need.
const (
	FactRegion    Fact = "region"
	FactBucket    Fact = "bucket"    // the data bucket's name
	FactControlIP Fact = "controlIP" // the control node's private address

	FactBootstrapHash Fact = "bootstrapHash" // of what the bootstrap action installs
	FactLostRuns      Fact = "lostRuns"      // URL of the queue of runs that did not start; "" without schedules
	FactToolsRoleARN  Fact = "toolsRoleArn"  // of the role that may read the lake only

	// As operators reach them:
	FactGrafanaURL Fact = "grafanaURL"
	FactStatusURL  Fact = "statusURL"
)

// SecretKey is one value of a Kubernetes Secret.
type SecretKey struct{ Secret, Key string }

// SecretFiles are values of a Kubernetes Secret that a server reads as files in
// Dir, one per key.
type SecretFiles struct {
	Secret string
	Volume string // name of the pod's volume
	Dir    string
	Keys   []string
}

// Settings are what the servers' configuration depends on besides their records.
type Settings struct {
	Workloads platform.WorkloadTable // all of them: servers address one another

	MetricsRetention   time.Duration // whole days
	LogsRetention      time.Duration // whole days
	TempoRetention     time.Duration // whole hours
	PyroscopeRetention time.Duration // whole hours

	Limits        schema.Limits              // of each cluster
	DataVolumeGiB int                        // of the volume that holds all DataDirs
	Stack         string                     // Pulumi's
	Tags          map[string]string          // of every AWS resource of the stack
	Dashboards    map[string]string          // predefined ones of VictoriaMetrics' own UI: *.json -> content
	Boards        []status.Link              // where they are, for the status page
	ServerName    string                     // in the certificates of servers that operators use; "" = each has its workload's name
	StepLinks     []status.Link              // of each step on the status page
	Tracing       schema.Tracing             // the zero value: no spans
	Profiler      schema.Profiler            // what the profiler reads
	Schedules     map[string]schema.Schedule // of the stack, by key
	GrafanaPlugin string                     // URL of GrafanaLogsPlugin's zip file; "" = grafana.com has it
}

// percentOf returns a share of a workload's memory limit in MiB. The servers' own
// limits are shares of it, so that they refuse work before the kernel kills them.
func percentOf(r platform.WorkloadRecord, percent int) int { return r.MemoryMiB * percent / 100 }

// goMemoryPercent is the share of a workload's memory limit that GOMEMLIMIT gives a server's
// Go runtime.
const goMemoryPercent = 80

// goMemoryLimit limits the memory of a Go program's runtime to a share of the workload's.
func goMemoryLimit(r platform.WorkloadRecord, percent int) map[string]string {
	return map[string]string{"GOMEMLIMIT": fmt.Sprintf("%dMiB", percentOf(r, percent))}
}

// listen returns the address at which a server listens on every interface of its container.
func listen(p platform.Port) string { return fmt.Sprintf("0.0.0.0:%d", p) }

// hours formats a retention for Tempo and Pyroscope.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", int(d.Hours())) }

// minutes formats a duration for Tempo.
func minutes(d time.Duration) string { return fmt.Sprintf("%dm", int(d.Minutes())) }

// days formats a retention for VictoriaMetrics and VictoriaLogs.
func days(d time.Duration) string { return fmt.Sprintf("%dd", int(d.Hours()/24)) }

// render executes a template; a value that the template names and data lacks is
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
