package schema

import (
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Settings that Spark compares with each other when a context starts.
const (
	driverMemory  = "spark.driver.memory"
	driverCores   = "spark.driver.cores"
	offHeapOn     = "spark.memory.offHeap.enabled"
	offHeapSize   = "spark.memory.offHeap.size"
	taskCPUs      = "spark.task.cpus"
	deployMode    = "spark.submit.deployMode"
	executorCount = "spark.executor.instances"
	dynamicOn     = "spark.dynamicAllocation.enabled"
	dynamicMin    = "spark.dynamicAllocation.minExecutors"
	// streamingDynamicOn is the other kind (org.apache.spark.streaming.scheduler.ExecutorAllocationManager,
	// isDynamicAllocationEnabled, throws on both).
	streamingDynamicOn = "spark.streaming.dynamicAllocation.enabled"
	dynamicInitial     = "spark.dynamicAllocation.initialExecutors"
	dynamicMax         = "spark.dynamicAllocation.maxExecutors"
	heartbeat          = "spark.executor.heartbeatInterval"
	networkTimeout     = "spark.network.timeout"
	emrOverheadFactor  = "spark.yarn.executor.memoryOverheadFactor" // EMR's own
	authenticate       = "spark.authenticate"
	executorOptions    = "spark.executor.extraJavaOptions"
	driverOptions      = "spark.driver.extraJavaOptions"
	amOptions          = "spark.yarn.am.extraJavaOptions"
	neverStarts        = ": no SparkContext starts otherwise"
	leastHeapMiB       = 450 // 1.5 times what UnifiedMemoryManager reserves
	defaultTimeout     = 120 * time.Second
	defaultHeartbeat   = 10 * time.Second
)

// contextSettings reads settings of Spark that each SparkContext compares. Values that
// cannot be read are as if they were not set: checkSparkValues refuses them.
type contextSettings struct {
	*violation.List
	set       settings
	encrypted bool // EMR sets spark.authenticate
}

// checkSparkContext refuses settings that Spark reads one by one, and with which no
// SparkContext starts all the same.
func checkSparkContext(l *violation.List, s settings, encrypted bool) {
	c := contextSettings{l, s, encrypted}
	c.checkLeast()
	c.checkHeaps()
	c.checkOptions()
	c.checkEncryption()
	c.checkTimeouts()
	c.checkTasks()
	c.checkDynamicAllocation()
	c.checkNames()
}

// number returns a setting as a number in its own unit; ok is false if it is not set.
func (c contextSettings) number(name string) (v setting, n int64, ok bool) {
	v, set := c.set.value(sparkDefaults, name)
	known, _ := facts.SparkSettingNamed(name)
	if !set || isReference(v.value) || !takes(known, v.value) {
		return v, 0, false
	}
	n, ok = parseSparkNumber(known, v.value)
	return v, n, ok
}

// is reports whether a boolean is set to a value.
func (c contextSettings) is(name string, value bool) bool {
	v, set := c.set.value(sparkDefaults, name)
	on, ok := parseSparkBool(v.value)
	return set && ok && on == value
}

// checkLeast refuses numbers that are too small or too large for a context, though their
// type has them. Sources are in Spark 3.5, where its registry has no bound.
func (c contextSettings) checkLeast() {
	const none = 0
	for _, b := range []struct {
		name        string
		least, most int64 // none = no upper bound
	}{
		{executorCores, 1, none},                                 // ResourceProfile: cores per executor >= cpus per task
		{taskCPUs, 1, none},                                      // the same, which divides by it
		{driverCores, 1, none}, {"spark.yarn.am.cores", 1, none}, // YARN has no container without a core
		{dynamicMin, 0, none}, {dynamicInitial, 0, none}, {dynamicMax, 1, none}, // ExecutorAllocationManager.validateSettings
		{"spark.dynamicAllocation.schedulerBacklogTimeout", 1, none},
		{"spark.dynamicAllocation.sustainedSchedulerBacklogTimeout", 1, none},
		{executorCount, 0, none},
		{"spark.port.maxRetries", 0, none},           // Utils.startServiceOnPort
		{"spark.rpc.message.maxSize", 1, 2047},       // RpcUtils.maxMessageSizeBytes, in MiB
		{"spark.kryoserializer.buffer.max", 0, 2047}, // KryoSerializer, in MiB, whichever serializer is used
	} {
		if v, n, ok := c.number(b.name); ok {
			rule := fmt.Sprintf("must be %d or more", b.least)
			if b.most != none {
				rule = fmt.Sprintf("must be %d to %d MiB", b.least, b.most)
			}
			c.Require(n >= b.least && (b.most == none || n <= b.most), v.path, v.value, rule+neverStarts, "write such a number, or remove it")
		}
	}
	for name, most := range map[string]string{
		"spark.memory.fraction": "1.0", "spark.dynamicAllocation.executorAllocationRatio": "1.0", emrOverheadFactor: "",
	} {
		if v, set := c.set.value(sparkDefaults, name); set {
			n, ok := parseSparkDouble(v.value)
			bound := facts.SparkSetting{Type: facts.TypeDouble, Min: ">0.0", Max: most}
			c.Require((ok || name != emrOverheadFactor) && (!ok || within(bound, n)), v.path, v.value,
				"must be a number"+bounds(bound)+neverStarts, "write a fraction such as 0.6")
		}
	}
}

// checkHeaps requires heaps in which a context can work (UnifiedMemoryManager,
// getMaxMemory). It reads spark.executor.memory without a unit as bytes, where YARN's
// client counts MiB; java reads the driver's so, too, unless YARN starts the driver.
func (c contextSettings) checkHeaps() {
	for _, name := range []string{executorMemory, driverMemory} {
		v, heap, ok := c.number(name)
		if !ok {
			continue
		}
		mode, _ := c.set.value(sparkDefaults, deployMode)
		if isDigits(v.value) && (name == executorMemory || mode.value != "cluster") {
			c.Require(false, v.path, v.value, "must have a unit: without one a SparkContext reads it as bytes, and does not start",
				"write the unit, too: m for MiB, or g for GiB")
			continue
		}
		c.Require(heap >= leastHeapMiB, v.path, v.value, fmt.Sprintf("must be at least %dm", leastHeapMiB)+neverStarts, "write 1g or more")
	}
	if size, n, ok := c.number(offHeapSize); c.is(offHeapOn, true) && (!ok || n <= 0) {
		if _, set := c.set.value(sparkDefaults, offHeapSize); set {
			c.Require(!ok, size.path, size.value, "must be above 0 with "+offHeapOn+neverStarts, "write a size such as 2g")
		} else {
			on, _ := c.set.value(sparkDefaults, offHeapOn)
			c.Require(false, on.path, on.value, "must not be true without "+offHeapSize+neverStarts, "set "+offHeapSize+" too, such as 2g")
		}
	}
}

func isDigits(s string) bool { return strings.Trim(strings.TrimSpace(s), "0123456789") == "" }

// checkOptions refuses options of JVMs that Spark takes as settings only: of executors
// SparkConf.validateSettings does, of the driver SparkSubmitCommandBuilder, of the
// application master in client mode YARN's Client.
func (c contextSettings) checkOptions() {
	for _, o := range []struct{ name, heap, properties string }{
		{executorOptions, executorMemory, "-Dspark"}, {amOptions, amMemory, "-Dspark"}, {driverOptions, driverMemory, ""},
	} {
		v, _ := c.set.value(sparkDefaults, o.name)
		c.Require(!strings.Contains(v.value, "-Xmx"), v.path, v.value, "must not contain -Xmx: Spark sets the heap, and starts with no other",
			"set "+o.heap+" instead")
		c.Require(o.properties == "" || !strings.Contains(v.value, o.properties), v.path, v.value,
			"must not contain "+o.properties+": Spark does not start with settings of its own among them", "set them in sparkDefaults instead")
	}
}

// checkEncryption requires what SparkConf.validateSettings does of encrypted traffic.
func (c contextSettings) checkEncryption() {
	for _, name := range []string{"spark.network.crypto.enabled", "spark.authenticate.enableSaslEncryption"} {
		v, _ := c.set.value(sparkDefaults, name)
		c.Require(!c.is(name, true) || c.is(authenticate, true) || c.encrypted && !c.is(authenticate, false), v.path, v.value,
			"must not be true without "+authenticate+neverStarts, "set "+authenticate+" to true too")
	}
}

// checkTimeouts requires executors to report more often than they are given up
// (SparkConf.validateSettings).
func (c contextSettings) checkTimeouts() {
	beat, every, beats := c.number(heartbeat)
	out, after, bounded := c.number(networkTimeout)
	interval, timeout := time.Duration(every)*time.Millisecond, time.Duration(after)*time.Second
	if !bounded {
		timeout = defaultTimeout
	}
	if !beats {
		c.Require(!bounded || defaultHeartbeat < timeout, out.path, out.value,
			fmt.Sprintf("must be above %s, %s", heartbeat, defaultHeartbeat)+neverStarts, "raise it, or lower "+heartbeat)
		return
	}
	c.Require(interval < timeout, beat.path, beat.value, fmt.Sprintf("must be below %s, %s", networkTimeout, timeout)+neverStarts,
		"lower it, or raise "+networkTimeout)
}

// checkTasks requires an executor to have what one task needs (ResourceUtils).
func (c contextSettings) checkTasks() {
	cpus, n, ok := c.number(taskCPUs)
	_, cores, sized := c.number(executorCores)
	c.Require(!ok || !sized || cores < 1 || n <= cores, cpus.path, cpus.value,
		fmt.Sprintf("must be at most %s, %d", executorCores, cores)+neverStarts, "lower it, or raise "+executorCores)
	for name, v := range c.set[sparkDefaults] {
		resource, of := strings.CutPrefix(name, "spark.task.resource.")
		_, given := c.set.value(sparkDefaults, "spark.executor.resource."+resource)
		c.Require(!of || !strings.HasSuffix(name, ".amount") || given, v.path, v.value,
			"must not be set without spark.executor.resource."+resource+neverStarts, "set that too")
	}
}

// checkDynamicAllocation requires the number of executors to be inside its limits
// (ExecutorAllocationManager; YarnSchedulerBackendUtils). EMR turns it on by itself.
func (c contextSettings) checkDynamicAllocation() {
	_, most, bounded := c.number(dynamicMax)
	if c.is(dynamicOn, false) {
		v, n, ok := c.number(executorCount)
		c.Require(!ok || n != 0, v.path, v.value, "must be 1 or more without "+dynamicOn+": spark-submit refuses it", "raise it")
		return
	}
	streams, _ := c.set.value(sparkDefaults, streamingDynamicOn)
	c.Require(!c.is(streamingDynamicOn, true), streams.path, streams.value,
		"must be false while "+dynamicOn+" is true, which it is on EMR by default: no StreamingContext starts otherwise",
		"remove it, or set "+dynamicOn+" to false")
	for _, name := range []string{dynamicMin, dynamicInitial, executorCount} {
		v, n, ok := c.number(name)
		c.Require(!ok || !bounded || most < 1 || n <= most, v.path, v.value,
			fmt.Sprintf("must be at most %s, %d", dynamicMax, most)+neverStarts, "lower it, or raise "+dynamicMax)
	}
	const shuffle, tracking = "spark.shuffle.service.enabled", "spark.dynamicAllocation.shuffleTracking.enabled"
	v, _ := c.set.value(sparkDefaults, shuffle)
	elsewhere := !c.is(tracking, false) || c.is("spark.storage.decommission.shuffleBlocks.enabled", true)
	c.Require(!c.is(shuffle, false) || elsewhere, v.path, v.value,
		"must be true with "+dynamicOn+", which keeps shuffled data by it or by "+tracking+neverStarts, "remove it")
}

// checkNames refuses names for which Spark knows no class and no mode.
func (c contextSettings) checkNames() {
	if v, set := c.set.value(sparkDefaults, deployMode); set {
		c.Require(v.value == "client" || v.value == "cluster", v.path, v.value, "must be client or cluster"+neverStarts, "write one of them")
	}
	if v, set := c.set.value(sparkDefaults, "spark.scheduler.mode"); set {
		c.Require(strings.EqualFold(v.value, "FIFO") || strings.EqualFold(v.value, "FAIR"), v.path, v.value, "must be FIFO or FAIR"+neverStarts,
			"write one of them")
	}
	if v, set := c.set.value(sparkDefaults, "spark.serializer"); set {
		c.Require(strings.Contains(v.value, "."), v.path, v.value, "must be a class with its package"+neverStarts,
			"write org.apache.spark.serializer.KryoSerializer for Kryo")
	}
}
