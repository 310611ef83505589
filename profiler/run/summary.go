package run

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Summary says what a run did. Programs read it as JSON.
type Summary struct {
	ClustersFound   int `json:"clusters_found"`
	ClustersCurrent int `json:"clusters_complete_before"` // nothing new can be there
	ClustersExpired int `json:"clusters_expired"`         // all of it is older than retention_days
	ClustersRead    int `json:"clusters_read"`
	ClustersFailed  int `json:"clusters_failed"` // nothing of them could be read

	ApplicationsFound   int `json:"applications_found"` // attempts, of the clusters that were read
	ApplicationsCurrent int `json:"applications_complete_before"`
	ApplicationsExpired int `json:"applications_expired"` // which began before retention_days
	ApplicationsRead    int `json:"applications_read"`
	ApplicationsFailed  int `json:"applications_failed"`

	Objects int                   `json:"objects_written"`
	Removed int                   `json:"objects_removed"`
	Bytes   int64                 `json:"bytes_written"`
	Expired int                   `json:"expired"` // applications and clusters that retention_days removed
	Rows    map[tables.Name]int64 `json:"rows"`    // of what was read

	// Judged counts the applications that were judged, since their rows or the rules have changed;
	// Findings what was found, by rule, and CriticalFindings the urgent ones.
	Judged           int                `json:"applications_judged"`
	Findings         map[rules.ID]int64 `json:"findings"`
	CriticalFindings int64              `json:"critical_findings"`

	// Compaction says what was compacted; nil if the tables are not kept compacted.
	Compaction *lake.Compaction `json:"compaction,omitempty"`

	// TasksLeftOut counts the tasks of what was read for which table tasks has no rows: it is opt-in.
	TasksLeftOut int64 `json:"tasks_left_out"`

	// FilesIgnored counts the files among event logs that are none; Ignored has the first of them.
	FilesIgnored int                    `json:"files_ignored"`
	Ignored      []eventlog.IgnoredFile `json:"ignored"`

	// Incomplete lists what another run may find.
	Incomplete []Incomplete `json:"incomplete"`
	// Lost counts applications by the reason for which their source lacks rows; table
	// completeness has the details.
	Lost map[string]int `json:"lost"`

	// Through says where the applications of the last cluster were found.
	Through string `json:"-"`

	Interrupted bool    `json:"interrupted"`
	Seconds     float64 `json:"seconds"`
}

// Incomplete is something that could not be read, and why. Empty fields are not about
// one cluster or application.
type Incomplete struct {
	Cluster     string `json:"cluster_id,omitempty"`
	Application string `json:"application_id,omitempty"`
	Attempt     string `json:"attempt_id,omitempty"`
	Reason      string `json:"reason"`
}

// ExitCode is ExitComplete or ExitIncomplete.
func (s Summary) ExitCode() int {
	if s.Interrupted || len(s.Incomplete) > 0 {
		return ExitIncomplete
	}
	return ExitComplete
}

func (s *Summary) add(i Incomplete) { s.Incomplete = append(s.Incomplete, i) }

func (s *Summary) recordWrite(w lake.Written) {
	s.Objects += w.Objects
	s.Removed += w.Removed
	s.Bytes += w.Bytes
	if s.Rows == nil {
		s.Rows = map[tables.Name]int64{}
	}
	for name, rows := range w.Rows {
		s.Rows[name] += rows
	}
}

// missing records which rows an application lacks.
func (s *Summary) missing(id tables.Attempt, of fold.Summary) {
	reasons := map[string]bool{}
	for _, row := range of.Completeness {
		switch {
		case row.Reason == "":
		case fold.Unread(row):
			s.add(Incomplete{id.ClusterID, id.ApplicationID, id.AttemptID, row.Endpoint + ": " + cmp.Or(row.Detail, row.Reason)})
		default:
			reasons[row.Reason] = true
		}
	}
	for reason := range reasons {
		if s.Lost == nil {
			s.Lost = map[string]int{}
		}
		s.Lost[reason]++
	}
}

// finish sorts what several goroutines added.
func (s *Summary) finish() {
	slices.SortStableFunc(s.Incomplete, func(a, b Incomplete) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Attempt, b.Attempt))
	})
}

// maxShown is how many entries of Incomplete are printed.
const maxShown = 20

// Print writes the summary as text.
func (s Summary) Print(out io.Writer) {
	fmt.Fprintf(out, "clusters      %d found, %d already complete, %d read, %d failed\n",
		s.ClustersFound, s.ClustersCurrent, s.ClustersRead, s.ClustersFailed)
	fmt.Fprintf(out, "applications  %d found, %d already complete, %d read, %d failed\n",
		s.ApplicationsFound, s.ApplicationsCurrent, s.ApplicationsRead, s.ApplicationsFailed)
	fmt.Fprintf(out, "objects       %d written (%d bytes), %d removed, in %s\n",
		s.Objects, s.Bytes, s.Removed, time.Duration(s.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	if n := s.Expired + s.ClustersExpired + s.ApplicationsExpired; n > 0 {
		fmt.Fprintf(out, "retention     %d clusters and %d applications too old to be read, rows of %d removed\n",
			s.ClustersExpired, s.ApplicationsExpired, s.Expired)
	}
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(s.Rows)) {
		rows = append(rows, fmt.Sprintf("%s %d", name, s.Rows[name]))
	}
	if len(rows) > 0 {
		fmt.Fprintf(out, "rows          %s\n", strings.Join(rows, ", "))
	}
	if s.TasksLeftOut > 0 {
		fmt.Fprintf(out, "left out      %d tasks; --include-tasks writes the table tasks\n", s.TasksLeftOut)
	}
	if s.Judged > 0 {
		found := int64(0)
		for _, n := range s.Findings {
			found += n
		}
		fmt.Fprintf(out, "findings      %d in %d applications, %d of them critical (table findings)\n", found, s.Judged, s.CriticalFindings)
	}
	if c := s.Compaction; c != nil {
		fmt.Fprintf(out, "compacted     %d of %d days, in %d objects (%d bytes)\n", c.Compacted, c.Days, c.Objects, c.Bytes)
	}
	for _, file := range s.Ignored {
		fmt.Fprintf(out, "ignored       %s: %s\n", file.Name, file.Reason)
	}
	if more := s.FilesIgnored - len(s.Ignored); more > 0 {
		fmt.Fprintf(out, "ignored       and %d more\n", more)
	}
	for _, reason := range slices.Sorted(maps.Keys(s.Lost)) {
		fmt.Fprintf(out, "lost          %d applications lack rows for the reason %s (table completeness)\n", s.Lost[reason], reason)
	}
	if s.Interrupted {
		fmt.Fprintln(out, "interrupted   the next run continues from here")
	}
	for n, i := range s.Incomplete {
		if n == maxShown {
			fmt.Fprintf(out, "incomplete    and %d more (--json lists all)\n", len(s.Incomplete)-n)
			break
		}
		about := strings.Join(slices.DeleteFunc([]string{i.Cluster, i.Application, i.Attempt}, func(s string) bool { return s == "" }), " ")
		if about != "" {
			about += ": "
		}
		fmt.Fprintf(out, "incomplete    %s%s\n", about, i.Reason)
	}
}
