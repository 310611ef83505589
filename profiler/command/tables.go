package command

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const tablesHelp = `Lists the tables with their columns: name, SQL type, meaning. Types are those of Spark and DuckDB; times are UTC.`

// describedTable is a table in the output of --json.
type describedTable struct {
	Name    tables.Name     `json:"name"`
	Doc     string          `json:"doc"`
	OptIn   bool            `json:"opt_in"`
	Columns []tables.Column `json:"columns"`
}

func tablesCommand() *cobra.Command {
	c := newCommand("tables", "List the tables and their columns", tablesHelp)
	asJSON := c.Flags().Bool("json", false, "print them as JSON")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *asJSON {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(described()); err != nil {
				return fmt.Errorf("print the tables: %w", err)
			}
			return nil
		}
		out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, table := range described() {
			fmt.Fprintf(out, "%s: %s\n", table.Name, table.Doc)
			for _, column := range table.Columns {
				fmt.Fprintf(out, "  %s\t%s\t%s\n", column.Name, column.Type, column.Doc)
			}
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("print the tables: %w", err)
		}
		return nil
	}
	return c
}

func described() (all []describedTable) {
	for _, d := range tables.All() {
		all = append(all, describedTable{d.Name, d.Doc, d.OptIn, d.Columns()})
	}
	return all
}
