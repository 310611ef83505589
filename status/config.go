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
	URL       string `json:"url"`       // http://tempo:3200
	ReadyPath string `json:"readyPath"` // "/ready"; joined to URL; 2xx means ready
}

// Config is what the status server needs to know, as the control node's
// ConfigMap holds it.
type Config struct {
	S3Paths          platform.S3Paths               `json:"s3Paths"`
	ControlPrivateIP string                         `json:"controlPrivateIp"`
	Endpoints        map[platform.Workload]Endpoint `json:"endpoints"`
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
	if _, err := netip.ParseAddr(c.ControlPrivateIP); err != nil {
		faults = append(faults, fmt.Errorf("controlPrivateIp: %q: must be an IP address; take it from the control node's network interface", c.ControlPrivateIP))
	}
	if _, ok := c.Endpoints[platform.WorkloadVictoriaMetrics]; !ok {
		faults = append(faults, fmt.Errorf("endpoints.%s: missing: the nodes are read from it; add its URL", platform.WorkloadVictoriaMetrics))
	}
	for _, workload := range slices.Sorted(maps.Keys(c.Endpoints)) {
		faults = append(faults, c.Endpoints[workload].validate("endpoints."+string(workload))...)
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

func (e Endpoint) validate(path string) []error {
	var faults []error
	if parsed, err := url.Parse(e.URL); err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		faults = append(faults, fmt.Errorf("%s.url: %q: must be http(s)://host:port", path, e.URL))
	}
	if !strings.HasPrefix(e.ReadyPath, "/") {
		faults = append(faults, fmt.Errorf("%s.readyPath: %q: must begin with a slash, such as /ready", path, e.ReadyPath))
	}
	return faults
}
