package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

const ddlHelp = `Prints SQL that declares the tables in a catalog, with a comment on every column:

  athena      external tables of Glue; Athena finds new days by partition projection
  spark       external tables for Spark 3.4 and later
  databricks  external tables in Unity Catalog, a volume for delivered logs, and the notebooks' fourteen tools as table
              functions, which replace functions of the same names
  duckdb      views of the tables that exist, and the same functions as table macros

It calls neither AWS nor Databricks, but for duckdb, which lists the tables' folders. Existing tables stay as they are:
after a version that adds columns, use --replace in a schema that has no other tables. It drops tables of these names:
external ones keep their files, managed ones would not.`

const ddlExamples = `  # run each statement in Athena
  observatory-profiler ddl --dialect athena --s3-output-path s3://BUCKET/lake/history/
  # views and functions for DuckDB
  observatory-profiler ddl --dialect duckdb --output ./history > history.sql
  duckdb -init history.sql -c "SELECT * FROM getslowestjobs(id => 'etl_daily')"`

func ddlCommand() *cobra.Command {
	c := newCommand("ddl", "Print SQL that declares the tables to Athena, Spark, Databricks or DuckDB", ddlHelp)
	c.Example = ddlExamples
	flags := run.AddFlags(c.Flags(), append(run.LakeOptions(), run.CatalogOptions()...))
	dialect := c.Flags().String("dialect", "", "athena, spark, databricks or duckdb")
	replace := c.Flags().Bool("replace", false, "drop tables of the same names first; files of external tables stay, grants do not")
	asJSON := c.Flags().Bool("json", false, "print the statements as a JSON list")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		statements, err := declared(cmd, flags, ddl.Dialect(*dialect), *replace)
		if err != nil {
			return err
		}
		if *asJSON {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(statements)
		} else {
			_, err = io.WriteString(cmd.OutOrStdout(), strings.Join(statements, ";\n\n")+";\n")
		}
		if err != nil {
			return fmt.Errorf("print the statements: %w", err)
		}
		return nil
	}
	return c
}

// declared returns the statements of a dialect.
func declared(cmd *cobra.Command, flags run.Flags, dialect ddl.Dialect, replace bool) ([]string, error) {
	options, config, err := resolved(cmd.Context(), flags, func(o run.Options) error { return reachable(o, dialect) })
	if err != nil {
		return nil, err
	}
	at, err := locationOf(options)
	if err != nil {
		return nil, err
	}
	if dialect == ddl.DuckDB {
		kept, _, err := run.Open(cmd.Context(), config, options)
		if err != nil {
			return nil, err
		}
		views, err := kept.Views(cmd.Context(), at)
		if err != nil {
			return nil, err
		}
		described, err := ddl.OfDuckDB()
		return append(views, described...), err
	}
	statements, err := ddl.Statements(dialect, ddl.Catalog{
		Name: options.CatalogName, Schema: options.SchemaName, Volume: options.VolumeName, Location: at, Replace: replace,
	})
	if err != nil {
		return nil, usage(err)
	}
	return statements, nil
}

// reachable refuses unknown dialects, and folders for services.
func reachable(o run.Options, d ddl.Dialect) error {
	if !slices.Contains(ddl.Dialects(), d) {
		return fmt.Errorf("--dialect: %q must be one of %s", d, strings.Trim(fmt.Sprint(ddl.Dialects()), "[]"))
	}
	if o.S3OutputPath == "" && (d == ddl.Athena || d == ddl.Databricks) {
		return errors.New("--s3-output-path: " + string(d) + " reads tables in S3 only; give s3://BUCKET/PREFIX/, to which a run writes them")
	}
	return nil
}

// locationOf returns where the tables are: an s3:// URI, or a folder.
func locationOf(o run.Options) (string, error) {
	if o.S3OutputPath != "" {
		return o.S3OutputPath, nil
	}
	at, err := filepath.Abs(o.Output)
	if err != nil {
		return "", fmt.Errorf("find the folder %s: %w", o.Output, err)
	}
	return at, nil
}
