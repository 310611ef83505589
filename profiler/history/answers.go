package history

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Application is an application that the server lists (ApplicationInfo).
type Application struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Attempts []Attempt `json:"attempts"` // the latest first
}

// Attempt is an attempt of an application (ApplicationAttemptInfo).
type Attempt struct {
	ID           string `json:"attemptId"` // "" in client mode
	Start        Millis `json:"startTimeEpoch"`
	End          Millis `json:"endTimeEpoch"` // 0 while it runs
	LastUpdated  Millis `json:"lastUpdatedEpoch"`
	StartText    Millis `json:"startTime"` // Spark before 2.0 has only texts
	EndText      Millis `json:"endTime"`
	User         string `json:"sparkUser"`
	Completed    bool   `json:"completed"`
	SparkVersion string `json:"appSparkVersion"`
}

// Task is a task attempt (TaskData).
type Task struct {
	ID          int64        `json:"taskId"`
	Index       int64        `json:"index"`
	Attempt     int64        `json:"attempt"`
	Launched    Millis       `json:"launchTime"`
	Duration    *int64       `json:"duration"` // milliseconds
	ExecutorID  string       `json:"executorId"`
	Host        string       `json:"host"`
	Status      string       `json:"status"`
	Locality    string       `json:"taskLocality"`
	Speculative bool         `json:"speculative"`
	Error       *string      `json:"errorMessage"`
	Metrics     *TaskMetrics `json:"taskMetrics"`
}

// TaskMetrics are a task's metrics. CPU times and Write.Time are nanoseconds, other times
// milliseconds.
type TaskMetrics struct {
	DeserializeTime     int64 `json:"executorDeserializeTime"`
	DeserializeCPUTime  int64 `json:"executorDeserializeCpuTime"`
	RunTime             int64 `json:"executorRunTime"`
	CPUTime             int64 `json:"executorCpuTime"`
	ResultSize          int64 `json:"resultSize"`
	JVMGCTime           int64 `json:"jvmGcTime"`
	ResultSerialization int64 `json:"resultSerializationTime"`
	MemorySpilled       int64 `json:"memoryBytesSpilled"`
	DiskSpilled         int64 `json:"diskBytesSpilled"`
	PeakExecutionMemory int64 `json:"peakExecutionMemory"`

	Input struct {
		Bytes   int64 `json:"bytesRead"`
		Records int64 `json:"recordsRead"`
	} `json:"inputMetrics"`
	Output struct {
		Bytes   int64 `json:"bytesWritten"`
		Records int64 `json:"recordsWritten"`
	} `json:"outputMetrics"`
	Read struct {
		RemoteBlocks  int64 `json:"remoteBlocksFetched"`
		LocalBlocks   int64 `json:"localBlocksFetched"`
		FetchWaitTime int64 `json:"fetchWaitTime"`
		RemoteBytes   int64 `json:"remoteBytesRead"`
		RemoteToDisk  int64 `json:"remoteBytesReadToDisk"`
		LocalBytes    int64 `json:"localBytesRead"`
		Records       int64 `json:"recordsRead"`
	} `json:"shuffleReadMetrics"`
	Write struct {
		Bytes   int64 `json:"bytesWritten"`
		Time    int64 `json:"writeTime"`
		Records int64 `json:"recordsWritten"`
	} `json:"shuffleWriteMetrics"`
}

// Executor is an executor, or the driver (ExecutorSummary).
type Executor struct {
	tables.Executor
	Logs  map[string]string         `json:"executorLogs"`
	Peaks *eventlog.ExecutorMetrics `json:"peakMemoryMetrics"` // since Spark 3.0
}

// Environment is the configuration of an attempt (ApplicationEnvironmentInfo). The server
// redacts it by its spark.redaction.regex.
type Environment struct {
	Runtime struct {
		JavaVersion  string `json:"javaVersion"`
		JavaHome     string `json:"javaHome"`
		ScalaVersion string `json:"scalaVersion"`
	} `json:"runtime"`
	Spark   Properties `json:"sparkProperties"`
	Hadoop  Properties `json:"hadoopProperties"`
	System  Properties `json:"systemProperties"`
	Metrics Properties `json:"metricsProperties"`
}

// Execution is a SQL execution (ExecutionData).
type Execution struct {
	ID          int64   `json:"id"`
	Status      string  `json:"status"`
	Description string  `json:"description"`
	Plan        Length  `json:"planDescription"` // of the physical plan's text
	Submitted   Millis  `json:"submissionTime"`
	Duration    int64   `json:"duration"` // milliseconds, so far if it is running
	RunningJobs []int64 `json:"runningJobIds"`
	SuccessJobs []int64 `json:"successJobIds"`
	FailedJobs  []int64 `json:"failedJobIds"`
	Nodes       []Node  `json:"nodes"`
	Edges       []Edge  `json:"edges"`
	Root        *int64  `json:"rootExecutionId"` // future versions of Spark
	Error       *string `json:"errorMessage"`    // future versions of Spark
}

// Node is an operator of a plan, or a WholeStageCodegen that contains some.
type Node struct {
	ID        int64        `json:"nodeId"`
	Name      string       `json:"nodeName"`
	CodegenID *int64       `json:"wholeStageCodegenId"`
	Metrics   []NodeMetric `json:"metrics"`
}

// NodeMetric is a metric of an operator, with its value as Spark formats it.
type NodeMetric struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Edge is a flow of rows from one operator to another.
type Edge struct {
	From int64 `json:"fromId"`
	To   int64 `json:"toId"`
}

// timeLayout is the layout of JacksonMessageWriter.makeISODateFormat; GMT is literal text.
const timeLayout = "2006-01-02T15:04:05.000GMT"

// Millis is a time in milliseconds since 1970, UTC; 0 means none. Spark writes a missing
// time as -1, which is 1969-12-31T23:59:59.999GMT as text.
type Millis int64

// UnmarshalJSONFrom reads a number of milliseconds or Spark's string.
func (m *Millis) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		*m = 0
	case '0':
		*m = Millis(max(0, token.Int()))
	case '"':
		at, err := parseTime(token.String())
		*m = Millis(at)
		return err
	default:
		return fmt.Errorf("time: must be a number or a string, is %s", token.Kind())
	}
	return nil
}

func parseTime(text string) (millis int64, err error) {
	at, err := time.Parse(timeLayout, text)
	if err != nil {
		return 0, fmt.Errorf("time %q: must be of the form %s", text, timeLayout)
	}
	return max(0, at.UnixMilli()), nil
}

// ofRows are how Spark writes some values of rows of package tables.
var ofRows = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(timeOf), json.UnmarshalFromFunc(quantileOf)))

// timeOf reads an integer that is a string: a time.
func timeOf(d *jsontext.Decoder, millis *int64) error {
	if d.PeekKind() != '"' {
		return json.SkipFunc
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	*millis, err = parseTime(token.String())
	return err
}

// quantileOf reads a value of a distribution. Spark writes a missing one as the string "NaN".
func quantileOf(d *jsontext.Decoder, q *float64) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '0':
		*q = token.Float()
	case '"':
		if *q, err = strconv.ParseFloat(token.String(), 64); err != nil {
			return fmt.Errorf("quantile %q: must be a number", token.String())
		}
	default:
		*q = math.NaN()
	}
	return nil
}

// Length is the length, in characters, of a text that is not kept.
type Length int64

// UnmarshalJSONFrom counts the characters.
func (l *Length) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	*l = 0
	if token.Kind() == '"' {
		*l = Length(utf8.RuneCountInString(token.String()))
	}
	return nil
}

// Properties are names and values, in Spark's order. Spark writes them as pairs.
type Properties []Property

// Property is a name and its value.
type Property struct{ Name, Value string }

// UnmarshalJSONFrom reads a pair.
func (p *Property) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var pair []string
	if err := json.UnmarshalDecode(d, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("property with %d parts: must be a name and a value", len(pair))
	}
	p.Name, p.Value = pair[0], pair[1]
	return nil
}
