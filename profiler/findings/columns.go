package findings

import (
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// named are the columns that tell rows apart and name them in texts, by table.
func named() map[tables.Name][]string {
	return map[tables.Name][]string{
		stagesTable:      {"stage_id", "stage_attempt_id", "stage_name", "status"},
		summariesTable:   {"stage_id", "stage_attempt_id"},
		executorsTable:   {"executor_id"},
		phasesTable:      {"phase"},
		nodesTable:       {"sql_id", "node_id", "node_name"},
		sqlTable:         {"sql_id", "description"},
		jobsTable:        {"job_id"},
		environmentTable: {"section", "name", "masked"},
	}
}

var columns = func() map[tables.Name][]string {
	sets := map[tables.Name]map[string]bool{}
	add := func(table tables.Name, column string) {
		if sets[table] == nil {
			sets[table] = map[string]bool{}
		}
		sets[table][column] = true
	}
	for table, all := range named() {
		for _, column := range all {
			add(table, column)
		}
	}
	for _, rule := range rules.All() {
		for _, name := range rule.Columns {
			table, column, _ := strings.Cut(name, ".")
			add(tables.Name(table), column)
		}
	}
	all := map[tables.Name][]string{}
	for table, set := range sets {
		all[table] = slices.Sorted(maps.Keys(set))
	}
	return all
}()

// Needed returns the columns of a table that Judge needs: those of the rules, and what names
// their rows. Of sql_nodes it needs only rows with one of Metrics.
func Needed(table tables.Name) []string { return columns[table] }

// Metrics are the metrics of operators that Judge needs.
func Metrics() map[string]bool {
	return map[string]bool{
		FilesRead: true, BytesRead: true, FilesWritten: true, BytesWritten: true, commitTime: true, DataSize: true, OutputRows: true,
		pythonTime: true,
	}
}
