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
		return func(l *violation.List) { schema.CheckMemory(l, s, types[0], types, []string{"Spark"}) }
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
				"takes 12992 MiB, 9216 of them heap, 1728 overhead, 1024 spark.executor.pyspark.memory, 1024 spark.memory.offHeap.size; set it to " +
				"8623m at most, or use a larger type",
		}, nil},
		{"off-heap memory that is off", of(sized("4", "10g", "spark.memory.offHeap.size", "8g"), nil, "m5.xlarge"), nil, nil},
		{"off-heap memory that leaves no heap", of(sized("4", "8g", "spark.memory.offHeap.enabled", "true",
			"spark.memory.offHeap.size", "20g"), nil, "m5.xlarge"), []string{
			"spark-defaults.spark.memory.offHeap.size: \"20g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead an executor " +
				"takes 30208 MiB, 8192 of them heap, 1536 overhead, 20480 spark.memory.offHeap.size; set it to 2560m at most, or use a larger type",
		}, nil},
		{"off-heap memory beside a heap of EMR's", of(properties{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "20g"}, nil,
			"m5.xlarge"), []string{
			"spark-defaults.spark.memory.offHeap.size: \"20g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead an executor " +
				"takes 21314 MiB, 450 of them heap, 384 overhead, 20480 spark.memory.offHeap.size; set it to 11454m at most, or use a larger type",
		}, nil},
		{"two that leave no heap", of(sized("4", "1g", "spark.executor.pyspark.memory", "12g", "spark.executor.memoryOverhead", "13g"), nil,
			"m5.xlarge"), []string{
			"spark-defaults.spark.executor.memoryOverhead: \"13g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead an " +
				"executor takes 26624 MiB, 1024 of them heap, 13312 spark.executor.memoryOverhead, 12288 spark.executor.pyspark.memory; lower it and " +
				"spark.executor.pyspark.memory and spark.executor.memory, or use a larger type",
		}, nil},
		{"the scheduler allows less", of(sized("4", "4g"), properties{"yarn.scheduler.maximum-allocation-mb": "2048"}, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.memory: \"4g\" must fit into yarn.scheduler.maximum-allocation-mb, 2048 MiB: with its overhead an " +
				"executor takes 4864 MiB; set it to 1664m at most, or raise yarn.scheduler.maximum-allocation-mb",
		}, nil},
		{"more cores than a node", of(properties{"spark.executor.cores": "5"}, nil, "m5.xlarge"), []string{
			"spark-defaults.spark.executor.cores: \"5\" must be at most the vcores that YARN has of m5.xlarge, 4: it refuses the executors " +
				"otherwise; set it to 4 at most, or use a larger type",
		}, nil},
		{"more cores than the scheduler allows", of(properties{"spark.executor.cores": "3"},
			properties{"yarn.scheduler.maximum-allocation-vcores": "2"},
			"m5.xlarge"), []string{
			"spark-defaults.spark.executor.cores: \"3\" must be at most the vcores that YARN has of m5.xlarge, 2: it refuses the executors " +
				"otherwise; set it to 2 at most, or use a larger type",
		}, nil},
		{"an application master for no node", of(properties{"spark.yarn.am.memory": "64g"}, nil, "m5.xlarge"), []string{
			"spark-defaults.spark.yarn.am.memory: \"64g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead it takes " +
				"72089 MiB, and Spark refuses the application in client mode; set it to 11170m at most, or use a larger type",
		}, nil},
		{"an application master of cluster mode", of(properties{"spark.yarn.am.memory": "64g", "spark.submit.deployMode": "cluster"}, nil,
			"m5.xlarge"), nil, nil},
		{"a driver for no node", of(properties{"spark.driver.memory": "12g", "spark.submit.deployMode": "cluster"}, nil, "m5.xlarge"), []string{
			"spark-defaults.spark.driver.memory: \"12g\" must fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead it takes " +
				"13516 MiB, and Spark refuses the application in cluster mode; set it to 11170m at most, or use a larger type",
		}, nil},
		{"a driver for the primary node alone", of(properties{"spark.driver.memory": "20g"}, nil, "m5.2xlarge", "m5.xlarge"), nil, nil},
		{"a driver for client mode alone", func(l *violation.List) {
			s := schema.Settings(map[string]properties{"spark-defaults": {"spark.driver.memory": "20g"}})
			schema.CheckMemory(l, s, "m5.2xlarge", []string{"m5.xlarge"}, []string{"Spark"})
		}, nil, []string{
			"spark-defaults.spark.driver.memory: \"20g\" should fit into what YARN has of m5.xlarge, 12288 MiB: with its overhead it takes " +
				"22528 MiB, and Spark refuses the application in cluster mode; set it to 11170m at most, or use a larger type",
		}},
		{"a driver for cluster mode alone", func(l *violation.List) {
			s := schema.Settings(map[string]properties{"spark-defaults": {"spark.driver.memory": "20g"}})
			schema.CheckMemory(l, s, "m5.xlarge", []string{"m5.2xlarge", "m5.4xlarge"}, []string{"Spark"})
		}, nil, []string{
			"spark-defaults.spark.driver.memory: \"20g\" should fit into the primary node, m5.xlarge with 16384 MiB, where a driver runs in " +
				"client mode, EMR's default; set it lower, use a larger type, or set spark.submit.deployMode to cluster",
		}},
		{"bytes, as Spark reads them", of(sized("4", "10737418240b"), nil, "m5.xlarge"), nil, nil},
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
		schema.CheckMemory(l, s, "m5.xlarge", []string{"m5.xlarge"}, []string{"Spark"})
	}, nil, []string{
		"spark-defaults.spark.executor.memory: \"2g\" should fill m5.xlarge: its 1 executors of 4 cores and 2432 MiB leave " +
			"0 % of the cores and 80 % of the memory idle; set spark.executor.cores to 4 and spark.executor.memory to 10347m, which fill it",
	}}, {"HBase takes a part", func(l *violation.List) {
		schema.CheckMemory(l, s, "m5.xlarge", []string{"m5.xlarge"}, []string{"Spark", "HBase"})
	}, nil, nil}, {"HBase takes too much", func(l *violation.List) {
		schema.CheckMemory(l, schema.Settings(map[string]map[string]string{"spark-defaults": {"spark.executor.memory": "6g"}}), "m5.xlarge",
			[]string{"m5.xlarge"}, []string{"Spark", "HBase"})
	}, []string{
		"spark-defaults.spark.executor.memory: \"6g\" must fit into what YARN has of m5.xlarge beside HBase, 6144 MiB: with its overhead an " +
			"executor takes 7296 MiB; set it to 5173m at most, or use a larger type",
	}, nil}})
}
