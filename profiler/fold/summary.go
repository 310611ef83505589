package fold

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// summaryJSON encodes the quantiles as in Spark's REST API
// (org.apache.spark.status.api.v1.TaskMetricDistributions), as encoding/json would.
func summaryJSON(s *tables.TaskSummary) string {
	o := listObject{text: make([]byte, 0, 2<<10)}
	o.begin()
	o.list("quantiles", tables.Quantiles())
	o.list("duration", s.Duration)
	o.list("executorDeserializeTime", s.DeserializeTime)
	o.list("executorDeserializeCpuTime", s.DeserializeCPUTime)
	o.list("executorRunTime", s.RunTime)
	o.list("executorCpuTime", s.CPUTime)
	o.list("resultSize", s.ResultSize)
	o.list("jvmGcTime", s.JVMGCTime)
	o.list("resultSerializationTime", s.ResultSerialization)
	o.list("gettingResultTime", s.GettingResultTime)
	o.list("schedulerDelay", s.SchedulerDelay)
	o.list("peakExecutionMemory", s.PeakExecutionMemory)
	o.list("memoryBytesSpilled", s.MemoryBytesSpilled)
	o.list("diskBytesSpilled", s.DiskBytesSpilled)
	o.name("inputMetrics")
	o.begin()
	o.list("bytesRead", s.InputBytes)
	o.list("recordsRead", s.InputRecords)
	o.end()
	o.name("outputMetrics")
	o.begin()
	o.list("bytesWritten", s.OutputBytes)
	o.list("recordsWritten", s.OutputRecords)
	o.end()
	o.name("shuffleReadMetrics")
	o.begin()
	o.list("readBytes", s.ShuffleReadBytes)
	o.list("readRecords", s.ShuffleReadRecords)
	o.list("remoteBlocksFetched", s.ShuffleRemoteBlocks)
	o.list("localBlocksFetched", s.ShuffleLocalBlocks)
	o.list("fetchWaitTime", s.ShuffleFetchWaitTime)
	o.list("remoteBytesRead", s.ShuffleRemoteBytes)
	o.list("remoteBytesReadToDisk", s.ShuffleRemoteToDisk)
	o.list("totalBlocksFetched", s.ShuffleTotalBlocks)
	o.end()
	o.name("shuffleWriteMetrics")
	o.begin()
	o.list("writeBytes", s.ShuffleWriteBytes)
	o.list("writeRecords", s.ShuffleWriteRecords)
	o.list("writeTime", s.ShuffleWriteTime)
	o.end()
	o.end()
	if o.failed {
		return "" // cannot happen: rows hold only finite numbers
	}
	return string(o.text)
}

// listObject is JSON with lists of numbers, which are mostly whole: encoding/json takes
// several times as long, and every stage has one.
type listObject struct {
	text   []byte
	failed bool // a number is not finite
}

func (o *listObject) begin() { o.text = append(o.text, '{') }

func (o *listObject) end() { o.text = append(o.text, '}') }

func (o *listObject) name(name string) {
	if o.text[len(o.text)-1] != '{' {
		o.text = append(o.text, ',')
	}
	o.text = append(o.text, '"')
	o.text = append(o.text, name...)
	o.text = append(o.text, '"', ':')
}

func (o *listObject) list(name string, values []float64) {
	o.name(name)
	if values == nil {
		o.text = append(o.text, "null"...)
		return
	}
	o.text = append(o.text, '[')
	for i, value := range values {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.number(value)
	}
	o.text = append(o.text, ']')
}

// exactInteger is a limit up to which a float64 holds every integer.
const exactInteger = 1 << 53

func (o *listObject) number(value float64) {
	if math.Abs(value) < exactInteger && value == math.Trunc(value) && !math.Signbit(value) {
		o.text = strconv.AppendInt(o.text, int64(value), 10)
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		o.failed = true
		return
	}
	o.text = append(o.text, text...)
}
