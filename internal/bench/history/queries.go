package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Queries compares a question about a year's stages, by month, over the tables and over their compacted objects. Each
// time DuckDB is a new process; the time is that of the query alone.
type Queries struct {
	YearSeconds      float64 `json:"history_year_query_s"` // over the tables: median
	CompactedSeconds float64 `json:"history_year_compacted_query_s"`
	// OverCompacted is the first relative to the second: median of pairs.
	OverCompacted float64 `json:"history_year_query_over_compacted_ratio"`
	// CompactMillis is the CPU time in which an application's rows, of all tables, are compacted.
	CompactMillis float64 `json:"history_compact_cpu_ms_per_application"`
}

// days and perDay make the year: some days have hundreds of applications, others few.
const (
	days   = 365
	perDay = 20
)

const yearQuestion = "SELECT date_trunc('month', dt) AS month, count(*) AS stages, sum(duration_ms) AS ms," +
	" sum(disk_bytes_spilled) AS spilled FROM stages GROUP BY ALL ORDER BY month"

const queryProgram = `import sys, time, duckdb
db = duckdb.connect()
db.execute(open(sys.argv[1]).read())
began = time.monotonic()
rows = db.execute(sys.argv[2]).fetchall()
print(time.monotonic() - began, sum(row[1] for row in rows))`

// MeasureQueries writes the rows of the log Source in folder for each application of a year, and asks in turn. python is a
// Python that has DuckDB.
func MeasureQueries(ctx context.Context, folder, python string, pairs int) (q Queries, err error) {
	dir, err := os.MkdirTemp("", "bench-queries-")
	if err != nil {
		return q, fmt.Errorf("measure queries: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	kept, lease, err := openLake(ctx, dir)
	if err != nil {
		return q, err // the error names the folder
	}
	defer func() { err = errors.Join(err, lease.Unlock(ctx)) }()
	if err := writeYear(ctx, kept, dir, filepath.Join(folder, Source)); err != nil {
		return q, err
	}
	began := cpuSeconds()
	done, err := kept.Compact(ctx, nil)
	if err != nil {
		return q, err // as above
	}
	if done.Compacted != days {
		return q, fmt.Errorf("measure queries: %d days compacted, not %d", done.Compacted, days)
	}
	q.CompactMillis = (cpuSeconds() - began) * 1000 / (days * perDay)
	var all, compacted, ratios []float64
	for range pairs {
		var took [2]float64
		var stages [2]int64
		for i, form := range []bool{false, true} {
			if took[i], stages[i], err = ask(ctx, kept, dir, python, form); err != nil {
				return q, err
			}
		}
		if stages[0] != stages[1] || stages[0] < days*perDay {
			return q, fmt.Errorf("measure queries: %d stages in the tables, %d in compacted objects", stages[0], stages[1])
		}
		all, compacted, ratios = append(all, took[0]), append(compacted, took[1]), append(ratios, took[0]/took[1])
	}
	q.YearSeconds, q.CompactedSeconds, q.OverCompacted = stats.Median(all), stats.Median(compacted), stats.Median(ratios)
	return q, nil
}

// writeYear writes the rows of a log for one application, and links its objects into the place of each other one.
func writeYear(ctx context.Context, kept *lake.Lake, dir, path string) error {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := writeLog(ctx, kept, path, first); err != nil {
		return err // the error names the log
	}
	objects, err := filepath.Glob(filepath.Join(dir, "*", tables.Partition+"=*", "*.parquet"))
	if err != nil {
		return fmt.Errorf("list the objects of an application: %w", err)
	}
	for _, object := range objects {
		table := filepath.Dir(filepath.Dir(object))
		for day := range days {
			to := filepath.Join(table, tables.Partition+"="+first.AddDate(0, 0, day).Format(time.DateOnly))
			if err := os.MkdirAll(to, 0o755); err != nil {
				return fmt.Errorf("make the folder of a day: %w", err)
			}
			for n := range perDay {
				err := os.Link(object, filepath.Join(to, fmt.Sprintf("application%d.parquet", n)))
				if err != nil {
					return fmt.Errorf("link an application's rows: %w", err)
				}
			}
		}
		if err := os.Remove(object); err != nil {
			return fmt.Errorf("remove an application's first rows: %w", err)
		}
	}
	return nil
}

// ask returns the seconds of a query and the number of stages that it counts.
func ask(ctx context.Context, kept *lake.Lake, dir, python string, compacted bool) (seconds float64, stages int64, err error) {
	views, err := kept.Views(ctx, dir, compacted)
	if err != nil {
		return 0, 0, err // the error names the table
	}
	file := filepath.Join(dir, "views.sql")
	if err := os.WriteFile(file, []byte(strings.Join(views, ";\n")), 0o600); err != nil {
		return 0, 0, fmt.Errorf("write the views: %w", err)
	}
	cmd := exec.CommandContext(ctx, python, "-c", queryProgram, file, yearQuestion)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("ask DuckDB: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != 2 {
		return 0, 0, fmt.Errorf("ask DuckDB: it printed %q", out)
	}
	if seconds, err = strconv.ParseFloat(fields[0], 64); err == nil {
		stages, err = strconv.ParseInt(fields[1], 10, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("ask DuckDB: %w", err)
	}
	return seconds, stages, nil
}
