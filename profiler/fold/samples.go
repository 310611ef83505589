package fold

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// metric is a column of samples.
type metric int

// The metrics for which Spark reports quantiles, in the order of tables.Distributions.
const (
	taskDuration metric = iota
	deserializeTime
	deserializeCPUTime
	runTime
	cpuTime
	resultSize
	gcTime
	resultSerialization
	gettingResult
	schedulerDelay
	peakMemory
	memorySpilled
	diskSpilled
	inputBytes
	inputRecords
	outputBytes
	outputRecords
	readBytes
	readRecords
	remoteBlocks
	localBlocks
	fetchWait
	remoteBytes
	remoteToDisk
	totalBlocks
	writeBytes
	writeRecords
	writeTime
	numMetrics
)

// sample has one task's value of each metric.
type sample [numMetrics]int64

// samples keeps the samples of a stage's tasks, packed: a block of tasks has the lowest
// value of each metric, and each task's difference from it in as few bytes as all fit in.
// A metric that is the same for all tasks of a block, such as 0, takes no space.
type samples struct {
	count  int64
	latest []sample // not yet packed
	blocks []block
}

const blockSize = 256 // tasks

type block struct {
	lowest sample
	width  [numMetrics]uint8 // bytes per value, 0 to 8
	data   []byte
}

func (s *samples) add(v *sample) {
	s.count++
	s.latest = append(s.latest, *v)
	if len(s.latest) == blockSize {
		s.blocks = append(s.blocks, pack(s.latest))
		s.latest = s.latest[:0]
	}
}

func pack(rows []sample) block {
	var b block
	size := 0
	for m := range numMetrics {
		low, high := rows[0][m], rows[0][m]
		for i := range rows {
			low, high = min(low, rows[i][m]), max(high, rows[i][m])
		}
		b.lowest[m] = low
		b.width[m] = uint8((bits.Len64(uint64(high-low)) + 7) / 8)
		size += int(b.width[m]) * len(rows)
	}
	b.data = make([]byte, 0, size+8) // the last value is also written and read as 8 bytes
	for m := range numMetrics {
		if b.width[m] == 0 {
			continue
		}
		for i := range rows {
			end := len(b.data) + int(b.width[m])
			b.data = binary.LittleEndian.AppendUint64(b.data, uint64(rows[i][m]-b.lowest[m]))[:end]
		}
	}
	b.data = b.data[:size+8]
	return b
}

// column appends all tasks' values of a metric to values.
func (s *samples) column(m metric, values []int64) []int64 {
	for i := range s.blocks {
		values = s.blocks[i].column(m, values)
	}
	for i := range s.latest {
		values = append(values, s.latest[i][m])
	}
	return values
}

func (b *block) column(m metric, values []int64) []int64 {
	at := 0
	for before := range m {
		at += int(b.width[before]) * blockSize
	}
	width := int(b.width[m])
	if width == 0 {
		for range blockSize {
			values = append(values, b.lowest[m])
		}
		return values
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for range blockSize {
		values = append(values, b.lowest[m]+int64(binary.LittleEndian.Uint64(b.data[at:])&mask))
		at += width
	}
	return values
}

// quickselect puts the value at index that would be there if values were sorted, with no
// larger values before it and no smaller ones after it.
func quickselect(values []int64, index int) {
	for tries := 2 * bits.Len(uint(len(values))); len(values) > 32 && tries > 0; tries-- {
		pivot := medianOfThree(values[0], values[len(values)/2], values[len(values)-1])
		less, equal := partition(values, pivot)
		switch {
		case index < less:
			values = values[:less]
		case index < less+equal:
			return
		default:
			values, index = values[less+equal:], index-less-equal
		}
	}
	slices.Sort(values)
}

func medianOfThree(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// partition moves values less than the pivot to the front, followed by those equal to it,
// and returns how many there are of each.
func partition(values []int64, pivot int64) (less, equal int) {
	end := len(values)
	for at := 0; at < end; {
		switch v := values[at]; {
		case v < pivot:
			values[at], values[less] = values[less], v
			less++
			at++
		case v > pivot:
			end--
			values[at], values[end] = values[end], v
		default:
			at++
		}
	}
	return less, end - less
}
