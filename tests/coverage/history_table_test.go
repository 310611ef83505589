package coverage_test

// historyDocument answers what is wanted of the profiler of Spark's history without tools.
func historyDocument() document {
	return document{
		"The history profiler",
		"An earlier form of the document before: the same profiler as one script, without tools. What both say is answered alike.",
		[]section{
			{"Overview", historyOverview()},
			{"Key features of the script", historyFeatures()},
			{"The script's permissions in AWS", permissions()},
			{"The script's permissions in Databricks", databricksSecrets()},
			{"The script's variables", emrVariables()},
			{"The script's caveats", caveats()},
		},
	}
}

func historyOverview() []row {
	return []row{
		{
			"A script analyses the performance of EMR and Databricks clusters by Spark's history server.", done, deliveredOnly,
			at{historyGuide, clustersOfEMR, workspaceClusters, databricksLog},
		},
		{"It discovers clusters, or takes an ARN.", done, "", at{fromEMR, discovery, "profiler/source TestClusterARNs"}},
		{
			"It connects to their history UIs.", corrected,
			"The event log comes first, which a UI hands out whole: its REST API forgets, rounds and replays. It is the fallback.",
			at{"docs/decisions/0013-history-tables.md", "docs/reference/history-differences.md", twoRoads},
		},
		{
			"It collects applications, jobs, stages and queries.", done, "Failed and running ones, too.",
			at{"docs/reference/tables.md#tables", "profiler/fold TestFailures"},
		},
		{
			"It makes DataFrames or writes to S3, for analysis and optimization.", corrected,
			"It writes Parquet to S3 or a folder, and findings that say what to change.",
			at{queryGuide, "docs/guides/history.md#findings", sqlAgrees},
		},
	}
}

func historyFeatures() []row {
	return []row{
		{
			"Discovers EMR or Databricks clusters and reads history data.", done, deliveredOnly,
			at{fromEMR, fromDatabricks, workspaceClusters, databricksLog},
		},
		{"Processes metrics of applications, jobs, stages and SQL.", done, "", at{"docs/reference/tables.md#tables", twoRoads}},
		{
			"Produces Spark DataFrames, with S3 as an option.", corrected,
			"Parquet that Spark and DuckDB read alike; no cluster is needed to write it.", at{queryGuide, sqlAgrees},
		},
		{"Is made for many clusters.", done, "", at{limitsOfUIs, "profiler/source TestDiscoveryStaysWithinQuota"}},
	}
}
