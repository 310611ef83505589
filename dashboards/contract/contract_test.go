package contract_test

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
)

func TestEveryEntryIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range contract.Metrics() {
		require.Regexp(t, `^[a-z][a-z0-9_]*$`, m.Name)
		require.NotEmpty(t, m.Emitted, m.Name)
		require.NotEmpty(t, m.Since, m.Name)
		require.Contains(t, contract.Sources(), m.Source, m.Name)
		require.True(t, strings.HasSuffix(m.Help, "."), "%s: %q is no sentence", m.Name, m.Help)
		if m.Type == contract.Counter {
			require.True(t, strings.HasSuffix(m.Name, "_total"), m.Name)
		}
		for _, series := range m.Series() {
			require.False(t, seen[series], "%s is there twice", series)
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

// daemons maps what a real daemon answered to the sources that read it.
func daemons() map[string][]contract.Source {
	return map[string][]contract.Source{
		"resourcemanager": {contract.SourceResourceManager, contract.SourceDaemons},
		"nodemanager":     {contract.SourceNodeManager, contract.SourceDaemons},
		"namenode":        {contract.SourceNameNode, contract.SourceDaemons},
		"datanode":        {contract.SourceDataNode, contract.SourceDaemons},
	}
}

type family struct {
	kind   string
	labels []string
}

func answered(t *testing.T, daemon string) map[string]family {
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

func TestDaemonsReallyAnswerThis(t *testing.T) {
	for daemon, sources := range daemons() {
		families := answered(t, daemon)
		for _, m := range contract.Metrics() {
			if !slices.Contains(sources, m.Source) {
				continue
			}
			real, ok := families[m.Emitted]
			require.True(t, ok, "%s has no %s", daemon, m.Emitted)
			require.Equal(t, real.kind, string(m.Type), m.Emitted)
			for _, label := range m.Labels {
				require.Contains(t, real.labels, label, m.Emitted)
			}
		}
	}
}

func TestReferenceNamesEverything(t *testing.T) {
	page := string(contract.Reference())
	for _, m := range contract.Metrics() {
		require.Regexp(t, regexp.MustCompile("(?m)^\\| `"+m.Name+"` \\| "+string(m.Type)), page)
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
