package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// DescribeIn names the table whose columns to list.
type DescribeIn struct {
	Page

	Table string `json:"table,omitempty" jsonschema:"table whose columns to list; by default all tables are listed without columns"`
}

// Table describes a table, or with a column of it.
type Table struct {
	Table   string   `json:"table"`
	Meaning string   `json:"meaning" jsonschema:"of its rows"`
	Key     []string `json:"key" jsonschema:"columns that identify a row"`
	Columns []Column `json:"columns,omitempty"`
}

// Column describes a column.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type" jsonschema:"of SQL"`
	Nullable bool   `json:"nullable"`
	Meaning  string `json:"meaning"`
}

const tableRules = "Times are UTC. A value that a source does not know is null, never 0. Ids of jobs, stages and SQL executions repeat " +
	"across applications and attempts: join also on cluster_id, application_id and attempt_id. dt is the UTC date on which the application " +
	"started, or the cluster was created."

func (answers) describe(_ context.Context, _ *progress, in *DescribeIn) (Answer[Table], error) {
	out := Answer[Table]{Verdict: tableRules}
	var names []string
	if in.Limit == defaultLimit {
		in.Limit = len(tables.All()) // the list is as long as it is, and fits an answer
	}
	rows := newPage[Table](&in.Page)
	for i, d := range tables.All() {
		names = append(names, string(d.Name))
		if in.Table != "" && in.Table != string(d.Name) {
			continue
		}
		t := Table{Table: string(d.Name), Meaning: d.Doc, Key: []string{"cluster_id"}}
		if d.Scope == tables.OfAttempt {
			t.Key = append(t.Key, "application_id", "attempt_id")
		}
		t.Key = append(t.Key, d.Key...)
		if in.Table != "" {
			for _, c := range d.Columns() {
				t.Columns = append(t.Columns, Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Meaning: c.Doc})
			}
		}
		rows.add(t, 0, numbered(int64(i)))
	}
	if rows.total == 0 {
		return out, fmt.Errorf("table %q: must be one of %s", in.Table, strings.Join(names, ", "))
	}
	return out, fill(&out, rows)
}
