package fold

import "github.com/emr-observatory/emr-observatory/profiler/tables"

// summaryJSON encodes the quantiles as in Spark's REST API
// (org.apache.spark.status.api.v1.TaskMetricDistributions).
func summaryJSON(s *tables.TaskSummary) string {
	type input struct {
		Bytes   []float64 `json:"bytesRead"`
		Records []float64 `json:"recordsRead"`
	}
	type output struct {
		Bytes   []float64 `json:"bytesWritten"`
		Records []float64 `json:"recordsWritten"`
	}
	type read struct {
		Bytes         []float64 `json:"readBytes"`
		Records       []float64 `json:"readRecords"`
		RemoteBlocks  []float64 `json:"remoteBlocksFetched"`
		LocalBlocks   []float64 `json:"localBlocksFetched"`
		FetchWaitTime []float64 `json:"fetchWaitTime"`
		RemoteBytes   []float64 `json:"remoteBytesRead"`
		RemoteToDisk  []float64 `json:"remoteBytesReadToDisk"`
		TotalBlocks   []float64 `json:"totalBlocksFetched"`
	}
	type write struct {
		Bytes   []float64 `json:"writeBytes"`
		Records []float64 `json:"writeRecords"`
		Time    []float64 `json:"writeTime"`
	}
	return compactJSON(struct {
		Quantiles           []float64 `json:"quantiles"`
		Duration            []float64 `json:"duration"`
		DeserializeTime     []float64 `json:"executorDeserializeTime"`
		DeserializeCPUTime  []float64 `json:"executorDeserializeCpuTime"`
		RunTime             []float64 `json:"executorRunTime"`
		CPUTime             []float64 `json:"executorCpuTime"`
		ResultSize          []float64 `json:"resultSize"`
		JVMGCTime           []float64 `json:"jvmGcTime"`
		ResultSerialization []float64 `json:"resultSerializationTime"`
		GettingResultTime   []float64 `json:"gettingResultTime"`
		SchedulerDelay      []float64 `json:"schedulerDelay"`
		PeakExecutionMemory []float64 `json:"peakExecutionMemory"`
		MemoryBytesSpilled  []float64 `json:"memoryBytesSpilled"`
		DiskBytesSpilled    []float64 `json:"diskBytesSpilled"`
		Input               input     `json:"inputMetrics"`
		Output              output    `json:"outputMetrics"`
		Read                read      `json:"shuffleReadMetrics"`
		Write               write     `json:"shuffleWriteMetrics"`
	}{
		tables.Quantiles(), s.Duration, s.DeserializeTime, s.DeserializeCPUTime, s.RunTime, s.CPUTime, s.ResultSize, s.JVMGCTime,
		s.ResultSerialization, s.GettingResultTime, s.SchedulerDelay, s.PeakExecutionMemory, s.MemoryBytesSpilled, s.DiskBytesSpilled,
		input{s.InputBytes, s.InputRecords}, output{s.OutputBytes, s.OutputRecords},
		read{
			s.ShuffleReadBytes, s.ShuffleReadRecords, s.ShuffleRemoteBlocks, s.ShuffleLocalBlocks, s.ShuffleFetchWaitTime,
			s.ShuffleRemoteBytes, s.ShuffleRemoteToDisk, s.ShuffleTotalBlocks,
		},
		write{s.ShuffleWriteBytes, s.ShuffleWriteRecords, s.ShuffleWriteTime},
	})
}
