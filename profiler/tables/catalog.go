package tables

import "strings"

// Partition is the column that a table's folders are named by: dt=YYYY-MM-DD.
const Partition = "dt"

// PartitionDoc describes it.
const PartitionDoc = "UTC date on which the application started, or the cluster was created; restrict it to read less"

// Compacted is the folder, beside the tables, that has one object for each of their days.
const Compacted = "compacted"

// CatalogDoc describes the schema of the tables.
const CatalogDoc = "History of Spark applications, one row per application attempt, job, stage, SQL execution and more"

// catalogTypes are types of columns in catalogs.
var catalogTypes = map[string]string{
	"BIGINT": "bigint", "DOUBLE": "double", "VARCHAR": "string", "BOOLEAN": "boolean", Timestamp: "timestamp",
}

// CatalogType returns the column's type as Hive's metastore, Glue and Spark name it.
func (c Column) CatalogType() string {
	element, list := strings.CutSuffix(c.Type, "[]")
	if list {
		return "array<" + catalogTypes[element] + ">"
	}
	return catalogTypes[element]
}

// firstDay is before any history that EMR has: it keeps persistent UIs since release 5.25, of June 2019. A query without
// a condition on the partition looks into each day since then, so that it is no earlier. Rows of an unknown day, which
// are in dt=1970-01-01, are not found: those of applications that could not be read and whose start nobody knows.
const firstDay = "2019-06-01"

// Projection returns the properties of a table in Glue by which Athena finds its folders without
// registered partitions (https://docs.aws.amazon.com/athena/latest/ug/partition-projection.html).
// Spark ignores them. location is the table's folder, without a slash at its end.
func Projection(location string) [][2]string {
	const of = "projection." + Partition
	return [][2]string{
		{"projection.enabled", "true"},
		{of + ".type", "date"},
		{of + ".format", "yyyy-MM-dd"},
		{of + ".range", firstDay + ",NOW"},
		{of + ".interval", "1"},
		{of + ".interval.unit", "DAYS"},
		{"storage.location.template", location + "/" + Partition + "=${" + Partition + "}/"},
	}
}
