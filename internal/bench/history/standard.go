package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// The structs that encoding/json decodes. They have the fields that package eventlog reads,
// and nothing for the rest of a line.
type (
	taskInfo struct {
		ID            int64 `json:"Task ID"`
		Index         int64
		Attempt       int64
		Launched      int64  `json:"Launch Time"`
		Finished      int64  `json:"Finish Time"`
		GettingResult int64  `json:"Getting Result Time"`
		Executor      string `json:"Executor ID"`
		Host          string
		Locality      string
		Speculative   bool
		Failed        bool
		Killed        bool
	}
	peaks struct {
		JVMHeapMemory              int64
		JVMOffHeapMemory           int64
		OnHeapExecutionMemory      int64
		OffHeapExecutionMemory     int64
		OnHeapStorageMemory        int64
		OffHeapStorageMemory       int64
		ProcessTreeJVMRSSMemory    int64
		ProcessTreePythonRSSMemory int64
		ProcessTreeOtherRSSMemory  int64
		TotalGCTime                int64
	}
	taskMetrics struct {
		DeserializeTime     int64 `json:"Executor Deserialize Time"`
		DeserializeCPUTime  int64 `json:"Executor Deserialize CPU Time"`
		RunTime             int64 `json:"Executor Run Time"`
		CPUTime             int64 `json:"Executor CPU Time"`
		PeakExecutionMemory int64 `json:"Peak Execution Memory"`
		ResultSize          int64 `json:"Result Size"`
		JVMGCTime           int64 `json:"JVM GC Time"`
		ResultSerialization int64 `json:"Result Serialization Time"`
		MemorySpilled       int64 `json:"Memory Bytes Spilled"`
		DiskSpilled         int64 `json:"Disk Bytes Spilled"`
		Read                struct {
			RemoteBlocks int64 `json:"Remote Blocks Fetched"`
			LocalBlocks  int64 `json:"Local Blocks Fetched"`
			FetchWait    int64 `json:"Fetch Wait Time"`
			RemoteBytes  int64 `json:"Remote Bytes Read"`
			ToDisk       int64 `json:"Remote Bytes Read To Disk"`
			LocalBytes   int64 `json:"Local Bytes Read"`
			Records      int64 `json:"Total Records Read"`
		} `json:"Shuffle Read Metrics"`
		Write struct {
			Bytes   int64 `json:"Shuffle Bytes Written"`
			Time    int64 `json:"Shuffle Write Time"`
			Records int64 `json:"Shuffle Records Written"`
		} `json:"Shuffle Write Metrics"`
		Input struct {
			Bytes   int64 `json:"Bytes Read"`
			Records int64 `json:"Records Read"`
		} `json:"Input Metrics"`
		Output struct {
			Bytes   int64 `json:"Bytes Written"`
			Records int64 `json:"Records Written"`
		} `json:"Output Metrics"`
	}
	taskEvent struct {
		Stage   int64    `json:"Stage ID"`
		Attempt int64    `json:"Stage Attempt ID"`
		Info    taskInfo `json:"Task Info"`
		Type    string   `json:"Task Type"`
		Reason  struct {
			Reason, Description string
			Class               string `json:"Class Name"`
		} `json:"Task End Reason"`
		Metrics *taskMetrics `json:"Task Metrics"`
		Peaks   *peaks       `json:"Task Executor Metrics"`
	}
	stage struct {
		ID           int64   `json:"Stage ID"`
		Attempt      int64   `json:"Stage Attempt ID"`
		Name         string  `json:"Stage Name"`
		Tasks        int64   `json:"Number of Tasks"`
		Submitted    int64   `json:"Submission Time"`
		Completed    int64   `json:"Completion Time"`
		Failure      string  `json:"Failure Reason"`
		Parents      []int64 `json:"Parent IDs"`
		Accumulables []struct {
			ID       int64
			Value    json.RawMessage
			Metadata string
		}
	}
	properties struct {
		Execution   string `json:"spark.sql.execution.id"`
		Description string `json:"spark.job.description"`
		Group       string `json:"spark.jobGroup.id"`
		CallSite    string `json:"callSite.short"`
		Pool        string `json:"spark.scheduler.pool"`
		Query       string `json:"sql.streaming.queryId"`
		Batch       string `json:"streaming.sql.batchId"`
		Thread      string `json:"traceparent"`
	}
	stageEvent struct {
		Info       stage `json:"Stage Info"`
		Properties properties
	}
	jobEvent struct {
		ID         int64   `json:"Job ID"`
		Submitted  int64   `json:"Submission Time"`
		Completed  int64   `json:"Completion Time"`
		Stages     []stage `json:"Stage Infos"`
		Properties properties
	}
	planNode struct {
		NodeName     string     `json:"nodeName"`
		SimpleString string     `json:"simpleString"`
		Children     []planNode `json:"children"`
		Metrics      []struct {
			Name          string `json:"name"`
			AccumulatorID int64  `json:"accumulatorId"`
			MetricType    string `json:"metricType"`
		} `json:"metrics"`
	}
	sqlEvent struct {
		ID          int64     `json:"executionId"`
		Root        *int64    `json:"rootExecutionId"`
		Description string    `json:"description"`
		Text        string    `json:"physicalPlanDescription"`
		Plan        planNode  `json:"sparkPlanInfo"`
		Time        int64     `json:"time"`
		Updates     [][]int64 `json:"accumUpdates"`
	}
)

// typeOf returns a pointer to the struct into which a line is decoded.
func typeOf(line []byte) any {
	rest := bytes.TrimPrefix(line, []byte(`{"Event":"SparkListener`))
	switch {
	case bytes.HasPrefix(rest, []byte("Task")):
		return &taskEvent{}
	case bytes.HasPrefix(rest, []byte("Stage")):
		return &stageEvent{}
	case bytes.HasPrefix(rest, []byte("Job")):
		return &jobEvent{}
	case bytes.HasPrefix(line, []byte(`{"Event":"org.apache.spark.sql`)):
		return &sqlEvent{}
	}
	return &struct{ Timestamp int64 }{}
}

// readStandard decodes the lines of a log with encoding/json, until it has read limit bytes
// of text.
func readStandard(path string, limit int64) (r run, err error) {
	file, err := os.Open(path)
	if err != nil {
		return r, fmt.Errorf("read an event log: %w", err)
	}
	defer func() { _ = file.Close() }()
	decoder, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return r, fmt.Errorf("read an event log: %w", err)
	}
	defer decoder.Close()
	lines := bufio.NewReaderSize(decoder, 1<<20)
	for r.Bytes < limit {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = json.Unmarshal(line, typeOf(line))
		}
		if err != nil {
			return r, fmt.Errorf("read an event log: event %d: %w", r.Events, err)
		}
		r.Bytes += int64(len(line))
		r.Events++
	}
	return r, nil
}
