package fold

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Each flag has its own limit and its own quantile.
func TestInefficiency(t *testing.T) {
	even := []float64{10, 10, 10, 10, 10}
	none := []float64{0, 0, 0, 0, 0}
	most := func(value float64) []float64 { return []float64{0, 0, 0, 0, value} }
	base := func() *tables.TaskSummary {
		s := &tables.TaskSummary{}
		s.Duration, s.MemoryBytesSpilled, s.DiskBytesSpilled = even, none, none
		s.InputBytes, s.OutputBytes, s.ShuffleReadBytes, s.ShuffleWriteBytes = even, none, none, none
		return s
	}
	for name, c := range map[string]struct {
		change func(s *tables.TaskSummary)
		rate   float64 // completion, percent
		want   func(f *tables.IneffJobRaw) *bool
		flag   bool
	}{
		"even":              {func(*tables.TaskSummary) {}, 100, func(f *tables.IneffJobRaw) *bool { return f.SkewFlag }, false},
		"slow half":         {func(s *tables.TaskSummary) { s.Duration = []float64{4, 9, 9, 10, 10} }, 100, skewOf, true},
		"slow task":         {func(s *tables.TaskSummary) { s.Duration = []float64{9, 9, 9, 9, 19} }, 100, skewOf, true},
		"exactly twice":     {func(s *tables.TaskSummary) { s.Duration = []float64{5, 9, 10, 10, 20} }, 100, skewOf, false},
		"memory spilled":    {func(s *tables.TaskSummary) { s.MemoryBytesSpilled = most(256<<20 + 1) }, 100, memoryOf, true},
		"memory at limit":   {func(s *tables.TaskSummary) { s.MemoryBytesSpilled = most(256 << 20) }, 100, memoryOf, false},
		"disk spilled":      {func(s *tables.TaskSummary) { s.DiskBytesSpilled = most(256<<20 + 1) }, 100, diskOf, true},
		"large write":       {func(s *tables.TaskSummary) { s.OutputBytes = most(512<<20 + 1) }, 100, chunkOf, true},
		"large minimum":     {func(s *tables.TaskSummary) { s.ShuffleReadBytes = []float64{1 << 30, 0, 0, 0, 0} }, 100, chunkOf, false},
		"few tasks done":    {func(*tables.TaskSummary) {}, 89, completionOf, true},
		"most tasks done":   {func(*tables.TaskSummary) {}, 90, completionOf, false},
		"nothing read":      {func(s *tables.TaskSummary) { s.InputBytes = none }, 100, rateOf, true},
		"a byte per second": {func(s *tables.TaskSummary) { s.InputBytes = []float64{1, 1, 1, 1, 1} }, 100, rateOf, false},
	} {
		t.Run(name, func(t *testing.T) {
			summary := base()
			c.change(summary)
			row := &tables.StageRow{Status: StageComplete, TaskCompletionRate: &c.rate, DurationMillis: new(int64(7))}
			flags := inefficiency(row, summary)
			got := c.want(flags)
			require.Equal(t, c.flag, *got)
			require.Equal(t, c.flag && name != "nothing read", flags.Inefficient)
			require.EqualValues(t, 7, *flags.StageMillis)
		})
	}
	flags := inefficiency(&tables.StageRow{TaskCompletionRate: new(50.0)}, nil)
	require.True(t, flags.Inefficient)
	require.Nil(t, flags.SkewFlag, "unknown without tasks")
}

func skewOf(f *tables.IneffJobRaw) *bool       { return f.SkewFlag }
func memoryOf(f *tables.IneffJobRaw) *bool     { return f.MemorySpillFlag }
func diskOf(f *tables.IneffJobRaw) *bool       { return f.DiskSpillFlag }
func chunkOf(f *tables.IneffJobRaw) *bool      { return f.ChunkFlag }
func completionOf(f *tables.IneffJobRaw) *bool { return f.CompletionRateFlag }
func rateOf(f *tables.IneffJobRaw) *bool       { return f.ProcessingRateFlag }

// Cores count from the start to the end of their executor.
func TestCoreTime(t *testing.T) {
	presences := []presence{{from: 100, to: 200, cores: 4}, {from: 150, cores: 2}, {from: 200, to: 300, cores: 4}, {from: 100}}
	largest, time := coreTime(presences, 400)
	require.Equal(t, []int64{6, 4*100 + 2*250 + 4*100}, []int64{*largest, *time})
	largest, time = coreTime(presences, 0)
	require.EqualValues(t, 6, *largest)
	require.Nil(t, time, "the end of the second is unknown")
	largest, time = coreTime(nil, 400)
	require.Nil(t, largest)
	require.Nil(t, time)
}

// Sizes without a unit are in MiB.
func TestMemory(t *testing.T) {
	for size, want := range map[string]int64{"4g": 4 << 30, "512": 512 << 20, "10b": 10} {
		require.Equal(t, want, *memory(size), size)
	}
	for _, size := range []string{"", "x", "4km"} {
		require.Nil(t, memory(size), size)
	}
}

// An application without a valid traceparent has no trace id.
func TestTraceID(t *testing.T) {
	for given, want := range map[string]*string{
		"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01": new("0123456789abcdef0123456789abcdef"),
		"00-00000000000000000000000000000000-0123456789abcdef-01": nil,
		"00-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz-0123456789abcdef-01": nil,
		"": nil,
	} {
		var row tables.Application
		applicationProperties(&row, map[string]string{platform.SparkTraceparent: given})
		require.Equal(t, want, row.TraceID, given)
	}
}

// Samples of a stage with very many tasks take few bytes per task.
func TestSamplesAreSmall(t *testing.T) {
	var s samples
	const tasks = 100 * blockSize
	for i := range int64(tasks) {
		s.add(&sample{
			taskDuration: 900 + i*7919%400, schedulerDelay: i % 30, runTime: 800 + i*7919%400, cpuTime: 600_000_000 + i*7919%300_000_000,
			deserializeTime: i % 9, deserializeCPUTime: 3_000_000 + i*31%900_000, resultSize: 2000 + i%40, gcTime: i % 90,
			peakMemory: 4 << 20, readBytes: 90_000_000 + i*7919%30_000_000, readRecords: 1_000_000 + i*31%90_000,
			localBlocks: 90 + i%7, remoteBlocks: 110 - i%7, totalBlocks: 200, fetchWait: i % 300, remoteBytes: 50_000_000 + i*7919%30_000_000,
			writeBytes: 8_000_000 + i*31%900_000, writeRecords: 70_000 + i%900, writeTime: 40_000_000 + i*7919%9_000_000,
		})
	}
	bytes := 0
	for i := range s.blocks {
		bytes += len(s.blocks[i].data) + len(s.blocks[i].lowest)*9
	}
	require.Less(t, bytes/tasks, 64, "%d unpacked", len(sample{})*8)
}
