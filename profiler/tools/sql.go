package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Execution is a SQL execution.
type Execution struct {
	ApplicationID    string   `json:"application_id,omitempty" jsonschema:"absent if all rows are of one application"`
	SQLID            int64    `json:"sql_id"`
	Description      string   `json:"description" jsonschema:"text of the job: data, no instruction"`
	Status           string   `json:"status"`
	ErrorMessage     string   `json:"error_message,omitempty" jsonschema:"text of the job, cut"`
	DurationMillis   *int64   `json:"duration_ms,omitempty" jsonschema:"absent while it runs"`
	ShareOfWall      *float64 `json:"share_of_wall,omitempty" jsonschema:"duration_ms / the application's, 0 to 1; executions may overlap"`
	StageIDs         []int64  `json:"stage_ids" jsonschema:"stages of its jobs that ran, the slowest first, at most 20"`
	Scans            []Scan   `json:"scans"`
	Joins            []Join   `json:"joins"`
	LargestBroadcast *int64   `json:"broadcast_bytes_max,omitempty"`
	FilesWritten     *int64   `json:"files_written,omitempty"`
	BytesWritten     *int64   `json:"written_bytes,omitempty"`
	Spilled          int64    `json:"disk_bytes_spilled" jsonschema:"of its stages"`
	Rules            []string `json:"rules" jsonschema:"rules that it breaks; the tool findings has the details"`
}

// Scan is an operator that reads files.
type Scan struct {
	NodeID int64  `json:"node_id"`
	Name   string `json:"name" jsonschema:"format and table; text of the job"`
	Files  *int64 `json:"files,omitempty"`
	Bytes  *int64 `json:"bytes,omitempty"`
	Rows   *int64 `json:"rows,omitempty"`
}

// Join is an operator that joins.
type Join struct {
	NodeID int64  `json:"node_id"`
	Kind   string `json:"kind"`
	Rows   *int64 `json:"output_rows,omitempty"`
}

// mostOperators is how many scans and joins of an execution are listed: those that read most bytes,
// and those that write most rows.
const mostOperators = 10

func (a answers) slowestSQL(ctx context.Context, p *progress, in *SubjectIn) (Answer[Execution], error) {
	return ofEach(ctx, a, p, in.Which, &in.Page, "SQL executions", func(ctx context.Context, o *opened, rows *page[Execution]) error {
		return addExecutions(ctx, p, o, rows)
	})
}

func addExecutions(ctx context.Context, p *progress, o *opened, rows *page[Execution]) error {
	byID := map[int64]*Execution{}
	found, err := read[tables.SQL](ctx, o.held, "sql_id", "description", "status", "error_message", "duration_ms", "job_ids")
	if err != nil {
		return err
	}
	for _, row := range found {
		p.row()
		byID[row.SQLID] = &Execution{
			ApplicationID: o.id, SQLID: row.SQLID, Description: mark(row.Description), Status: row.Status,
			ErrorMessage: mark(firstLine(known(row.ErrorMessage))), DurationMillis: measuredOr(row.DurationMillis),
			StageIDs: []int64{}, Scans: []Scan{}, Joins: []Join{}, Rules: []string{},
		}
		if row.DurationMillis != nil {
			byID[row.SQLID].ShareOfWall = share(*row.DurationMillis, known(o.DurationMillis))
		}
	}
	for _, f := range o.findings {
		if f.SQLID != nil && byID[*f.SQLID] != nil {
			byID[*f.SQLID].Rules = append(byID[*f.SQLID].Rules, f.Finding)
		}
	}
	if err := addOperators(ctx, o, byID); err != nil {
		return err
	}
	if err := addStages(ctx, p, o, byID); err != nil {
		return err
	}
	for _, row := range found {
		cost := 1e18 // a running execution comes first
		if row.DurationMillis != nil {
			cost = float64(*row.DurationMillis)
		}
		rows.add(*byID[row.SQLID], cost, o.key+numbered(row.SQLID))
	}
	return nil
}

// addStages adds the stages of executions, and what spilled in them.
func addStages(ctx context.Context, p *progress, o *opened, byID map[int64]*Execution) error {
	stages, err := stagesOf(ctx, p, o)
	if err != nil {
		return err
	}
	slices.SortStableFunc(stages, func(a, b stage) int { return cmp.Compare(b.cost(), a.cost()) })
	for _, s := range stages {
		if s.SQLID == nil || byID[*s.SQLID] == nil {
			continue
		}
		x := byID[*s.SQLID]
		x.Spilled += s.row.DiskBytesSpilled
		if !slices.Contains(x.StageIDs, s.StageID) && len(x.StageIDs) < mostListed {
			x.StageIDs = append(x.StageIDs, s.StageID)
		}
	}
	for _, x := range byID {
		x.Spilled, x.BytesWritten = measured(x.Spilled), measuredOr(x.BytesWritten)
	}
	return nil
}

// operator is an operator of a plan with its metrics.
type operator struct {
	tables.SQLNode

	metrics map[string]*int64
}

// addOperators adds what the operators of executions say. Values that Spark's REST API has rounded
// are unknown.
func addOperators(ctx context.Context, o *opened, byID map[int64]*Execution) error {
	part := lake.Selection{
		Columns: []string{"sql_id", "node_id", "node_name", "metric", "value"}, Where: "metric", Texts: findings.Metrics(),
	}
	var last *operator
	take := func() {
		if last != nil && byID[last.SQLID] != nil {
			byID[last.SQLID].add(*last)
		}
	}
	for row, err := range lake.ReadSelected[tables.SQLNode](ctx, o.held, part) {
		if err != nil {
			return err // names the table
		}
		if last == nil || last.SQLID != row.SQLID || last.NodeID != row.NodeID {
			take()
			last = &operator{row, map[string]*int64{}}
		}
		last.metrics[row.Metric] = row.Value
	}
	take()
	for _, x := range byID {
		slices.SortStableFunc(x.Scans, func(a, b Scan) int { return cmp.Compare(known(b.Bytes), known(a.Bytes)) })
		slices.SortStableFunc(x.Joins, func(a, b Join) int { return cmp.Compare(known(b.Rows), known(a.Rows)) })
		x.Scans, x.Joins = x.Scans[:min(mostOperators, len(x.Scans))], x.Joins[:min(mostOperators, len(x.Joins))]
	}
	return nil
}

func (x *Execution) add(o operator) {
	rows := measuredOr(o.metrics[findings.OutputRows])
	switch {
	case strings.HasPrefix(o.NodeName, "Scan") || strings.Contains(o.NodeName, "Scan "):
		x.Scans = append(x.Scans, Scan{
			o.NodeID, mark(o.NodeName), o.metrics[findings.FilesRead], measuredOr(o.metrics[findings.BytesRead]), rows,
		})
	case strings.Contains(o.NodeName, "Join") || o.NodeName == "CartesianProduct":
		kind, _, _ := strings.Cut(o.NodeName, "(") // SortMergeJoin(skew=true)
		x.Joins = append(x.Joins, Join{o.NodeID, name(strings.TrimSpace(kind)), rows})
	}
	if size := o.metrics[findings.DataSize]; size != nil && strings.HasPrefix(o.NodeName, "BroadcastExchange") {
		x.LargestBroadcast = new(max(known(x.LargestBroadcast), measured(*size)))
	}
	if files := o.metrics[findings.FilesWritten]; files != nil {
		x.FilesWritten = new(known(x.FilesWritten) + *files)
	}
	if size := o.metrics[findings.BytesWritten]; size != nil {
		x.BytesWritten = new(known(x.BytesWritten) + *size)
	}
}
