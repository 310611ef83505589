package schema_test

import (
	"testing"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func TestExecutorsAgainstNodes(t *testing.T) {
	type properties = map[string]string
	of := func(spark, yarn properties, types ...string) func(*violation.List) {
		s := schema.Settings(map[string]map[string]string{"spark-defaults": spark, "yarn-site": yarn})
		return func(l *violation.List) { schema.CheckExecutors(l, s, types, []string{"Spark"}) }
	}
	sized := func(cores, memory string, more ...string) properties {
		out := properties{"spark.executor.cores": cores, "spark.executor.memory": memory}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	runFactCases(t, []factCase{
		{"EMR sizes them", of(properties{"spark.executor.cores": "4"}, nil, "m5.xlarge"), nil, nil},
		{"a node each", of(sized("4", "10g"), nil, "m5.xlarge"), nil, nil},
		{"the advice is followed", of(sized("4", "12072m"), nil, "m5.4xlarge"), nil, nil},
		{"idle memory", of(sized("4", "6g"), nil, "m5.xlarge"), nil, []string{
			"spark-defaults.spark.executor.memory: \"6g\" should fill m5.xlarge: its 1 executors of 4 cores and 7296 MiB leave " +
				"0 % of the cores and 41 % of the memory idle; set spark.executor.cores to 4 and spark.executor.memory to 10347m, which fill it",
		}},
		{"idle cores", of(sized("5", "30g"), nil, "m5.4xlarge"), nil, []string{
			"spark-defaults.spark.executor.memory: \"30g\" should fill m5.4xlarge: its 1 executors of 5 cores and 36480 MiB leave " +
				"69 % of the cores and 36 % of the memory idle; set spark.executor.cores to 4 and spark.executor.memory to 12072m, which fill it",
		}},
		{"too many tasks", of(sized("4", "2g"), nil, "m5.xlarge"), nil, []string{
			"spark-defaults.spark.executor.memory: \"2g\" should leave a core to each task: on m5.xlarge YARN places 5 executors by their memory, " +
				"with 20 cores of 4; set spark.executor.cores to 4 and spark.executor.memory to 10347m, which fill it",
		}},
		{"none fits", of(sized("4", "12g"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"12g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead an executor " +
				"takes 14592 MiB; set it to 10347m at most, or use a larger type",
		}, nil},
		{"none fits on the small ones", of(sized("4", "18g"), nil, "m5.2xlarge", "m5.xlarge"), nil, []string{
			"spark-defaults.spark.executor.memory: \"18g\" should fill m5.2xlarge: its 1 executors of 4 cores and 21888 MiB leave 50 % of the " +
				"cores and 11 % of the memory idle; set spark.executor.cores to 4 and spark.executor.memory to 10347m, which fill it",
			"spark-defaults.spark.executor.memory: \"18g\" should fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead an executor " +
				"takes 21888 MiB, so that those nodes run none; set it to 10347m at most, or use a larger type",
		}},
		{"YARN has less", of(sized("4", "8g"), properties{"yarn.nodemanager.resource.memory-mb": "8192"}, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"8g\" must fit into what YARN has of m5.xlarge, 8192 MiB: with its overhead an executor takes " +
				"9728 MiB; set it to 6898m at most, or use a larger type",
		}, nil},
		{"overhead outright", of(sized("4", "11g", "spark.executor.memoryOverhead", "1g"), nil, "m5.xlarge"), nil, nil},
		{"overhead's share", of(sized("4", "11g", "spark.executor.memoryOverheadFactor", "0.05"), nil, "m5.xlarge"), nil, nil},
		{"beside the heap", of(sized("4", "9g", "spark.executor.pyspark.memory", "1g", "spark.memory.offHeap.enabled", "true",
			"spark.memory.offHeap.size", "1073741824"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"9g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead an executor " +
				"takes 12992 MiB; set it to 8623m at most, or use a larger type",
		}, nil},
		{"off-heap memory that is off", of(sized("4", "10g", "spark.memory.offHeap.size", "8g"), nil, "m5.xlarge"), nil, nil},
		{"no size", of(sized("4", "ten"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"ten\" must be a size such as 4g or 512m; write a number and k, m, g or t",
		}, nil},
		{"a size that only looks like one", of(sized("4", "10km"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"10km\" must be a size such as 4g or 512m; write a number and k, m, g or t",
		}, nil},
		{"a size beyond all memory", of(sized("4", "99999999999t"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"99999999999t\" must be a size such as 4g or 512m; write a number and k, m, g or t",
		}, nil},
		{"bytes, as Spark reads them", of(sized("4", "10737418240b"), nil, "m5.xlarge"), nil, nil},
		{"no number of cores", of(sized("0", "10g"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.cores: \"0\" must be a number of cores above 0; write it as digits",
		}, nil},
		{"no factor", of(sized("4", "10g", "spark.executor.memoryOverheadFactor", "10%"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memoryOverheadFactor: \"10%\" must be a number above 0 such as 0.1875; write it as a decimal",
		}, nil},
		{"type that nobody knows", of(sized("4", "900g"), nil, "m99.xlarge"), nil, nil},
	})
}

// Told to count cores, YARN places no more executors than those have.
func TestDominantCalculatorCountsCores(t *testing.T) {
	s := schema.Settings(map[string]map[string]string{
		"spark-defaults": {"spark.executor.cores": "4", "spark.executor.memory": "2g"},
		"capacity-scheduler": {
			"yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
		},
	})
	runFactCases(t, []factCase{{"memory is idle", func(l *violation.List) {
		schema.CheckExecutors(l, s, []string{"m5.xlarge"}, []string{"Spark"})
	}, nil, []string{
		"spark-defaults.spark.executor.memory: \"2g\" should fill m5.xlarge: its 1 executors of 4 cores and 2432 MiB leave " +
			"0 % of the cores and 80 % of the memory idle; set spark.executor.cores to 4 and spark.executor.memory to 10347m, which fill it",
	}}, {"HBase takes a part", func(l *violation.List) {
		schema.CheckExecutors(l, s, []string{"m5.xlarge"}, []string{"Spark", "HBase"})
	}, nil, nil}})
}
