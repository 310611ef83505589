package platform

// airflow begins the properties that name the Airflow task instance that started a job.
const airflow = "spark." + Name + ".airflow."

// What is known of a task instance, under Airflow's own names: labels of the application,
// and ends of the properties.
const (
	AirflowDAG  = "dag_id"
	AirflowTask = "task_id"
	AirflowRun  = "run_id"
	AirflowTry  = "try_number" // the first is 1
)

// The properties.
const (
	SparkAirflowDAG  = airflow + AirflowDAG
	SparkAirflowTask = airflow + AirflowTask
	SparkAirflowRun  = airflow + AirflowRun
	SparkAirflowTry  = airflow + AirflowTry
)

// AirflowName says how one of a task instance's names reaches a job.
type AirflowName struct {
	Property string // of Spark
	Label    string // of the application
	// Variable has the name in the environment of a task's process (AIRFLOW_VAR_NAME_FORMAT_MAPPING:
	// in Airflow 2 in airflow.utils.operator_helpers, in Airflow 3 in airflow.sdk.execution_time.context).
	Variable string
}

// AirflowNames returns all of them.
func AirflowNames() []AirflowName {
	return []AirflowName{
		{SparkAirflowDAG, AirflowDAG, "AIRFLOW_CTX_DAG_ID"},
		{SparkAirflowTask, AirflowTask, "AIRFLOW_CTX_TASK_ID"},
		{SparkAirflowRun, AirflowRun, "AIRFLOW_CTX_DAG_RUN_ID"},
		{SparkAirflowTry, AirflowTry, "AIRFLOW_CTX_TRY_NUMBER"},
	}
}
