package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const tablesHelp = `Lists the tables with their columns: name, SQL type, meaning. Types are those of Spark and DuckDB; times are UTC. The
command ddl declares them to catalogs.`

// describedTable is a table in the output of --json.
type describedTable struct {
	Name    tables.Name     `json:"name"`
	Doc     string          `json:"doc"`
	OptIn   bool            `json:"opt_in"`
	Columns []tables.Column `json:"columns"`
}

func tablesCommand() *cobra.Command {
	c := newCommand("tables", "List the tables and their columns", tablesHelp)
	flags := run.AddFlags(c.Flags(), run.LakeOptions())
	asJSON := c.Flags().Bool("json", false, "print them as JSON")
	asSQL := c.Flags().Bool("sql", false, "print SQL of DuckDB that makes views of the tables in --output or --s3-output-path")
	c.MarkFlagsMutuallyExclusive("json", "sql")
	if err := c.Flags().MarkDeprecated("sql", "use ddl --dialect duckdb, which also has comments and functions"); err != nil {
		panic(err) // the flag is this command's
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *asSQL {
			return printViews(cmd, flags)
		}
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

func printViews(cmd *cobra.Command, flags run.Flags) error {
	options, config, err := resolved(cmd.Context(), flags)
	if err != nil {
		return err
	}
	kept, _, err := run.Open(cmd.Context(), config, options)
	if err != nil {
		return err
	}
	at, err := locationOf(options)
	if err != nil {
		return err
	}
	views, err := kept.Views(cmd.Context(), at, false)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), strings.Join(views, ";\n")+";\n"); err != nil {
		return fmt.Errorf("print the views: %w", err)
	}
	return nil
}

func described() (all []describedTable) {
	for _, d := range tables.All() {
		all = append(all, describedTable{d.Name, d.Doc, d.OptIn, d.Columns()})
	}
	return all
}
