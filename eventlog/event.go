package eventlog

// Event is an event of Spark's listener bus: a pointer to one of the exported types of the files
// event….go. Times are milliseconds since 1970; 0 is a time that Spark left out. Fields are
// those of org.apache.spark.util.JsonProtocol, for SQL and exclusions those of Jackson's view of
// the case classes, in the order in which Spark writes them: see skimmer.expected. What a version
// of Spark leaves out is zero or nil. Where an event has another form than its JSON, an
// unexported type has that.
//
// A TaskStart or TaskEnd and what it points to are valid until the next event is read.
// Other events, and all texts, may be kept.
type Event interface{ isEvent() }

// LogStart is the first line of a log.
//
//easyjson:json
type LogStart struct {
	SparkVersion string `json:"Spark Version"`
}

// ApplicationStart is the start of a SparkContext.
//
//easyjson:json
type ApplicationStart struct {
	Name       string            `json:"App Name"`
	ID         string            `json:"App ID"`
	Time       int64             `json:"Timestamp"`
	User       string            `json:"User"`
	Attempt    string            `json:"App Attempt ID"` // YARN's, "" in client mode
	DriverLogs map[string]string `json:"Driver Logs"`    // URLs by name
}

// ApplicationEnd is the stop of a SparkContext.
//
//easyjson:json
type ApplicationEnd struct {
	Time     int64  `json:"Timestamp"`
	ExitCode *int64 `json:"ExitCode"` // of the driver's program; since Spark 4.0
}

// EnvironmentUpdate carries the configuration. Spark sends it again when a job adds a file.
//
//easyjson:json
type EnvironmentUpdate struct {
	JVM     map[string]string `json:"JVM Information"`
	Spark   map[string]string `json:"Spark Properties"`
	Hadoop  map[string]string `json:"Hadoop Properties"`
	System  map[string]string `json:"System Properties"`
	Metrics map[string]string `json:"Metrics Properties"`
}

// ExecutorAdded is an executor that registered.
//
//easyjson:json
type ExecutorAdded struct {
	Time         int64  `json:"Timestamp"`
	ID           string `json:"Executor ID"`
	ExecutorInfo `json:"Executor Info"`
}

// ExecutorInfo describes an executor.
type ExecutorInfo struct {
	Host            string            `json:"Host"`
	Cores           int64             `json:"Total Cores"`
	Logs            map[string]string `json:"Log Urls"` // URLs by name
	ResourceProfile *int64            `json:"Resource Profile Id"`
}

// ResourceProfileAdded is what stages and executors may ask for; since Spark 3.1.
type ResourceProfileAdded struct {
	ID       int64
	TaskCPUs float64 // cores of a task
}

//easyjson:json
type resourceProfileAdded struct {
	ID    int64 `json:"Resource Profile Id"`
	Tasks struct {
		CPUs struct {
			Amount float64 `json:"Amount"`
		} `json:"cpus"`
	} `json:"Task Resource Requests"`
}

func (j *resourceProfileAdded) event(*decoder) Event {
	return &ResourceProfileAdded{ID: j.ID, TaskCPUs: j.Tasks.CPUs.Amount}
}

// ExecutorRemoved is an executor that ended or was lost.
//
//easyjson:json
type ExecutorRemoved struct {
	Time   int64  `json:"Timestamp"`
	ID     string `json:"Executor ID"`
	Reason string `json:"Removed Reason"`
}

// ExecutorExcluded is an executor, or all of a host, that get no more tasks. Spark 3.1 and
// later also writes the event of the older name, ExecutorBlacklisted; both are this type.
//
//easyjson:json
type ExecutorExcluded struct {
	Time    int64  `json:"time"`
	ID      string `json:"executorId"`     // "" if it is about a host
	Host    string `json:"hostId"`         // "" if it is about an executor
	Undo    bool   `json:"-"`              // it gets tasks again
	Stage   *int64 `json:"stageId"`        // of which it gets none; nil: of any
	Attempt int64  `json:"stageAttemptId"` // of the stage
}

//easyjson:json
type executorUnexcluded struct{ ExecutorExcluded }

func (j *executorUnexcluded) event(*decoder) Event {
	return &ExecutorExcluded{Time: j.Time, ID: j.ID, Host: j.Host, Undo: true}
}

// BlockManagerID names a block manager by its executor.
type BlockManagerID struct {
	Executor string `json:"Executor ID"`
	Host     string `json:"Host"`
	Port     int64  `json:"Port"`
}

// BlockManagerAdded is a block manager that registered.
//
//easyjson:json
type BlockManagerAdded struct {
	BlockManagerID `json:"Block Manager ID"`
	MaxMemory      int64 `json:"Maximum Memory"`
	Time           int64 `json:"Timestamp"`
}

// ExecutorMetrics are peaks of an executor's memory, in bytes (SparkListenerStageExecutorMetrics,
// or those of a TaskEnd), named as in org.apache.spark.metrics.ExecutorMetricType.
type ExecutorMetrics struct {
	JVMHeap          int64 `json:"JVMHeapMemory"`
	JVMOffHeap       int64 `json:"JVMOffHeapMemory"`
	OnHeapExecution  int64 `json:"OnHeapExecutionMemory"`
	OffHeapExecution int64 `json:"OffHeapExecutionMemory"`
	OnHeapStorage    int64 `json:"OnHeapStorageMemory"`
	OffHeapStorage   int64 `json:"OffHeapStorageMemory"`
	JVMRSS           int64 `json:"ProcessTreeJVMRSSMemory"`
	PythonRSS        int64 `json:"ProcessTreePythonRSSMemory"`
	OtherRSS         int64 `json:"ProcessTreeOtherRSSMemory"`
	TotalGCTime      int64 `json:"TotalGCTime"` // milliseconds; since Spark 3.3
}

// StageExecutorMetrics are an executor's peaks in a stage, or the driver's so far: stage -1.
//
//easyjson:json
type StageExecutorMetrics struct {
	Executor string          `json:"Executor ID"`
	Stage    int64           `json:"Stage ID"`
	Attempt  int64           `json:"Stage Attempt ID"`
	Peaks    ExecutorMetrics `json:"Executor Metrics"`
}

// executorMetricsUpdate is a heartbeat. Of logs, only the driver's are there, whose peaks
// belong to no stage (org.apache.spark.scheduler.EventLoggingListener.onExecutorMetricsUpdate).
//
//easyjson:json
type executorMetricsUpdate struct {
	Executor string                 `json:"Executor ID"`
	Updates  []StageExecutorMetrics `json:"Executor Metrics Updated"`
}

func (j *executorMetricsUpdate) event(*decoder) Event {
	if len(j.Updates) == 0 {
		return nil
	}
	latest := &j.Updates[len(j.Updates)-1]
	latest.Executor = j.Executor
	return latest
}

// Lost says that the source lacks events, and why.
type Lost struct {
	Cause  Cause
	Reason string // in words, with the place
}

// Cause is why events are missing.
type Cause string

// Causes.
const (
	Compacted Cause = "compacted" // the history server dropped events of ended jobs
	CutOff    Cause = "cut off"   // a file ends in a line or a block, and another follows
	Absent    Cause = "absent"    // a rolled file is not there
	Denied    Cause = "denied"    // a rolled file may not be opened
	Damaged   Cause = "damaged"   // text that is no event, or compressed data that is broken
	Unread    Cause = "unread"    // an event whose fields have other types than Spark's
)

// The types of Event.

func (*LogStart) isEvent()             {}
func (*ApplicationStart) isEvent()     {}
func (*ApplicationEnd) isEvent()       {}
func (*EnvironmentUpdate) isEvent()    {}
func (*ExecutorAdded) isEvent()        {}
func (*ResourceProfileAdded) isEvent() {}
func (*ExecutorRemoved) isEvent()      {}
func (*ExecutorExcluded) isEvent()     {}
func (*BlockManagerAdded) isEvent()    {}
func (*StageExecutorMetrics) isEvent() {}
func (*JobStart) isEvent()             {}
func (*JobEnd) isEvent()               {}
func (*StageSubmitted) isEvent()       {}
func (*StageCompleted) isEvent()       {}
func (*TaskStart) isEvent()            {}
func (*TaskEnd) isEvent()              {}
func (*SQLStart) isEvent()             {}
func (*SQLPlan) isEvent()              {}
func (*DriverAccumulators) isEvent()   {}
func (*SQLEnd) isEvent()               {}
func (*OperationStarted) isEvent()     {}
func (*OperationEnded) isEvent()       {}
func (*SessionStarted) isEvent()       {}
func (*SessionClosed) isEvent()        {}
func (*Lost) isEvent()                 {}
