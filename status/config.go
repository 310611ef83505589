package status

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Endpoint has the URLs of a workload.
type Endpoint struct {
	URL      string `json:"url"`      // http://tempo:3200
	ReadyURL string `json:"readyUrl"` // http://tempo:3200/ready; 2xx means ready
}

// Config is the configuration of the status server, JSON in a ConfigMap of the control
// node.
type Config struct {
	Region    string                         `json:"region"`
	Stack     string                         `json:"stack"` // Pulumi's; its clusters have platform.StackTags
	S3Paths   platform.S3Paths               `json:"s3Paths"`
	Control   Control                        `json:"control"`
	Endpoints map[platform.Workload]Endpoint `json:"endpoints"`

	// BootstrapHash says what the platform's bootstrap action installs today. A cluster
	// that was started with another has an older collector or launcher.
	BootstrapHash string `json:"bootstrapHash"`

	// HistoryTags are those without which the profiler does not read a cluster's history; empty:
	// it reads every cluster's, or there is none.
	HistoryTags map[string]string `json:"historyTags,omitempty"`

	Schedules []ScheduleConfig `json:"schedules,omitempty"` // of the stack, in the order of their keys
	LostRuns  string           `json:"lostRuns,omitempty"`  // URL of the queue of their runs that did not start

	Dashboards []Link `json:"dashboards,omitempty"` // for the page
	StepLinks  []Link `json:"stepLinks,omitempty"`  // for each step on the page
}

// Link leads from the page to a server of the platform. Of several with one title
// the page shows the first whose server can be reached and whose variables are known.
type Link struct {
	Title   string            `json:"title"`
	Service platform.Workload `json:"service"`
	Path    string            `json:"path"` // below the server's URL, with query and variables platform.Link…
}

// LoadConfig reads a Config from a JSON file. It rejects unknown keys, and reports
// every violation with its path in the file.
func LoadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read status configuration: %w", err)
	}
	var config Config
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		return Config{}, fmt.Errorf("read status configuration %s: %w", path, err)
	}
	if err := config.Validate(); err != nil {
		return Config{}, fmt.Errorf("validate status configuration %s:\n%w", path, err)
	}
	return config, nil
}

// Validate reports every violation at once.
func (c Config) Validate() error {
	var found violations
	for name, uri := range map[string]string{
		"s3Paths.data": c.S3Paths.Data, "s3Paths.tempo": c.S3Paths.Tempo, "s3Paths.pyroscope": c.S3Paths.Pyroscope,
		"s3Paths.artifacts": c.S3Paths.Artifacts, "s3Paths.emrLogs": c.S3Paths.EMRLogs, "s3Paths.lake": c.S3Paths.Lake,
	} {
		found.add(!strings.HasPrefix(uri, "s3://") || !strings.HasSuffix(uri, "/"),
			"%s: %q: must be s3://bucket/prefix/; take it from the stack output s3Paths", name, uri)
	}
	found.add(c.Region == "", "region: empty: must name the clusters' AWS region; take it from the stack's configuration")
	found.add(c.Stack == "", "stack: empty: must name the Pulumi stack; take it from `pulumi stack --show-name`")
	found.add(c.BootstrapHash == "", "bootstrapHash: empty: must be the hash of the bootstrap action; take it from the stack's outputs")
	c.Control.validate(&found)
	_, ok := c.Endpoints[platform.WorkloadVictoriaMetrics]
	found.add(!ok, "endpoints.%s: missing: the nodes are read from it; add its URL", platform.WorkloadVictoriaMetrics)
	for workload, endpoint := range c.Endpoints {
		endpoint.validate("endpoints."+string(workload), &found)
	}
	for key, links := range map[string][]Link{"dashboards": c.Dashboards, "stepLinks": c.StepLinks} {
		for i, link := range links {
			link.validate(fmt.Sprintf("%s[%d]", key, i), &found)
		}
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(found...)
}

// violations collects what breaks a rule.
type violations []error

func (v *violations) add(broken bool, format string, args ...any) {
	if broken {
		*v = append(*v, fmt.Errorf(format, args...))
	}
}

// addURL adds a violation unless value is an http or https URL.
func (v *violations) addURL(path, value string) {
	parsed, err := url.Parse(value)
	v.add(err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https"),
		"%s: %q: must be http(s)://host:port", path, value)
}

func (c Control) validate(found *violations) {
	_, err := netip.ParseAddr(c.PrivateIP)
	found.add(err != nil, "control.privateIp: %q: must be an IP address; take it from the control node's network interface", c.PrivateIP)
	_, err = netip.ParseAddrPort(c.OTLP)
	found.add(err != nil, "control.otlp: %q: must be address:port, such as 10.0.0.4:%d", c.OTLP, platform.OTLPGRPC)
	found.addURL("control.grafanaUrl", c.GrafanaURL)
	found.addURL("control.statusUrl", c.StatusURL)
}

func (e Endpoint) validate(path string, found *violations) {
	found.addURL(path+".url", e.URL)
	found.addURL(path+".readyUrl", e.ReadyURL)
	ready, err := url.Parse(e.ReadyURL)
	found.add(err == nil && ready.Host != "" && ready.Path == "", "%s.readyUrl: %q: must have a path, such as /ready", path, e.ReadyURL)
}

func (l Link) validate(path string, found *violations) {
	found.add(l.Title == "", "%s.title: empty: must name what the link leads to; give a title", path)
	found.add(l.Service == "", "%s.service: empty: must name a workload; give the one that serves the path", path)
	found.add(!strings.HasPrefix(l.Path, "/") || strings.HasPrefix(l.Path, "//"),
		"%s.path: %q: must be a path below the server's URL; begin it with one slash", path, l.Path)
}
