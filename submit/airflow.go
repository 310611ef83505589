package submit

import (
	"maps"
	"os"

	"github.com/emr-observatory/emr-observatory/platform"
)

// WithAirflow returns the options with the DAG, task and run of the Airflow task that
// this process runs in, which its environment names (Airflow, "BashOperator": variables
// AIRFLOW_CTX_…). Properties that are set already remain.
func (o Options) WithAirflow() Options {
	conf := maps.Clone(o.Conf)
	if conf == nil {
		conf = map[string]string{}
	}
	for key, variable := range map[string]string{
		platform.SparkAirflowDAG: "AIRFLOW_CTX_DAG_ID", platform.SparkAirflowTask: "AIRFLOW_CTX_TASK_ID",
		platform.SparkAirflowRun: "AIRFLOW_CTX_DAG_RUN_ID",
	} {
		if value, given := conf[key]; !given || value == "" {
			if value = os.Getenv(variable); value != "" {
				conf[key] = value
			}
		}
	}
	o.Conf = conf
	return o
}
