package fold

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// metric is a column of samples.
type metric int

// The metrics of which Spark tells quantiles. Those up to gettingResult are kept for other
// tasks than the successful, too.
const (
	taskDuration metric = iota
	schedulerDelay
	gettingResult
	deserializeTime
	deserializeCPUTime
	runTime
	cpuTime
	resultSize
	gcTime
	resultSerialization
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
	metrics
)

// sample is what one task had of each metric.
type sample [metrics]int64

// samples keeps the samples of a stage's tasks, packed: a block of tasks has of each
// metric the least value, and of each task the bytes by which it exceeds that. What all
// tasks of a block have alike, such as a metric that is 0, costs nothing.
type samples struct {
	count  int64
	latest []sample // not packed yet
	blocks []block
}

const blockSize = 256 // tasks

type block struct {
	least sample
	width [metrics]uint8 // bytes of each value, 0 to 8
	data  []byte
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
	for m := range metrics {
		least, most := rows[0][m], rows[0][m]
		for i := range rows {
			least, most = min(least, rows[i][m]), max(most, rows[i][m])
		}
		b.least[m] = least
		b.width[m] = uint8((bits.Len64(uint64(most-least)) + 7) / 8)
		size += int(b.width[m]) * len(rows)
	}
	b.data = make([]byte, 0, size+8) // the last value is written and read in 8 bytes
	for m := range metrics {
		if b.width[m] == 0 {
			continue
		}
		for i := range rows {
			end := len(b.data) + int(b.width[m])
			b.data = binary.LittleEndian.AppendUint64(b.data, uint64(rows[i][m]-b.least[m]))[:end]
		}
	}
	b.data = b.data[:size+8]
	return b
}

// column appends a metric's values of all tasks to values.
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
			values = append(values, b.least[m])
		}
		return values
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for range blockSize {
		values = append(values, b.least[m]+int64(binary.LittleEndian.Uint64(b.data[at:])&mask))
		at += width
	}
	return values
}

// ranked returns the values at these places of the sorted values. The places ascend. It
// reorders the values.
func ranked(values []int64, places []int) []float64 {
	found := make([]float64, 0, len(places))
	from := 0
	for _, place := range places {
		if place >= from {
			sortAt(values[from:], place-from)
			from = place + 1
		}
		found = append(found, float64(values[place]))
	}
	return found
}

// sortAt puts that value at place that would be there if all were sorted, no larger ones
// before it and no smaller ones after it (quickselect).
func sortAt(values []int64, place int) {
	for tries := 2 * bits.Len(uint(len(values))); len(values) > 32 && tries > 0; tries-- {
		pivot := middle(values[0], values[len(values)/2], values[len(values)-1])
		less, equal := split(values, pivot)
		switch {
		case place < less:
			values = values[:less]
		case place < less+equal:
			return
		default:
			values, place = values[less+equal:], place-less-equal
		}
	}
	slices.Sort(values)
}

func middle(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// split puts the values less than the pivot first, then those equal to it.
func split(values []int64, pivot int64) (less, equal int) {
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
