package rules

import "strings"

const (
	databaseType  = "aws:glue/catalogDatabase:CatalogDatabase"
	tableType     = "aws:glue/catalogTable:CatalogTable"
	workgroupType = "aws:athena/workgroup:Workgroup"
	databaseAPI   = "Glue API, DatabaseInput"
	tableAPI      = "Glue API, TableInput"
	columnAPI     = "Glue API, Column"
	workgroupAPI  = "Athena API, CreateWorkGroup"
)

// lakeRules cover Glue and Athena.
func lakeRules() []Rule {
	// Athena User Guide, "Name databases, tables, and columns".
	const names, inWords = `^[a-z0-9_]{1,255}$`, "must be 1 to 255 characters of a-z, 0-9 and _ for Athena"
	return []Rule{
		{Type: databaseType, Path: "name", Rule: inWords, Source: databaseAPI, Holds: matches(names), Pass: "history", Fail: "spark-history"},
		{Type: databaseType, Path: "description", Rule: "must be at most 2048 characters", Source: databaseAPI, Holds: maxLength(2048),
			Pass: "history", Fail: strings.Repeat("d", 2049)},
		{Type: tableType, Path: "name", Rule: inWords, Source: tableAPI, Holds: matches(names), Pass: "jobs", Fail: "Jobs"},
		{Type: tableType, Path: "description", Rule: "must be at most 2048 characters", Source: tableAPI, Holds: maxLength(2048),
			Pass: "jobs", Fail: strings.Repeat("d", 2049)},
		{Type: tableType, Path: "storageDescriptor.columns[*].comment", Rule: "must be one line of at most 255 characters", Source: columnAPI,
			Holds: matches(`^[^\r\n]{0,255}$`), Pass: "a job", Fail: strings.Repeat("c", 256)},
		{Type: tableType, Path: "partitionKeys[*].comment", Rule: "must be one line of at most 255 characters", Source: columnAPI,
			Holds: matches(`^[^\r\n]{0,255}$`), Pass: "a date", Fail: "a\ndate"},
		{Type: tableType, Path: "storageDescriptor.location", Rule: "must be an s3:// URI that ends in a slash", Source: "Athena User Guide, " +
			"Specify a table location in Amazon S3", Holds: matches(`^s3://.+/$`), Pass: "s3://bucket/jobs/", Fail: "s3://bucket/jobs"},
		{Type: workgroupType, Path: "name", Rule: "must be 1 to 128 characters of a-z, A-Z, 0-9 and ._-", Source: workgroupAPI,
			Holds: matches(`^[a-zA-Z0-9._-]{1,128}$`), Pass: "history", Fail: "Spark history"},
		{Type: workgroupType, Path: "configuration.bytesScannedCutoffPerQuery", Rule: "must be at least 10000000", Source: "Athena API, " +
			"WorkGroupConfiguration", Holds: onNumber(func(n float64) bool { return n >= 10_000_000 }), Pass: 10_000_000.0, Fail: 1_000_000.0},
		enum(workgroupType, "configuration.resultConfiguration.encryptionConfiguration.encryptionOption", "Athena API, EncryptionConfiguration",
			"SSE_KMS", "AES256", "SSE_S3", "SSE_KMS", "CSE_KMS"),
		enum(workgroupType, "state", "Athena API, UpdateWorkGroup", "ENABLED", "ON", "ENABLED", "DISABLED"),
	}
}
