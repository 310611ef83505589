package tables

// ClusterSummary is a row of the table cluster_summaries: a cluster, and the outcome of
// reading its history.
type ClusterSummary struct {
	Cluster
	Status                  string  `parquet:"status,dict" doc:"EMR's state of the cluster"`
	AnalysisStatus          string  `parquet:"analysis_status,dict" doc:"COMPLETE, INCOMPLETE or FAILED"`
	StatusDetails           string  `parquet:"status_details" doc:"outcome of each endpoint as JSON: OK, FAILED(reason) or SKIPPED(reason)"`
	NormalizedInstanceHours *int64  `parquet:"normalized_instance_hours,optional" doc:"EMR's measure of the cluster's usage"`
	SparkContextID          *string `parquet:"spark_context_id,optional" doc:"Databricks only"`
	ReleaseLabel            *string `parquet:"release_label,optional,dict" doc:"EMR release"`
	StateChangeReason       *string `parquet:"state_change_reason,optional" doc:"why the cluster ended, in EMR's words"`
	CreatedTime             Millis  `parquet:"created_time,optional,timestamp(millisecond)" doc:"creation of the cluster"`
	ReadyTime               Millis  `parquet:"ready_time,optional,timestamp(millisecond)" doc:"when it could run steps"`
	EndTime                 Millis  `parquet:"end_time,optional,timestamp(millisecond)" doc:"end of the cluster"`
	TotalApplications       int64   `parquet:"total_applications" doc:"attempts of applications that were found"`
	ReadApplications        int64   `parquet:"read_applications" doc:"of them, attempts that were read; fewer if a limit applied"`
	TotalJobs               int64   `parquet:"total_jobs" doc:"jobs"`
	TotalStages             int64   `parquet:"total_stages" doc:"attempts of stages"`
	TotalTasks              int64   `parquet:"total_tasks" doc:"attempts of tasks"`
	TotalExecutors          int64   `parquet:"total_executors" doc:"executors, drivers included"`
	TotalSQL                int64   `parquet:"total_sql" doc:"SQL executions"`
}

// Step is a row of the table steps: a step of an EMR cluster.
type Step struct {
	Cluster
	StepID          string   `parquet:"step_id" doc:"EMR's id of the step"`
	StepName        string   `parquet:"step_name" doc:"name"`
	State           string   `parquet:"state,dict" doc:"EMR's state of the step"`
	ActionOnFailure string   `parquet:"action_on_failure,dict" doc:"what EMR does if it fails"`
	FailureReason   *string  `parquet:"failure_reason,optional" doc:"EMR's reason, truncated"`
	CreatedTime     Millis   `parquet:"created_time,optional,timestamp(millisecond)" doc:"when it was added"`
	StartTime       Millis   `parquet:"start_time,optional,timestamp(millisecond)" doc:"start"`
	EndTime         Millis   `parquet:"end_time,optional,timestamp(millisecond)" doc:"end"`
	DurationMillis  *int64   `parquet:"duration_ms,optional" doc:"milliseconds from start to end"`
	ApplicationIDs  []string `parquet:"application_ids,list" doc:"YARN applications that it started"`
	LinkedBy        string   `parquet:"linked_by,dict" doc:"source of application_ids: additional_info, step_log, step_log_early (before EMR had uploaded all of it), or empty if unknown"`
}

// Cost is a row of the table costs: the usage of an instance group or fleet of a cluster.
type Cost struct {
	Cluster
	Group           string   `parquet:"instance_group,dict" doc:"id of the instance group or fleet"`
	Role            string   `parquet:"role,dict" doc:"master, core or task"`
	InstanceType    string   `parquet:"instance_type,dict" doc:"EC2 instance type"`
	Market          string   `parquet:"market,dict" doc:"ON_DEMAND or SPOT"`
	InstanceSeconds *int64   `parquet:"instance_seconds,optional" doc:"seconds of all its instances; not filled yet"`
	USD             *float64 `parquet:"usd,optional" doc:"price of EC2 and EMR; not filled yet"`
}
