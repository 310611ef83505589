package status

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Endpoint is where a workload answers.
type Endpoint struct {
	URL      string `json:"url"`      // http://tempo:3200
	ReadyURL string `json:"readyUrl"` // http://tempo:3200/ready; 2xx means ready
}

// Config is what the status server needs to know, as the control node's
// ConfigMap holds it.
type Config struct {
	S3Paths   platform.S3Paths               `json:"s3Paths"`
	Control   Control                        `json:"control"`
	Endpoints map[platform.Workload]Endpoint `json:"endpoints"`
}

// LoadConfig reads a Config from a JSON file. Unknown keys are faults; every
// fault is reported, each with its path in the file.
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
		return Config{}, fmt.Errorf("status configuration %s:\n%w", path, err)
	}
	return config, nil
}

// Validate names every fault of the configuration at once.
func (c Config) Validate() error {
	var faults []error
	for name, uri := range map[string]string{
		"s3Paths.data": c.S3Paths.Data, "s3Paths.tempo": c.S3Paths.Tempo, "s3Paths.pyroscope": c.S3Paths.Pyroscope,
		"s3Paths.artifacts": c.S3Paths.Artifacts, "s3Paths.emrLogs": c.S3Paths.EMRLogs, "s3Paths.lake": c.S3Paths.Lake,
	} {
		if !strings.HasPrefix(uri, "s3://") || !strings.HasSuffix(uri, "/") {
			faults = append(faults, fmt.Errorf("%s: %q: must be s3://bucket/prefix/; take it from the stack output s3Paths", name, uri))
		}
	}
	faults = append(faults, c.Control.validate()...)
	if _, ok := c.Endpoints[platform.WorkloadVictoriaMetrics]; !ok {
		faults = append(faults, fmt.Errorf("endpoints.%s: missing: the nodes are read from it; add its URL", platform.WorkloadVictoriaMetrics))
	}
	for _, workload := range slices.Sorted(maps.Keys(c.Endpoints)) {
		faults = append(faults, c.Endpoints[workload].validate("endpoints."+string(workload))...)
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

func (c Control) validate() []error {
	var faults []error
	if _, err := netip.ParseAddr(c.PrivateIP); err != nil {
		faults = append(faults, fmt.Errorf("control.privateIp: %q: must be an IP address; take it from the control node's network interface", c.PrivateIP))
	}
	if _, err := netip.ParseAddrPort(c.OTLP); err != nil {
		faults = append(faults, fmt.Errorf("control.otlp: %q: must be address:port, such as 10.0.0.4:%d", c.OTLP, platform.OTLPGRPC))
	}
	return slices.Concat(faults, faultOfURL("control.grafanaUrl", c.GrafanaURL), faultOfURL("control.statusUrl", c.StatusURL))
}

func (e Endpoint) validate(path string) []error {
	faults := append(faultOfURL(path+".url", e.URL), faultOfURL(path+".readyUrl", e.ReadyURL)...)
	if ready, err := url.Parse(e.ReadyURL); err == nil && ready.Host != "" && ready.Path == "" {
		faults = append(faults, fmt.Errorf("%s.readyUrl: %q: must have a path, such as /ready", path, e.ReadyURL))
	}
	return faults
}

func faultOfURL(path, value string) []error {
	if parsed, err := url.Parse(value); err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return []error{fmt.Errorf("%s: %q: must be http(s)://host:port", path, value)}
	}
	return nil
}
