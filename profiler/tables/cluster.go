package tables

import "strings"

// ClusterSummary is a row of the table cluster_summaries: a cluster, and the outcome of
// reading its history.
type ClusterSummary struct {
	Cluster
	Status                  string  `parquet:"status,dict" doc:"state of the cluster, in EMR's or Databricks' words"`
	AnalysisStatus          string  `parquet:"analysis_status,dict" doc:"COMPLETE, INCOMPLETE or FAILED"`
	StatusDetails           string  `parquet:"status_details" doc:"outcome of each endpoint as JSON: OK, FAILED(reason) or SKIPPED(reason)"`
	NormalizedInstanceHours *int64  `parquet:"normalized_instance_hours,optional" doc:"EMR's measure of the cluster's usage"`
	SparkContextID          *string `parquet:"spark_context_id,optional" doc:"Databricks only"`
	ReleaseLabel            *string `parquet:"release_label,optional,dict" doc:"release of EMR, or Databricks' runtime"`
	StateChangeReason       *string `parquet:"state_change_reason,optional" doc:"why the cluster ended, in EMR's or Databricks' words"`
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
	YARNLogTime             Millis  `parquet:"yarn_log_time,optional,timestamp(millisecond)" doc:"when EMR had uploaded the last log of the resource manager that was read"`
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
	Cause           *string  `parquet:"cause,optional" doc:"why it failed, by its logs in S3: the exception and the line that raised it, or how the program ended; null if no log says"`
}

// Cost is a row of the table costs: the usage of an instance group or fleet of a cluster.
type Cost struct {
	Cluster
	Group           string   `parquet:"instance_group,dict" doc:"id of the instance group or fleet"`
	Role            string   `parquet:"role,dict" doc:"master, core or task"`
	InstanceType    string   `parquet:"instance_type,dict" doc:"EC2 instance type"`
	Market          string   `parquet:"market,dict" doc:"ON_DEMAND or SPOT"`
	InstanceSeconds *int64   `parquet:"instance_seconds,optional" doc:"seconds for which its instances are paid; of running ones up to the last full hour, or the end of the last application if that is later; null if they could not be listed"`
	USD             *float64 `parquet:"usd,optional" doc:"what these seconds cost: EC2's list price, on spot less the type's usual discount, and EMR's fee; without volumes and traffic; null if unknown"`
	PriceDate       *string  `parquet:"price_date,optional,dict" doc:"date of the list prices on demand"`
}

// Instance is a row of the table instances: an EC2 instance that a cluster has or had. EMR lists
// those that ended for 30 days; the table keeps them.
type Instance struct {
	Cluster
	InstanceID   string `parquet:"instance_id" doc:"EC2's id"`
	Host         string `parquet:"host" doc:"private name, without its domain"`
	Address      string `parquet:"private_ip_address" doc:"private address"`
	Group        string `parquet:"instance_group,dict" doc:"id of its instance group or fleet"`
	Role         string `parquet:"role,dict" doc:"master, core or task"`
	InstanceType string `parquet:"instance_type,dict" doc:"EC2 instance type"`
	Market       string `parquet:"market,dict" doc:"ON_DEMAND or SPOT"`
	CreatedTime  Millis `parquet:"created_time,optional,timestamp(millisecond)" doc:"from when it is paid"`
	EndTime      Millis `parquet:"end_time,optional,timestamp(millisecond)" doc:"until when it is paid; null while it runs"`
}

// ApplicationCost is a row of the table application_costs: what part of a cluster an application,
// one of other kinds than Spark's too, had and what that cost; and what part nobody had. The rows
// of a cluster add up to its rows of costs, if all its types have prices.
type ApplicationCost struct {
	Cluster
	Kind            string   `parquet:"kind,dict" doc:"application; idle: capacity of nodes that no container had, their start included; primary: the primary nodes"`
	ApplicationID   string   `parquet:"application_id" doc:"YARN's id of the application; empty in other kinds"`
	AttemptID       string   `parquet:"attempt_id" doc:"attempt, as in applications; empty in other kinds"`
	ApplicationName string   `parquet:"application_name" doc:"name of the application"`
	StartTime       Millis   `parquet:"start_time,optional,timestamp(millisecond)" doc:"start of its first container; in other kinds, when the first instance was created"`
	EndTime         Millis   `parquet:"end_time,optional,timestamp(millisecond)" doc:"end of its last container; in other kinds, of the last instance; of what runs, up to when instance_seconds of costs count"`
	CoreHours       *float64 `parquet:"core_hours,optional" doc:"cores of its containers, the application master's included, times hours; of idle, those that nobody paid for"`
	USD             *float64 `parquet:"usd,optional" doc:"its part of the cost of the nodes, by the larger of its shares of a node's cores and memory; null if a type has no price"`
	SpotUSD         *float64 `parquet:"spot_usd,optional" doc:"of usd, what was paid for spot instances, by the type's usual discount"`
	Basis           string   `parquet:"basis,dict" doc:"source of core_hours: yarn (its own accounting, from the resource manager's log), executors (from their registration to their removal, which lacks the start of containers) or nodes"`
	VCoreSeconds    *int64   `parquet:"yarn_vcore_seconds,optional" doc:"vcoreSeconds as YARN accounted them to the application, all attempts; one per container unless capacity-scheduler uses the DominantResourceCalculator"`
	MiBSeconds      *int64   `parquet:"yarn_memory_mib_seconds,optional" doc:"memorySeconds as YARN accounted them to the application, all attempts"`
	MasterHost      *string  `parquet:"master_host,optional" doc:"host of the last application master, by YARN"`
	PriceDate       *string  `parquet:"price_date,optional,dict" doc:"date of the list prices"`
}

// Kinds of rows of application_costs, and what their core-hours are based on.
const (
	CostApplication = "application"
	CostIdle        = "idle"
	CostPrimary     = "primary"

	BasisYARN      = "yarn"
	BasisExecutors = "executors"
	BasisNodes     = "nodes"
)

// Completeness is a row of the table completeness: the rows that one endpoint of an
// application should have returned, and those seen. Nothing missing means nothing known to be.
type Completeness struct {
	Attempt
	Endpoint string `parquet:"endpoint,dict" doc:"applications, jobs, stages, tasks, task_summaries, executors, sql, sql_nodes or environments"`
	Expected *int64 `parquet:"expected,optional" doc:"rows that must exist by ids and counts; null if unknown"`
	Seen     int64  `parquet:"seen" doc:"rows that were read"`
	Missing  *int64 `parquet:"missing,optional" doc:"expected - seen; null if expected is null"`
	Reason   string `parquet:"reason,dict" doc:"retention, compaction, dropped_events, paging, truncation, missing_parts, cap, in_progress, unavailable, unsupported, or empty if nothing is missing"`
	Detail   string `parquet:"detail" doc:"in words"`
	Final    bool   `parquet:"final" doc:"reading again cannot find more"`
}

// Finding is a row of the table findings.
type Finding struct {
	Attempt
	Finding    string   `parquet:"finding,dict" doc:"rule, e.g. skew (docs/reference/rules.md)"`
	Severity   string   `parquet:"severity,dict" doc:"critical or warning; info if the rule could not be judged (not_checked)"`
	StageID    *int64   `parquet:"stage_id,optional" doc:"stage concerned"`
	StageTry   *int64   `parquet:"stage_attempt_id,optional" doc:"attempt of the stage"`
	SQLID      *int64   `parquet:"sql_id,optional" doc:"SQL execution concerned"`
	Impact     *int64   `parquet:"impact_ms,optional" doc:"upper bound of the wall-clock time that it cost, in milliseconds"`
	ImpactRate *float64 `parquet:"impact_ratio,optional" doc:"share of the application's wall-clock time, 0 to 1"`
	Summary    string   `parquet:"summary" doc:"what was found, with its figures"`
	Evidence   []string `parquet:"evidence,list" doc:"keys of the rows that show it: table/column=value…"`
	Advice     string   `parquet:"advice" doc:"what to change"`
	Basis      string   `parquet:"basis,optional,dict" doc:"how impact_ms was found: exact, share, tail; core (core-hours, no time) or event (unknown)"`
	Value      *float64 `parquet:"value,optional" doc:"what was measured, in unit"`
	Limit      *float64 `parquet:"limit_value,optional" doc:"the rule's limit that it is at or beyond, in unit"`
	Unit       string   `parquet:"unit,optional,dict" doc:"share (0 to 1), times, s, ms, bytes, core-hours or count"`
	CoreHours  *float64 `parquet:"core_hours,optional" doc:"core-hours that it cost, of findings with the basis core"`
	Changes    []string `parquet:"changes,list,optional" doc:"settings that cure it, as property=value"`
	Settings   []string `parquet:"settings,list,optional" doc:"the same properties as they were set, as property=value; without a value if not set"`
	Total      *int64   `parquet:"total,optional" doc:"findings of the rule in this attempt, with those that were left out since they cost least"`
	NotChecked string   `parquet:"not_checked,optional" doc:"why the rule was not judged; null for a finding"`
	Rules      string   `parquet:"rules,optional,dict" doc:"version of the rules"`
	Recipe     string   `parquet:"recipe,optional,dict" doc:"page of the project about the rule's causes and cures"`
}

// Change is a property of a finding's Changes and Settings.
type Change struct {
	Property string
	Value    string // that cures
	Now      string // as it was set; "" if it was not
}

// Cures returns the changes of a finding with what was set.
func (f *Finding) Cures() (all []Change) {
	now := map[string]string{}
	for _, setting := range f.Settings {
		property, value, _ := strings.Cut(setting, "=")
		now[property] = value
	}
	for _, change := range f.Changes {
		property, value, _ := strings.Cut(change, "=")
		all = append(all, Change{property, value, now[property]})
	}
	return all
}

// IneffJobRaw is a row of the table ineffjobraw: the flags of a stage's attempt.
type IneffJobRaw struct {
	Attempt
	Stage
	SkewFlag           *bool  `parquet:"skew_flag,optional" doc:"median > 2 × minimum or maximum > 2 × median of the tasks' durations"`
	MemorySpillFlag    *bool  `parquet:"memory_spill_flag,optional" doc:"median or maximum of memory spilled by a task > 256 MiB"`
	DiskSpillFlag      *bool  `parquet:"disk_spill_flag,optional" doc:"median or maximum of disk spilled by a task > 256 MiB"`
	ChunkFlag          *bool  `parquet:"chunk_flag,optional" doc:"median or maximum of data read, written or shuffled by a task > 512 MiB"`
	ProcessingRateFlag *bool  `parquet:"processing_rate_flag,optional" doc:"median bytes per millisecond outside 0.01 to 10,000; not part of inefficient"`
	CompletionRateFlag *bool  `parquet:"completion_rate_flag,optional" doc:"task_completion_rate < 90"`
	Inefficient        bool   `parquet:"inefficient" doc:"any flag except processing_rate_flag is set"`
	StageMillis        *int64 `parquet:"stage_ms,optional" doc:"duration of the stage's attempt"`
}

// IneffJobAgg is a row of the table ineffjobagg: how inefficient an application was.
type IneffJobAgg struct {
	Attempt
	IneffStageAgg *float64 `parquet:"ineffstageagg,optional" doc:"time of inefficient stages / time of all stages, 0 to 100; the notebooks list clusters above 25, whose share is that of the sums of stage_ms in ineffjobraw"`
	StartTime     Millis   `parquet:"start_time,optional,timestamp(millisecond)" doc:"start of the application"`
}

// PhotonAnalysis is a row of the table photonanalysis: how much of an application, of one of its SQL
// executions or of a kind of its operators Databricks' engine Photon runs (package
// profiler/photon). Operators without work of their own, such as WholeStageCodegen, do not count.
type PhotonAnalysis struct {
	Attempt
	JobPhotonPerc    *float64 `parquet:"jobphotonperc,optional" doc:"the notebook's figure: share of the nodes of all plans, wrappers included, whose names are not among nine, 0 to 100; null of a kind of operators"`
	SQLID            *int64   `parquet:"sql_id,optional" doc:"SQL execution; null of the whole application"`
	Operator         *string  `parquet:"operator,optional,dict" doc:"kind of operators; null of all"`
	Operators        *int64   `parquet:"operators,optional" doc:"operators that do work"`
	TimeMillis       *float64 `parquet:"time_ms,optional" doc:"milliseconds of these operators, over all tasks; of executions without such times, their duration"`
	SupportedShare   *float64 `parquet:"supported_share,optional" doc:"share of time_ms in operators that Photon runs, 0 to 1"`
	UnsupportedShare *float64 `parquet:"unsupported_share,optional" doc:"share of time_ms in operators that Photon does not run, 0 to 1"`
	UnknownShare     *float64 `parquet:"unknown_share,optional" doc:"share of time_ms in operators of which nothing is published, 0 to 1"`
	Approximate      *bool    `parquet:"approximate,optional" doc:"some times were divided evenly among the operators of a WholeStageCodegen or an execution"`
}
