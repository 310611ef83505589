package lake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// parquet-go limits row groups by rows only, but the plan of a SQL execution may take
// megabytes. Other sizes yield other bytes for the same rows.
const (
	rowGroupBytes = 32 << 20 // encoded and compressed
	runBytes      = 4 << 20  // of rows sorted in memory
	pageBytes     = 256 << 10
	runPageBytes  = 16 << 10 // a merge holds a page of each column of each run
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
	// append copies the rows of an earlier file of the table, without a sort.
	append(file *parquet.File) error
	// finish returns the file and its number of rows. The caller closes the file.
	finish() (file *spool, rows int64, err error)
	close()
}

// writers make the writers of tables, which sort by key or keep the order of arrival.
var writers = map[tables.Name]func(d tables.Definition, sorted bool) tableWriter{
	tables.Table((*tables.Application)(nil)):     newTyped[tables.Application],
	tables.Table((*tables.ClusterSummary)(nil)):  newTyped[tables.ClusterSummary],
	tables.Table((*tables.Job)(nil)):             newTyped[tables.Job],
	tables.Table((*tables.StageRow)(nil)):        newTyped[tables.StageRow],
	tables.Table((*tables.Task)(nil)):            newTyped[tables.Task],
	tables.Table((*tables.TaskSummary)(nil)):     newTyped[tables.TaskSummary],
	tables.Table((*tables.SQL)(nil)):             newTyped[tables.SQL],
	tables.Table((*tables.SQLNode)(nil)):         newTyped[tables.SQLNode],
	tables.Table((*tables.Operation)(nil)):       newTyped[tables.Operation],
	tables.Table((*tables.Executor)(nil)):        newTyped[tables.Executor],
	tables.Table((*tables.Environment)(nil)):     newTyped[tables.Environment],
	tables.Table((*tables.Phase)(nil)):           newTyped[tables.Phase],
	tables.Table((*tables.Completeness)(nil)):    newTyped[tables.Completeness],
	tables.Table((*tables.Finding)(nil)):         newTyped[tables.Finding],
	tables.Table((*tables.IneffJobRaw)(nil)):     newTyped[tables.IneffJobRaw],
	tables.Table((*tables.IneffJobAgg)(nil)):     newTyped[tables.IneffJobAgg],
	tables.Table((*tables.PhotonAnalysis)(nil)):  newTyped[tables.PhotonAnalysis],
	tables.Table((*tables.Step)(nil)):            newTyped[tables.Step],
	tables.Table((*tables.Cost)(nil)):            newTyped[tables.Cost],
	tables.Table((*tables.Instance)(nil)):        newTyped[tables.Instance],
	tables.Table((*tables.ApplicationCost)(nil)): newTyped[tables.ApplicationCost],
}

// codec is shared because a zstd encoder takes megabytes.
var codec = &zstd.Codec{Concurrency: 1}

// typed writes rows of one type. Rows are copied into columns at once, so that the caller
// may reuse them. They are written in the order of arrival, or sorted by key: a buffer of runBytes
// then goes to disk as a sorted run, and the runs are merged at the end. A batch sorts all but opt-in
// tables (tasks).
type typed[T any] struct {
	definition tables.Definition
	schema     *parquet.Schema
	unbounded  [][]string // columns
	one        []T
	rows       int64
	sorting    parquet.SortingOption
	buffer     *parquet.GenericBuffer[T] // nil in the order of arrival
	runs       []*spool
	file       *spool
	end        *tail // of file
	out        *parquet.GenericWriter[T]
	group      int64 // size of out before its current row group
}

func newTyped[T any](d tables.Definition, sorted bool) tableWriter {
	w := &typed[T]{definition: d, schema: parquet.SchemaOf(new(T)), one: make([]T, 1), file: newSpool()}
	w.end, w.unbounded = &tail{to: w.file}, unbounded(w.schema)
	w.sorting = parquet.SortingColumns(sortingColumns(d)...)
	if !sorted {
		w.out = w.newParquet(w.end, pageBytes, codec)
		return w
	}
	// Most tables of most applications are small: columns start small and grow.
	w.buffer = parquet.NewGenericBuffer[T](w.schema, parquet.SortingRowGroupConfig(w.sorting), parquet.ColumnBufferCapacity(64))
	return w
}

func sortingColumns(d tables.Definition) (columns []parquet.SortingColumn) {
	for _, name := range d.Key {
		columns = append(columns, parquet.NullsFirst(parquet.Ascending(name)))
	}
	return columns
}

// newParquet returns a writer of a file whose pages have this size in bytes.
func (w *typed[T]) newParquet(to io.Writer, page int, codec compress.Codec) *parquet.GenericWriter[T] {
	version := strconv.Itoa(tables.SchemaVersion)
	options := []parquet.WriterOption{
		w.schema,
		parquet.CreatedBy(creator, version, "parquet-go"),
		parquet.KeyValueMetadata(metaSchemaVersion, version),
		parquet.KeyValueMetadata(metaTable, string(w.definition.Name)),
		parquet.Compression(codec),
		// Spark 3.5 reads strings in parquet-go's default encoding, DELTA_LENGTH_BYTE_ARRAY, as empty.
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain),
		parquet.PageBufferSize(page),
		// Page headers would hold the bounds untruncated.
		parquet.DataPageStatistics(false),
	}
	for _, path := range w.unbounded {
		options = append(options, parquet.SkipPageBounds(path...))
	}
	if w.buffer != nil {
		options = append(options, parquet.SortingWriterConfig(w.sorting))
	}
	return parquet.NewGenericWriter[T](to, options...)
}

func (w *typed[T]) put(row tables.Row) error {
	typedRow, ok := row.(any).(*T)
	if !ok {
		return fmt.Errorf("table %s does not take %T", w.definition.Name, row)
	}
	w.one[0] = *typedRow
	w.rows++
	var err error
	if w.buffer == nil {
		if _, err = w.out.Write(w.one); err == nil && w.rows%64 == 0 {
			err = w.cut()
		}
	} else if _, err = w.buffer.Write(w.one); err == nil && w.buffer.Size() >= runBytes {
		err = w.spill()
	}
	if err != nil {
		return fmt.Errorf("write table %s: %w", w.definition.Name, err)
	}
	return nil
}

// cut ends the row group if it is large enough.
func (w *typed[T]) cut() error {
	if w.out.Size()-w.group < rowGroupBytes {
		return nil
	}
	err := w.out.Flush()
	w.group = w.out.Size()
	return err // callers name the table
}

// spill writes the buffer to disk as a sorted run.
func (w *typed[T]) spill() error {
	rows, err := w.sorted()
	if err != nil {
		return err
	}
	run := &spool{} // on disk, since many are kept until the end
	w.runs = append(w.runs, run)
	// Zstd would take several times as long for the small pages, which are soon read again.
	out := w.newParquet(run, runPageBytes, &parquet.Snappy)
	err = w.copyTo(out, []*sortedRows{rows}, runPageBytes, func(int) error { return nil })
	w.buffer.Reset()
	return errors.Join(err, out.Close())
}

// sorted returns the rows of the buffer by key. They are valid until the buffer changes. It
// does not let parquet-go exchange rows: where an empty text changes places with its
// neighbour, a column of texts still takes itself for ordered, since both have the same
// offset, and gives each the other's row (parquet-go 0.32, byteArrayColumnBuffer.page).
func (w *typed[T]) sorted() (*sortedRows, error) {
	if len(w.definition.Key) == 0 || sort.IsSorted(w.buffer) {
		return rowsOfGroup(w.buffer), nil
	}
	rows, err := allOf(w.buffer, len(w.schema.Columns()))
	if err != nil {
		return nil, err // callers name the table
	}
	slices.SortStableFunc(rows, w.schema.Comparator(sortingColumns(w.definition)...))
	return rowsInMemory(rows), nil
}

// allOf returns the rows of a group. Their texts stay in the group's memory; their values are in
// one allocation, unless columns are lists.
func allOf(group parquet.RowGroup, columns int) ([]parquet.Row, error) {
	all := make([]parquet.Row, group.NumRows())
	values := make([]parquet.Value, len(all)*columns)
	for i := range all {
		all[i] = values[i*columns : i*columns : (i+1)*columns]
	}
	rows := group.Rows()
	for at := 0; at < len(all); {
		n, err := rows.ReadRows(all[at:min(at+batchRows, len(all))])
		if at += n; n == 0 {
			return nil, fmt.Errorf("sort rows: %w", errors.Join(noMore(err), rows.Close()))
		}
	}
	return all, rows.Close()
}

func (w *typed[T]) finish() (*spool, int64, error) {
	var err error
	if w.buffer != nil {
		w.out = w.newParquet(w.end, pageBytes, codec)
		err = w.merge()
		w.closeRuns()
		w.buffer = nil // free it before the next table is merged
	}
	if err == nil {
		err = w.out.Flush()
	}
	w.end.held = new(bytes.Buffer)
	err = errors.Join(err, w.out.Close())
	if err == nil {
		err = w.end.finish()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("write table %s: %w", w.definition.Name, err)
	}
	file := w.file
	w.file = nil
	return file, w.rows, nil
}

// merge writes the runs and the buffer to the file, in order. Row groups end at multiples of
// batchRows, since runs depend on the order of arrival and must not affect the bytes.
func (w *typed[T]) merge() error {
	last, err := w.sorted()
	if err != nil {
		return err
	}
	sources := []*sortedRows{}
	for _, run := range w.runs {
		file, err := parquet.OpenFile(run.content(), run.size)
		if err != nil {
			closeRows(append(sources, last))
			return fmt.Errorf("read a sorted run: %w", err)
		}
		for _, group := range file.RowGroups() {
			sources = append(sources, rowsOfGroup(group))
		}
	}
	written := 0
	return w.copyTo(w.out, append(sources, last), pageBytes, func(rows int) error {
		if written += rows; written%batchRows == 0 {
			return w.cut()
		}
		return nil
	})
}

// copyTo merges sorted sources. parquet-go checks only after each write whether a page
// is full: a write has no more rows than fill one.
func (w *typed[T]) copyTo(
	out *parquet.GenericWriter[T], sources []*sortedRows, page int, after func(rows int) error,
) error {
	for rows, err := range merged(sources, w.schema.Comparator(sortingColumns(w.definition)...), page) {
		if err != nil {
			return err
		}
		if _, err := out.WriteRows(rows); err != nil {
			return err // callers name the table
		}
		if err := after(len(rows)); err != nil {
			return err
		}
	}
	return nil
}

func (w *typed[T]) closeRuns() {
	for _, run := range w.runs {
		run.close()
	}
	w.runs = nil
}

func (w *typed[T]) close() {
	w.closeRuns()
	if w.file != nil {
		w.file.close()
	}
}
