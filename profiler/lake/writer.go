package lake

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Sizes in bytes of rows before they are encoded and compressed. parquet-go cuts row
// groups by rows only, and the plan of a SQL execution may have megabytes. Row groups of
// another size are other bytes for the same rows.
const (
	rowGroupBytes = 16 << 20
	runBytes      = 8 << 20 // of a table that is sorted in memory
)

// Keys and values of a file's metadata.
const (
	metaSchemaVersion = "emr-observatory.schema_version"
	metaTable         = "emr-observatory.table"
	creator           = "emr-observatory-profiler"
)

// tableWriter turns the rows of one object into a Parquet file.
type tableWriter interface {
	put(row tables.Row) error
	// finish returns the file and its rows. The caller closes the file.
	finish() (file *spool, rows int64, err error)
	close()
}

func newTableWriter(d tables.Definition, row tables.Row) (tableWriter, error) {
	switch row.(type) {
	case *tables.Application:
		return newTyped[tables.Application](d), nil
	case *tables.ClusterSummary:
		return newTyped[tables.ClusterSummary](d), nil
	case *tables.Job:
		return newTyped[tables.Job](d), nil
	case *tables.StageRow:
		return newTyped[tables.StageRow](d), nil
	case *tables.Task:
		return newTyped[tables.Task](d), nil
	case *tables.TaskSummary:
		return newTyped[tables.TaskSummary](d), nil
	case *tables.SQL:
		return newTyped[tables.SQL](d), nil
	case *tables.SQLNode:
		return newTyped[tables.SQLNode](d), nil
	case *tables.Executor:
		return newTyped[tables.Executor](d), nil
	case *tables.Environment:
		return newTyped[tables.Environment](d), nil
	case *tables.Phase:
		return newTyped[tables.Phase](d), nil
	case *tables.Completeness:
		return newTyped[tables.Completeness](d), nil
	case *tables.Finding:
		return newTyped[tables.Finding](d), nil
	case *tables.IneffJobRaw:
		return newTyped[tables.IneffJobRaw](d), nil
	case *tables.IneffJobAgg:
		return newTyped[tables.IneffJobAgg](d), nil
	case *tables.PhotonAnalysis:
		return newTyped[tables.PhotonAnalysis](d), nil
	case *tables.Step:
		return newTyped[tables.Step](d), nil
	case *tables.Cost:
		return newTyped[tables.Cost](d), nil
	}
	return nil, fmt.Errorf("table %s has no writer for %T", d.Name, row)
}

// typed writes rows of one type. Rows are copied into columns at once, so that the caller
// may reuse them. Tables on request (tasks) go out in the order of arrival, row group by
// row group. The others are sorted by their key: what exceeds runBytes goes to disk as a
// sorted run, and the runs are merged.
type typed[T any] struct {
	definition tables.Definition
	schema     *parquet.Schema
	key        parquet.RowGroupOption
	buffer     *parquet.GenericBuffer[T]
	one        []T
	rows       int64
	runs       []*spool
	out        *parquet.GenericWriter[T]
	file       *spool
}

func newTyped[T any](d tables.Definition) *typed[T] {
	w := &typed[T]{definition: d, schema: parquet.SchemaOf(new(T)), one: make([]T, 1), file: newSpool()}
	w.key = &parquet.RowGroupConfig{}
	if w.sorted() {
		w.key = parquet.SortingRowGroupConfig(parquet.SortingColumns(sortingColumns(d)...))
	}
	w.buffer = w.newBuffer()
	return w
}

func (w *typed[T]) newBuffer() *parquet.GenericBuffer[T] {
	// Most tables of most applications are small: columns start small and grow.
	return parquet.NewGenericBuffer[T](w.schema, w.key, parquet.ColumnBufferCapacity(64))
}

func (w *typed[T]) sorted() bool { return !w.definition.OptIn }

func sortingColumns(d tables.Definition) (columns []parquet.SortingColumn) {
	for _, name := range d.Key {
		columns = append(columns, parquet.NullsFirst(parquet.Ascending(name)))
	}
	return columns
}

// newParquet returns a writer of a file with pages of so many bytes.
func (w *typed[T]) newParquet(to io.Writer, page int) *parquet.GenericWriter[T] {
	version := strconv.Itoa(tables.SchemaVersion)
	return parquet.NewGenericWriter[T](to, w.schema,
		parquet.CreatedBy(creator, version, "parquet-go"),
		parquet.KeyValueMetadata(metaSchemaVersion, version),
		parquet.KeyValueMetadata(metaTable, string(w.definition.Name)),
		parquet.Compression(&zstd.Codec{Concurrency: 1}),
		parquet.PageBufferSize(page),
	)
}

func (w *typed[T]) put(row tables.Row) error {
	typedRow, ok := row.(any).(*T)
	if !ok {
		return fmt.Errorf("table %s takes no %T", w.definition.Name, row)
	}
	w.one[0] = *typedRow
	if _, err := w.buffer.Write(w.one); err != nil {
		return fmt.Errorf("table %s: %w", w.definition.Name, err)
	}
	w.rows++
	switch size := w.buffer.Size(); {
	case w.sorted() && size >= runBytes:
		return w.spill()
	case !w.sorted() && size >= rowGroupBytes:
		return w.flush(w.buffer)
	}
	return nil
}

// spill writes what is in memory as a sorted run.
func (w *typed[T]) spill() error {
	w.sort()
	run := newSpool()
	w.runs = append(w.runs, run)
	// A merge holds a page of each column of each run.
	out := w.newParquet(run, 16<<10)
	_, err := out.WriteRowGroup(w.buffer)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("table %s: write a sorted run: %w", w.definition.Name, err)
	}
	w.buffer.Reset()
	return nil
}

func (w *typed[T]) sort() {
	if len(w.definition.Key) > 0 && !sort.IsSorted(w.buffer) {
		sort.Stable(w.buffer)
	}
}

// flush writes a row group to the file.
func (w *typed[T]) flush(buffer *parquet.GenericBuffer[T]) error {
	if w.out == nil {
		w.out = w.newParquet(w.file, parquet.DefaultPageBufferSize)
	}
	if _, err := w.out.WriteRowGroup(buffer); err != nil {
		return fmt.Errorf("table %s: write a row group: %w", w.definition.Name, err)
	}
	buffer.Reset()
	return nil
}

func (w *typed[T]) finish() (*spool, int64, error) {
	var err error
	if w.sorted() {
		w.sort()
	}
	if len(w.runs) > 0 {
		err = w.merge()
	} else if w.buffer.NumRows() > 0 {
		err = w.flush(w.buffer)
	}
	if err != nil {
		return nil, 0, err
	}
	if w.out == nil {
		return nil, 0, nil
	}
	if err := w.out.Close(); err != nil {
		return nil, 0, fmt.Errorf("table %s: write the file: %w", w.definition.Name, err)
	}
	file := w.file
	w.file = nil
	return file, w.rows, nil
}

// merge writes the runs and what is in memory in one order.
func (w *typed[T]) merge() error {
	groups := make([]parquet.RowGroup, 0, len(w.runs)+1)
	for _, run := range w.runs {
		file, err := parquet.OpenFile(run.content(), run.size)
		if err != nil {
			return fmt.Errorf("table %s: read a sorted run: %w", w.definition.Name, err)
		}
		groups = append(groups, file.RowGroups()...)
	}
	groups = append(groups, w.buffer)
	merged, err := parquet.MergeRowGroups(groups, w.schema, w.key)
	if err != nil {
		return fmt.Errorf("table %s: merge sorted runs: %w", w.definition.Name, err)
	}
	rows := merged.Rows()
	defer rows.Close()
	group := w.newBuffer()
	batch := make([]parquet.Row, 16)
	for done := false; !done; {
		n, err := rows.ReadRows(batch)
		done = errors.Is(err, io.EOF)
		if err != nil && !done {
			return fmt.Errorf("table %s: merge sorted runs: %w", w.definition.Name, err)
		}
		if _, err := group.WriteRows(batch[:n]); err != nil {
			return fmt.Errorf("table %s: merge sorted runs: %w", w.definition.Name, err)
		}
		if group.Size() >= rowGroupBytes || done && group.NumRows() > 0 {
			if err := w.flush(group); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *typed[T]) close() {
	for _, run := range w.runs {
		run.close()
	}
	if w.file != nil {
		w.file.close()
	}
}
