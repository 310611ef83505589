package tables

// SQL is a row of the table sql: a SQL execution.
type SQL struct {
	Attempt
	SQLID          int64   `parquet:"sql_id" doc:"SQL execution"`
	RootSQLID      *int64  `parquet:"root_sql_id,optional" doc:"execution that it is part of, or its own id; since Spark 3.4, logs only"`
	Description    string  `parquet:"description" doc:"description or call site, truncated"`
	Status         string  `parquet:"status,dict" doc:"RUNNING, COMPLETED or FAILED"`
	ErrorMessage   *string `parquet:"error_message,optional" doc:"why it failed, truncated; since Spark 3.4, logs only"`
	SubmissionTime Millis  `parquet:"submission_time,optional,timestamp(millisecond)" doc:"start"`
	CompletionTime Millis  `parquet:"completion_time,optional,timestamp(millisecond)" doc:"end"`
	DurationMillis *int64  `parquet:"duration_ms,optional" doc:"milliseconds from start to end"`
	JobIDs         []int64 `parquet:"job_ids,list" doc:"its jobs"`
	FailedJobIDs   []int64 `parquet:"failed_job_ids,list" doc:"its failed jobs"`
	PlanLength     int64   `parquet:"plan_length" doc:"characters of the physical plan"`
	RawJSON        string  `parquet:"sql_raw_json" doc:"final plan as JSON: nodes (nodeId, nodeName, wholeStageCodegenId) and edges (fromId, toId), as in Spark's REST API"`
	PlanShape      *string `parquet:"plan_shape,optional" doc:"identifies the plan's operators and their order, without what adaptive execution decides and without digits in names"`
}

// Operation is a row of the table operations: what a client of a Spark Connect server asked for.
type Operation struct {
	Attempt
	SessionID      string  `parquet:"session_id,dict" doc:"the client's session"`
	OperationID    string  `parquet:"operation_id" doc:"operation, unique within the session"`
	User           string  `parquet:"connect_user,dict" doc:"the session's user, as the client says"`
	Statement      *string `parquet:"statement,optional" doc:"SQL statement, truncated; null of a data frame's plan"`
	Status         string  `parquet:"status,dict" doc:"RUNNING, COMPLETED or FAILED; canceled ones have FAILED"`
	ErrorMessage   *string `parquet:"error_message,optional" doc:"why it failed, truncated"`
	SubmissionTime Millis  `parquet:"submission_time,optional,timestamp(millisecond)" doc:"start"`
	CompletionTime Millis  `parquet:"completion_time,optional,timestamp(millisecond)" doc:"end"`
	DurationMillis *int64  `parquet:"duration_ms,optional" doc:"milliseconds from start to end"`
	JobIDs         []int64 `parquet:"job_ids,list" doc:"the jobs that it ran"`
}

// SQLNode is a row of the table sql_nodes: a metric of an operator in the final plan for
// which Spark reported a value. An operator without such metrics has one row with an empty
// metric.
type SQLNode struct {
	Attempt
	SQLID      int64  `parquet:"sql_id" doc:"SQL execution"`
	NodeID     int64  `parquet:"node_id" doc:"operator, numbered as in Spark's REST API"`
	NodeName   string `parquet:"node_name,dict" doc:"operator"`
	CodegenID  *int64 `parquet:"codegen_id,optional" doc:"WholeStageCodegen that the operator is part of"`
	Metric     string `parquet:"metric,dict" doc:"metric, in Spark's words"`
	MetricType string `parquet:"metric_type,dict" doc:"sum, size, timing, nsTiming or average; empty from rest, where it is unknown"`
	Value      *int64 `parquet:"value,optional" doc:"total over tasks, in the unit of its type (count, bytes, ms, ns, tenths); null where the text from rest is not exact"`
	Text       string `parquet:"text" doc:"value as formatted by Spark's REST API; rest only"`
}
