package lake

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
)

// merged yields the rows of sorted row groups in order, equal ones in the order of their
// groups. A row is valid until the next one. It holds one row, and one page per column, of
// each group; parquet.MergeRowGroups holds dozens of rows, which may take megabytes.
func merged(groups []parquet.RowGroup, compare func(a, b parquet.Row) int) iter.Seq2[parquet.Row, error] {
	return func(yield func(parquet.Row, error) bool) {
		queue := &mergeQueue{compare: compare}
		for i, group := range groups {
			s := &sortedRows{order: i, rows: group.Rows(), one: make([]parquet.Row, 1)}
			defer s.rows.Close()
			more, err := s.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if more {
				heap.Push(queue, s)
			}
		}
		for queue.Len() > 0 {
			first := queue.sources[0]
			if !yield(first.one[0], nil) {
				return
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
	}
}

// sortedRows reads a row group row by row.
type sortedRows struct {
	order int
	rows  parquet.Rows
	one   []parquet.Row
}

// next reads the next row, and reports whether there is one.
func (s *sortedRows) next() (bool, error) {
	n, err := s.rows.ReadRows(s.one)
	if n == 1 {
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
	if c := q.compare(a.one[0], b.one[0]); c != 0 {
		return c < 0
	}
	return a.order < b.order
}

func (q *mergeQueue) Pop() any {
	last := q.sources[len(q.sources)-1]
	q.sources = q.sources[:len(q.sources)-1]
	return last
}
