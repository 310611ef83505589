package ddl

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// athena declares tables whose folders Athena projects. The partition is a string, as in all of
// AWS' examples of dates; ISO dates compare like texts.
func athena(c Catalog) []string {
	all := []string{fmt.Sprintf("CREATE DATABASE IF NOT EXISTS `%s` COMMENT %s", c.Schema, text(tables.CatalogDoc))}
	for _, d := range tables.All() {
		name := fmt.Sprintf("`%s`.`%s`", c.Schema, d.Name)
		if c.Replace {
			all = append(all, "DROP TABLE IF EXISTS "+name)
		}
		var properties []string
		for _, p := range tables.Projection(c.locationOf(d)) {
			properties = append(properties, fmt.Sprintf("  '%s' = '%s'", p[0], p[1]))
		}
		all = append(all, fmt.Sprintf("CREATE EXTERNAL TABLE IF NOT EXISTS %s (\n%s\n)\nCOMMENT %s\nPARTITIONED BY (`%s` string COMMENT %s)\n"+
			"STORED AS PARQUET\nLOCATION '%s/'\nTBLPROPERTIES (\n%s\n)",
			name, declared(d), text(d.Doc), tables.Partition, text(tables.PartitionDoc), c.locationOf(d), strings.Join(properties, ",\n")))
	}
	return all
}

// manageSetting has Spark keep tables' partitions in the catalog, which new days would be missing from until
// somebody repairs the table. Without it Spark lists a table's folders at a session's first query.
const manageSetting = "spark.sql.hive.manageFilesourcePartitions"

// spark declares tables whose folders Spark lists.
func spark(c Catalog) []string {
	in := fmt.Sprintf("`%s`", c.Schema)
	all := append([]string{"SET " + manageSetting + " = false", schema(in)}, external(in, c)...)
	return append(all, "RESET "+manageSetting)
}

func schema(name string) string {
	return fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %s COMMENT %s", name, text(tables.CatalogDoc))
}

// external declares the tables as Spark and Databricks do, in a schema.
func external(schema string, c Catalog) (all []string) {
	for _, d := range tables.All() {
		name := fmt.Sprintf("%s.`%s`", schema, d.Name)
		if c.Replace {
			all = append(all, "DROP TABLE IF EXISTS "+name)
		}
		all = append(all, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n%s,\n  `%s` date COMMENT %s\n)\nUSING PARQUET\nPARTITIONED BY (`%s`)\n"+
			"COMMENT %s\nLOCATION '%s'",
			name, declared(d), tables.Partition, text(tables.PartitionDoc), tables.Partition, text(d.Doc), c.locationOf(d)))
	}
	return all
}

// volumeDoc describes the volume.
const volumeDoc = "Logs that clusters deliver (cluster_log_conf), which the profiler reads"

// databricks declares external tables in Unity Catalog, which lists their folders itself, the
// volume and the functions. The volume is a managed one: an external one may not overlap the
// location of a table (https://docs.databricks.com/aws/en/volumes/managed-vs-external).
func databricks(c Catalog) ([]string, error) {
	in := fmt.Sprintf("`%s`.`%s`", c.Name, c.Schema)
	all := []string{schema(in)}
	if c.Volume != "" {
		all = append(all, fmt.Sprintf("CREATE VOLUME IF NOT EXISTS %s.`%s` COMMENT %s", in, c.Volume, text(volumeDoc)))
	}
	all = append(all, external(in, c)...)
	functions, err := functionsOfDatabricks(in)
	return append(all, functions...), err
}
