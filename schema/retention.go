package schema

import (
	"time"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Retention holds how long data is kept.
type Retention struct {
	TempoDays           int `json:"tempoDays" rule:"days"`
	PyroscopeDays       int `json:"pyroscopeDays" rule:"days"`
	VictoriaMetricsDays int `json:"victoriaMetricsDays" rule:"days"`
	VictoriaLogsDays    int `json:"victoriaLogsDays" rule:"days"`
	LogDays             int `json:"logDays" rule:"days"`
	ArtifactDays        int `json:"artifactDays" rule:"artifactDays"`
}

// Help describes the keys, for documents.
func (Retention) Help() map[string]string {
	return map[string]string{
		"tempoDays":           "Days that Tempo keeps traces.",
		"pyroscopeDays":       "Days that Pyroscope keeps profiles.",
		"victoriaMetricsDays": "Days that VictoriaMetrics keeps metrics, on the data volume.",
		"victoriaLogsDays":    "Days that VictoriaLogs keeps logs, on the data volume.",
		"logDays":             "Days that S3 keeps EMR's logs and the bucket's access logs.",
		"artifactDays": "Days that S3 keeps versions of artifacts that were overwritten or deleted by hand; 0 for ever. Others never " +
			"expire, not even those that an update has replaced: nodes and pods fetch them at each start.",
	}
}

// SetDefaults sets retentions of some weeks.
func (r *Retention) SetDefaults() {
	*r = Retention{TempoDays: 14, PyroscopeDays: 14, VictoriaMetricsDays: 30, VictoriaLogsDays: 14, LogDays: 30}
}

// maxDays is ten years. More is probably a mistake in the unit.
const maxDays = 3650

func retentionRules() map[string]Rule {
	return map[string]Rule{
		"days":         intRange(1, maxDays),
		"artifactDays": intRange(0, maxDays).with("; 0 keeps artifacts forever", ""),
	}
}

// Validate adds the retention's violations to l.
func (r Retention) Validate(l *violation.List, path string) { checkFields(l, path, r) }

// Days converts a number of days to a duration.
func Days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
