package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

const ddlHelp = `Prints SQL that declares the tables in a catalog, with a comment on every column:

  athena      external tables of Glue; Athena finds new days by partition projection
  spark       external tables for Spark 3.4 and later
  databricks  external tables in Unity Catalog, a volume for delivered logs, and the notebooks' fourteen tools as table
              functions, which replace functions of the same names
  duckdb      views of the tables that exist, and the same functions as table macros

With --compacted they have one file per day, which the command compact writes, and are many times faster: a row is then
found once its day has been compacted. On the control node the profiler's hourly runs do that.

It calls neither AWS nor Databricks, but for duckdb, which lists the tables' folders. Existing tables stay as they are:
after a version that adds columns, use --replace in a schema that has no other tables. It drops tables of these names:
external ones keep their files, managed ones would not.`

const ddlExamples = `  # run each statement in Athena
  observatory-profiler ddl --dialect athena --compacted --s3-output-path s3://BUCKET/lake/history/
  # views and functions for DuckDB
  observatory-profiler ddl --dialect duckdb --output ./history > history.sql
  duckdb -init history.sql -c "SELECT * FROM getslowestjobs(id => 'etl_daily')"`

func ddlCommand() *cobra.Command {
	c := newCommand("ddl", "Print SQL that declares the tables to Athena, Spark, Databricks or DuckDB", ddlHelp)
	c.Example = ddlExamples
	flags := run.AddFlags(c.Flags(), append(run.LakeOptions(), run.CatalogOptions()...))
	dialect := c.Flags().String("dialect", "", "athena, spark, databricks or duckdb")
	replace := c.Flags().Bool("replace", false, "drop tables of the same names first; files of external tables stay, grants do not")
	compacted := c.Flags().Bool("compacted", false, "declare the one file per table and day that the command compact writes")
	asJSON := c.Flags().Bool("json", false, "print the statements as a JSON list")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		statements, err := declared(cmd, flags, ddl.Dialect(*dialect), *compacted, *replace)
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
func declared(cmd *cobra.Command, flags run.Flags, dialect ddl.Dialect, compacted, replace bool) ([]string, error) {
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
		if err := checkCompacted(cmd.Context(), kept, compacted); err != nil {
			return nil, err
		}
		views, err := kept.Views(cmd.Context(), at, compacted)
		if err != nil {
			return nil, err
		}
		described, err := ddl.OfDuckDB()
		return append(views, described...), err
	}
	statements, err := ddl.Statements(dialect, ddl.Catalog{
		Name: options.CatalogName, Schema: options.SchemaName, Volume: options.VolumeName, Location: at, Compacted: compacted,
		Replace: replace,
	})
	if err != nil {
		return nil, usage(err)
	}
	return statements, nil
}

// checkCompacted refuses views of compacted objects where there are none.
func checkCompacted(ctx context.Context, kept *lake.Lake, wanted bool) error {
	if !wanted {
		return nil
	}
	found, err := kept.IsCompacted(ctx)
	if err == nil && !found {
		return usage(errors.New("--compacted: nothing in these tables is compacted yet; run the command compact with the same options first"))
	}
	return err
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
