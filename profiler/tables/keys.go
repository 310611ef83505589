package tables

// Cluster identifies the cluster that rows come from.
type Cluster struct {
	Account     string `parquet:"account,dict" doc:"AWS account of the cluster; empty if the source belongs to none"`
	Region      string `parquet:"region,dict" doc:"AWS region; empty if the source is in none"`
	ClusterID   string `parquet:"cluster_id,dict" doc:"EMR's id (j-…), Databricks' id, or the name given to the source"`
	ClusterName string `parquet:"cluster_name,dict" doc:"name of the cluster"`
}

// Attempt identifies an attempt of an application. Stage, job and SQL ids repeat across
// applications and attempts, so every table about applications has all of these columns.
type Attempt struct {
	Cluster
	ApplicationID string `parquet:"application_id,dict" doc:"YARN's or Spark's id of the application"`
	AttemptID     string `parquet:"attempt_id,dict" doc:"YARN's attempt in cluster mode; empty in client mode, which has none"`
	Source        Source `parquet:"source,dict" doc:"source of the row: logs or rest; empty for an application that was not read"`
}

// Source is the source of a row.
type Source string

// Sources.
const (
	SourceLogs Source = "logs" // Spark's event log
	SourceREST Source = "rest" // the REST API of a Spark UI or history server
)

// Stage identifies an attempt of a stage.
type Stage struct {
	StageID        int64 `parquet:"stage_id" json:"stageId" doc:"stage; unique in an attempt of an application"`
	StageAttemptID int64 `parquet:"stage_attempt_id" json:"attemptId" doc:"attempt of the stage, from 0"`
}

// Millis is a time in milliseconds since 1970, UTC. In an optional column 0 is null.
type Millis = int64
