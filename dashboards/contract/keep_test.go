package contract_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/assets/node"
	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The node's collector keeps only part of what it scrapes, which must include every
// metric of the contract.
func TestNodeCollectorKeepsContractMetrics(t *testing.T) {
	raw, err := node.CollectorConfig()
	require.NoError(t, err)
	var config struct {
		Receivers struct {
			Prometheus struct {
				Config struct {
					Jobs []struct {
						Name    string `json:"job_name"`
						Relabel []struct {
							Action string `json:"action"`
							Regex  string `json:"regex"`
						} `json:"metric_relabel_configs"`
					} `json:"scrape_configs"`
				} `json:"config"`
			} `json:"prometheus"`
		} `json:"receivers"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &config))
	keep := map[string]*regexp.Regexp{}
	for _, job := range config.Receivers.Prometheus.Config.Jobs {
		for _, rule := range job.Relabel {
			if rule.Action == "keep" {
				keep[job.Name] = regexp.MustCompile("^(?:" + rule.Regex + ")$")
			}
		}
	}
	jobs := map[contract.Source][]string{
		contract.SourceResourceManager: {platform.ServiceYARN},
		contract.SourceNodeManager:     {platform.ServiceYARN},
		contract.SourceNameNode:        {platform.ServiceHDFS},
		contract.SourceDataNode:        {platform.ServiceHDFS},
		contract.SourceDaemons:         {platform.ServiceYARN, platform.ServiceHDFS},
		contract.SourceCollector:       {platform.ServiceNodeCollector},
	}
	checked := 0
	for _, m := range contract.Metrics() {
		for _, job := range jobs[m.Source] {
			require.Contains(t, keep, job)
			require.Regexp(t, keep[job], m.Emitted, "the node's collector drops it from job %s", job)
			checked++
		}
	}
	require.Positive(t, checked)
}

// VictoriaMetrics keeps only part of the control node's servers' metrics, which must
// include those of the contract.
func TestControlNodeKeepsContractMetrics(t *testing.T) {
	checked := 0
	for _, m := range contract.Metrics() {
		if m.Source != contract.SourceStores {
			continue
		}
		kept := false
		for _, pattern := range workloadconfig.ControlMetrics(platform.Workloads()) {
			kept = kept || regexp.MustCompile("^(?:"+pattern+")$").MatchString(m.Name)
		}
		require.True(t, kept, "VictoriaMetrics drops %s", m.Name)
		checked++
	}
	require.Positive(t, checked)
}

// The node's collector sets these log fields by name.
func TestNodeCollectorSetsContractFields(t *testing.T) {
	raw, err := node.CollectorConfig()
	require.NoError(t, err)
	for _, field := range []string{contract.FieldPath, contract.FieldContainer, string(platform.StepID)} {
		require.Contains(t, string(raw), field)
	}
}
