package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Each was tried with a SparkContext of Spark 3.5.5, but for those of dynamic allocation
// and of the JVMs that spark-submit starts, which were read in its sources.
func TestSettingsWithWhichNoContextStarts(t *testing.T) {
	type properties = map[string]string
	for name, c := range map[string]struct {
		set     properties
		refused string // property; "" = none
	}{
		"nothing": {properties{}, ""},
		"usual": {properties{"spark.executor.memory": "450m", "spark.driver.memory": "1g",
			"spark.executor.cores": "1"}, ""},
		"no core":                         {properties{"spark.executor.cores": "0"}, "spark.executor.cores"},
		"no core of a task":               {properties{"spark.task.cpus": "0"}, "spark.task.cpus"},
		"a task larger than its executor": {properties{"spark.task.cpus": "2", "spark.executor.cores": "1"}, "spark.task.cpus"},
		"a task that fills it":            {properties{"spark.task.cpus": "2", "spark.executor.cores": "2"}, ""},
		"a resource of tasks alone":       {properties{"spark.task.resource.gpu.amount": "1"}, "spark.task.resource.gpu.amount"},
		"a resource of both":              {properties{"spark.task.resource.gpu.amount": "1", "spark.executor.resource.gpu.amount": "1"}, ""},
		"a small heap":                    {properties{"spark.executor.memory": "449m"}, "spark.executor.memory"},
		"a heap without a unit":           {properties{"spark.executor.memory": "4096"}, "spark.executor.memory"},
		"a small driver":                  {properties{"spark.driver.memory": "256m"}, "spark.driver.memory"},
		"a driver without a unit":         {properties{"spark.driver.memory": "4096"}, "spark.driver.memory"},
		"the same in cluster mode":        {properties{"spark.driver.memory": "4096", "spark.submit.deployMode": "cluster"}, ""},
		"a heap below zero":               {properties{"spark.executor.memory": "-1g"}, "spark.executor.memory"},
		"off-heap without a size":         {properties{"spark.memory.offHeap.enabled": "true"}, "spark.memory.offHeap.enabled"},
		"off-heap of no size": {properties{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "0"},
			"spark.memory.offHeap.size"},
		"off-heap that is off": {properties{"spark.memory.offHeap.size": "0"}, ""},
		"fraction above one":   {properties{"spark.memory.fraction": "1.5"}, "spark.memory.fraction"},
		"fraction of nothing":  {properties{"spark.memory.fraction": "0"}, "spark.memory.fraction"},
		"whole fraction":       {properties{"spark.memory.fraction": "1"}, ""},
		"EMR's factor": {properties{"spark.yarn.executor.memoryOverheadFactor": "10%"},
			"spark.yarn.executor.memoryOverheadFactor"},
		"heap of executors": {properties{"spark.executor.extraJavaOptions": "-XX:+UseG1GC -Xmx8g"},
			"spark.executor.extraJavaOptions"},
		"settings of executors":      {properties{"spark.executor.extraJavaOptions": "-Dspark.foo=1"}, "spark.executor.extraJavaOptions"},
		"other options of executors": {properties{"spark.executor.extraJavaOptions": "-Xss4m -Dfoo=1"}, ""},
		"heap of the driver":         {properties{"spark.driver.extraJavaOptions": "-Xmx8g"}, "spark.driver.extraJavaOptions"},
		"settings of the driver":     {properties{"spark.driver.extraJavaOptions": "-Dspark.foo=1"}, ""},
		"heap of the master":         {properties{"spark.yarn.am.extraJavaOptions": "-Xmx8g"}, "spark.yarn.am.extraJavaOptions"},
		"encryption alone":           {properties{"spark.network.crypto.enabled": "true"}, "spark.network.crypto.enabled"},
		"older encryption alone": {properties{"spark.authenticate.enableSaslEncryption": "true"},
			"spark.authenticate.enableSaslEncryption"},
		"encryption with its need":  {properties{"spark.network.crypto.enabled": "true", "spark.authenticate": "true"}, ""},
		"rare heartbeats":           {properties{"spark.executor.heartbeatInterval": "300s"}, "spark.executor.heartbeatInterval"},
		"heartbeats at the timeout": {properties{"spark.executor.heartbeatInterval": "120000"}, "spark.executor.heartbeatInterval"},
		"a longer timeout, too":     {properties{"spark.executor.heartbeatInterval": "300s", "spark.network.timeout": "10m"}, ""},
		"a short timeout":           {properties{"spark.network.timeout": "5s"}, "spark.network.timeout"},
		"most below least": {properties{"spark.dynamicAllocation.minExecutors": "10", "spark.dynamicAllocation.maxExecutors": "5"},
			"spark.dynamicAllocation.minExecutors"},
		"most below the first": {
			properties{"spark.dynamicAllocation.initialExecutors": "10", "spark.dynamicAllocation.maxExecutors": "5"},
			"spark.dynamicAllocation.initialExecutors"},
		"most below the instances": {properties{"spark.executor.instances": "10", "spark.dynamicAllocation.maxExecutors": "5"},
			"spark.executor.instances"},
		"the same, when it is off": {properties{"spark.executor.instances": "10", "spark.dynamicAllocation.maxExecutors": "5",
			"spark.dynamicAllocation.enabled": "false"}, ""},
		"no executors at most": {properties{"spark.dynamicAllocation.maxExecutors": "0"}, "spark.dynamicAllocation.maxExecutors"},
		"no executors at all": {properties{"spark.dynamicAllocation.enabled": "false", "spark.executor.instances": "0"},
			"spark.executor.instances"},
		"ratio above one": {properties{"spark.dynamicAllocation.executorAllocationRatio": "2"},
			"spark.dynamicAllocation.executorAllocationRatio"},
		"nowhere to keep shuffles": {properties{"spark.shuffle.service.enabled": "false",
			"spark.dynamicAllocation.shuffleTracking.enabled": "false"},
			"spark.shuffle.service.enabled"},
		"shuffles are tracked":  {properties{"spark.shuffle.service.enabled": "false"}, ""},
		"another mode":          {properties{"spark.submit.deployMode": "local"}, "spark.submit.deployMode"},
		"another scheduler":     {properties{"spark.scheduler.mode": "LIFO"}, "spark.scheduler.mode"},
		"fair":                  {properties{"spark.scheduler.mode": "fair"}, ""},
		"class without package": {properties{"spark.serializer": "kryo"}, "spark.serializer"},
		"large buffers":         {properties{"spark.kryoserializer.buffer.max": "2g"}, "spark.kryoserializer.buffer.max"},
		"large messages":        {properties{"spark.rpc.message.maxSize": "4096"}, "spark.rpc.message.maxSize"},
		"values of other rules": {properties{"spark.executor.cores": "four", "spark.executor.memory": "ten",
			"spark.network.timeout": "long"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var l violation.List
			schema.CheckSparkContext(&l, schema.Settings(map[string]properties{"spark-defaults": c.set}), false)
			if c.refused == "" {
				require.NoError(t, l.Err())
				return
			}
			require.Equal(t, "spark-defaults."+c.refused, pathOf(t, violation.All(l.Err())))
		})
	}
}

// With encryption in transit EMR sets spark.authenticate.
func TestEncryptionInTransitAuthenticates(t *testing.T) {
	var l violation.List
	s := schema.Settings(map[string]map[string]string{"spark-defaults": {"spark.network.crypto.enabled": "true"}})
	schema.CheckSparkContext(&l, s, true)
	require.NoError(t, l.Err())
}

func TestYARNStartsWithItsBounds(t *testing.T) {
	const least, most, node = "yarn.scheduler.minimum-allocation-vcores", "yarn.scheduler.maximum-allocation-vcores",
		"yarn.nodemanager.resource.memory-mb"
	for name, c := range map[string]struct {
		set     map[string]string
		refused string // property and the begin of the rule; "" = none
	}{
		"usual":            {map[string]string{least: "1", most: "128", node: "8192"}, ""},
		"a unit":           {map[string]string{node: "8g"}, node + `: "8g" must be a whole number: YARN does not start otherwise`},
		"most below least": {map[string]string{least: "4", most: "2"}, most + `: "2" must be above 0 and at least ` + least},
		"nothing":          {map[string]string{node: "0"}, node + `: "0" must be above 0: YARN has no containers otherwise`},
	} {
		var l violation.List
		schema.CheckYARN(&l, schema.Settings(map[string]map[string]string{"yarn-site": c.set}))
		if c.refused == "" {
			require.NoError(t, l.Err(), name)
		} else {
			require.ErrorContains(t, l.Err(), "yarn-site."+c.refused, name)
		}
	}
}
