package fold

import "github.com/emr-observatory/emr-observatory/profiler/tables"

// Limits from the notebooks that the tables ineffjobraw and ineffjobagg replace.
const (
	skewFactor     = 2
	spillLimit     = 256 << 20 // bytes per task
	chunkLimit     = 512 << 20 // bytes per task
	slowestRate    = 0.01      // bytes per millisecond
	fastestRate    = 10_000
	completionRate = 90 // percent
)

// inefficiency returns the flags of a stage attempt. Without a summary only the completion
// flag is known. The notebooks compared a percentage with a fraction, and took medians and
// maxima of chunks from the minima; here each flag uses its own quantile.
func inefficiency(row *tables.StageRow, s *tables.TaskSummary) *tables.IneffJobRaw {
	flags := &tables.IneffJobRaw{Attempt: row.Attempt, Stage: row.Stage, StageMillis: row.DurationMillis}
	if row.TaskCompletionRate != nil {
		flags.CompletionRateFlag = new(*row.TaskCompletionRate < completionRate)
	}
	if s != nil && len(s.Duration) > tables.Highest {
		d := s.Duration
		flags.SkewFlag = new(d[tables.Median] > skewFactor*d[tables.Lowest] || d[tables.Highest] > skewFactor*d[tables.Median])
		flags.MemorySpillFlag = new(over(s.MemoryBytesSpilled, spillLimit))
		flags.DiskSpillFlag = new(over(s.DiskBytesSpilled, spillLimit))
		chunk, bytes := false, 0.0
		for _, list := range [][]float64{s.InputBytes, s.OutputBytes, s.ShuffleReadBytes, s.ShuffleWriteBytes} {
			chunk = chunk || over(list, chunkLimit)
			if len(list) > tables.Median {
				bytes += list[tables.Median]
			}
		}
		flags.ChunkFlag = &chunk
		if d[tables.Median] > 0 {
			rate := bytes / d[tables.Median]
			flags.ProcessingRateFlag = new(rate < slowestRate || rate > fastestRate)
		}
	}
	for _, flag := range []*bool{flags.SkewFlag, flags.MemorySpillFlag, flags.DiskSpillFlag, flags.ChunkFlag, flags.CompletionRateFlag} {
		flags.Inefficient = flags.Inefficient || (flag != nil && *flag)
	}
	return flags
}

// over reports whether the median or the maximum exceeds a limit.
func over(list []float64, limit float64) bool {
	return len(list) > tables.Highest && (list[tables.Median] > limit || list[tables.Highest] > limit)
}
