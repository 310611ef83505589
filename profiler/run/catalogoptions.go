package run

// CatalogOptions are those of ddl alone. Names and defaults are those of the notebooks.
func CatalogOptions() []Option {
	return []Option{
		text("catalog_name", "", "Catalog of Unity Catalog that the schema is in. Required for Databricks.", "", nil,
			func(o *Options) *string { return &o.CatalogName }),
		text("schema_name", "spark_observability", "Schema of the tables, in Athena and Spark a database.", "", nil,
			func(o *Options) *string { return &o.SchemaName }),
		text("volume_name", "profiler_logs_volume", "Volume for the logs that Databricks' clusters deliver.", "", nil,
			func(o *Options) *string { return &o.VolumeName }),
	}
}
