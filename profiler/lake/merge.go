package lake

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
)

// merged yields the rows of sorted sources in order, equal ones in the order of their
// sources, and closes these. It yields them in batches, which are valid until the next one,
// of about limit bytes at most. Besides, it holds rowsAhead rows, and one page per column,
// of each row group; parquet.MergeRowGroups holds dozens of rows, which may take megabytes.
func merged(sources []*sortedRows, compare func(a, b parquet.Row) int, limit int) iter.Seq2[[]parquet.Row, error] {
	return func(yield func([]parquet.Row, error) bool) {
		defer closeRows(sources)
		queue := &mergeQueue{compare: compare}
		for i, s := range sources {
			s.order = i
			more, err := s.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if more {
				heap.Push(queue, s)
			}
		}
		b := &batchOfRows{rows: make([]parquet.Row, 0, batchRows), limit: limit}
		for queue.Len() > 0 {
			first := queue.sources[0]
			if b.take(first.first()); b.full() {
				if !yield(b.rows, nil) {
					return
				}
				b.clear()
			}
			more, err := first.next()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case more:
				heap.Fix(queue, 0)
			default:
				heap.Pop(queue)
			}
		}
		if len(b.rows) > 0 { // before the sources are closed, whose memory the rows share
			yield(b.rows, nil)
		}
	}
}

// batchRows is the largest number of rows in a batch. Batches also end at its multiples.
const batchRows = 64

// batchOfRows collects rows to be written at once, which takes a fraction of the time of
// writing each by itself. What ends a batch depends on its rows only.
type batchOfRows struct {
	rows  []parquet.Row
	bytes int
	limit int // of bytes
	total int // rows of all batches
}

// take moves a row into the batch, and leaves the memory of an earlier one in its place.
// Texts of a row that was read stay valid: parquet-go does not use their memory again, except
// for those of a buffer once it is reset.
func (b *batchOfRows) take(row *parquet.Row) {
	n := len(b.rows)
	b.rows = b.rows[:n+1]
	b.rows[n], *row = *row, b.rows[n]
	b.total++
	b.bytes += 8 * len(b.rows[n])
	for _, value := range b.rows[n] {
		if value.Kind() == parquet.ByteArray {
			b.bytes += len(value.ByteArray())
		}
	}
}

func (b *batchOfRows) full() bool { return b.total%batchRows == 0 || b.bytes >= b.limit }

// clear empties the batch, and lets go of the texts of its rows.
func (b *batchOfRows) clear() {
	for _, row := range b.rows {
		clear(row)
	}
	b.rows, b.bytes = b.rows[:0], 0
}

// Bounds of what a merge reads at once of each group.
const (
	aheadRows  = 16 // reading rows one by one takes twice as long
	aheadBytes = 16 << 10
)

// rowsAhead returns how many rows of a group of runBytes are read at once.
func rowsAhead(group parquet.RowGroup) int64 {
	return max(1, min(aheadRows, group.NumRows()*aheadBytes/runBytes))
}

// sortedRows are the rows of a source in order: those of a row group, or those in memory.
type sortedRows struct {
	order int          // among the sources
	rows  parquet.Rows // nil if all are in memory
	read  []parquet.Row
	at    int // of the first row, in read
	count int // of rows in read
}

// rowsOfGroup are the rows of a group that is sorted.
func rowsOfGroup(group parquet.RowGroup) *sortedRows {
	return &sortedRows{rows: group.Rows(), read: make([]parquet.Row, rowsAhead(group))}
}

// rowsInMemory are rows that are sorted.
func rowsInMemory(rows []parquet.Row) *sortedRows {
	return &sortedRows{read: rows, at: -1, count: len(rows)}
}

func closeRows(sources []*sortedRows) {
	for _, s := range sources {
		if s.rows != nil {
			_ = s.rows.Close()
		}
	}
}

func (s *sortedRows) first() *parquet.Row { return &s.read[s.at] }

// next drops the first row, and reports whether there is another.
func (s *sortedRows) next() (bool, error) {
	if s.at++; s.at < s.count {
		return true, nil
	}
	if s.rows == nil {
		return false, nil
	}
	n, err := s.rows.ReadRows(s.read)
	if n > 0 {
		s.at, s.count = 0, n
		return true, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return false, nil
	}
	return false, fmt.Errorf("merge sorted runs: %w", err)
}

// mergeQueue is a heap whose first source has the smallest row.
type mergeQueue struct {
	compare func(a, b parquet.Row) int
	sources []*sortedRows
}

func (q *mergeQueue) Len() int      { return len(q.sources) }
func (q *mergeQueue) Swap(i, j int) { q.sources[i], q.sources[j] = q.sources[j], q.sources[i] }
func (q *mergeQueue) Push(s any) {
	if source, ok := s.(*sortedRows); ok {
		q.sources = append(q.sources, source)
	}
}

func (q *mergeQueue) Less(i, j int) bool {
	a, b := q.sources[i], q.sources[j]
	if c := q.compare(*a.first(), *b.first()); c != 0 {
		return c < 0
	}
	return a.order < b.order
}

func (q *mergeQueue) Pop() any {
	last := q.sources[len(q.sources)-1]
	q.sources = q.sources[:len(q.sources)-1]
	return last
}
