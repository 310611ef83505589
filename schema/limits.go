package schema

import (
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits are how much of one cluster's telemetry is stored in an hour.
type Limits struct {
	SeriesPerHour   int `json:"seriesPerHour" rule:"seriesLimit"`
	LogMiBPerHour   int `json:"logMiBPerHour" rule:"limit"`
	SpansPerHour    int `json:"spansPerHour" rule:"limit"`
	ProfilesPerHour int `json:"profilesPerHour" rule:"limit"`
}

// Help describes the keys, for documents.
func (Limits) Help() map[string]string {
	return map[string]string{
		"seriesPerHour": "Series of metrics that a cluster may have. Those that it has go on, into the next hour, too; the data points of " +
			"further ones are refused. " +
			"In the local cloud a node has about 160, a driver 200, an executor 50.",
		"logMiBPerHour":   "MiB of log lines, before compression, with 100 bytes more for each.",
		"spansPerHour":    "Spans of jobs and steps; one of more than 4 KiB counts as several.",
		"profilesPerHour": "Profiles; each JVM sends a few a minute, and one of more than 1 MiB counts as several.",
	}
}

// SetDefaults sets limits of which two clusters at once have what VictoriaMetrics takes of all
// (assets/workloads).
func (m *Limits) SetDefaults() {
	*m = Limits{SeriesPerHour: 250_000, LogMiBPerHour: 2048, SpansPerHour: 500_000, ProfilesPerHour: 50_000}
}

// maxLimit is far above what a control node takes. More is probably a mistake in the unit.
const maxLimit = 1_000_000_000

func limitRules() map[string]Rule {
	return map[string]Rule{
		"limit":       intRange(1, maxLimit),
		"seriesLimit": intRange(1, platform.MaxSeries()).with("; VictoriaMetrics takes no more of all clusters", ""),
	}
}

// Validate adds the section's violations to l.
func (m Limits) Validate(l *violation.List, path string) { checkFields(l, path, m) }
