package contract_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
)

func TestEntriesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range contract.Metrics() {
		require.Regexp(t, `^[a-z][a-z0-9_]*$`, m.Name)
		require.NotEmpty(t, m.Emitted, m.Name)
		require.NotEmpty(t, m.Since, m.Name)
		require.Contains(t, contract.Sources(), m.Source, m.Name)
		require.True(t, strings.HasSuffix(m.Help, "."), "%s: %q is not a sentence", m.Name, m.Help)
		if m.Type == contract.Counter {
			require.True(t, strings.HasSuffix(m.Name, "_total"), m.Name)
		}
		for _, series := range m.Series() {
			require.False(t, seen[series], "%s is listed twice", series)
			seen[series] = true
			found, ok := contract.Find(series)
			require.True(t, ok)
			require.Equal(t, m.Name, found.Name)
		}
	}
	require.NotEmpty(t, seen)
	_, ok := contract.Find("system_cpu_time")
	require.False(t, ok)
}

// metricsOf returns the contract's entries that a daemon exposes.
func metricsOf(daemon string) []contract.Metric {
	sources := map[string]contract.Source{
		"resourcemanager": contract.SourceResourceManager,
		"nodemanager":     contract.SourceNodeManager,
		"namenode":        contract.SourceNameNode,
		"datanode":        contract.SourceDataNode,
	}
	return slices.DeleteFunc(contract.Metrics(), func(m contract.Metric) bool {
		return m.Source != sources[daemon] && m.Source != contract.SourceDaemons
	})
}

// family is a metric's type and labels on a daemon's /prom.
type family struct {
	kind   string
	labels []string
}

// recordedFamilies reads testdata, which TestDaemonsExposeContractMetrics writes.
func recordedFamilies(t *testing.T, daemon string) map[string]family {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", daemon+".txt"))
	require.NoError(t, err)
	defer file.Close()
	families := map[string]family{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if fields[0] != "#" {
			families[fields[0]] = family{kind: fields[1], labels: strings.Split(fields[2], ",")}
		}
	}
	require.NotEmpty(t, families)
	return families
}

// requireContract requires name, type and labels of each entry that a daemon should
// expose.
func requireContract(t *testing.T, daemon string, families map[string]family) {
	t.Helper()
	metrics := metricsOf(daemon)
	require.NotEmpty(t, metrics)
	for _, m := range metrics {
		family, ok := families[m.Emitted]
		require.True(t, ok, "%s has no %s", daemon, m.Emitted)
		require.Equal(t, family.kind, string(m.Type), m.Emitted)
		for _, label := range m.Labels {
			require.Contains(t, family.labels, label, m.Emitted)
		}
	}
}

func TestContractAgreesWithRecordedMetrics(t *testing.T) {
	for _, daemon := range []string{"resourcemanager", "nodemanager", "namenode", "datanode"} {
		requireContract(t, daemon, recordedFamilies(t, daemon))
	}
}

func TestReferenceNamesEverything(t *testing.T) {
	page := string(contract.Reference())
	const path = "../../docs/reference/emitted-metrics.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page, string(written), "%s is out of date: run `make generate`", path)
	for _, m := range contract.Metrics() {
		require.Regexp(t, "(?m)^\\| `"+m.Name+"` \\| "+string(m.Type), page)
	}
	for _, f := range contract.LogFields() {
		require.Contains(t, page, "| `"+f.Name+"` |")
	}
	for _, p := range contract.Profiles() {
		require.Contains(t, page, p.ID)
	}
	for _, a := range contract.SpanAttributes() {
		require.Contains(t, page, "| `"+a.Name+"` |")
	}
}
