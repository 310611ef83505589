package lake

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// largestPut is what S3 takes in one PUT
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html).
const largestPut = 5 << 30

// dayError says why a day cannot be compacted, although the lake can be read and written.
type dayError struct {
	err    error
	remedy string // "" for a damaged object
}

func (e *dayError) Error() string { return e.err.Error() }
func (e *dayError) Unwrap() error { return e.err }

// compactedFile has the rows of a table's day; no spool if there are none.
type compactedFile struct {
	*spool
	of   tableDay
	rows int64
}

func (f compactedFile) close() {
	if f.spool != nil {
		f.spool.close()
	}
}

// rank orders the files of a day: a join with applications shows no rows of a new attempt before it is complete.
func (f compactedFile) rank() int {
	if f.of.table() == tables.Table((*tables.Application)(nil)) {
		return 1
	}
	return 0
}

// concatenate makes a file of the rows of a table's day, one object after the other. A dayError names an object that is
// damaged.
func (l *Lake) concatenate(ctx context.Context, one tableDay) (compactedFile, error) {
	d, _ := tables.Find(one.table())
	writer := writers[d.Name](d, false)
	defer writer.close()
	for content, err := range fetchAhead(ctx, l.store, l.store.List(ctx, l.prefix+string(one)+"/")) {
		if err != nil {
			return compactedFile{}, err // names the object
		}
		file, err := openFile(content.content(), content.size, content.key)
		if err != nil {
			return compactedFile{}, &dayError{err: fmt.Errorf("copy table %s: %w", d.Name, err)}
		}
		if err := writer.append(file); err != nil {
			return compactedFile{}, fmt.Errorf("copy table %s: %s: %w", d.Name, content.key, err)
		}
	}
	file, rows, err := writer.finish()
	if err != nil {
		return compactedFile{}, err // names the table
	}
	made := compactedFile{file, one, rows}
	switch {
	case rows == 0:
		made.close()
		return compactedFile{of: one}, nil
	case file.size > largestPut:
		made.close()
		return compactedFile{}, &dayError{
			fmt.Errorf("table %s: the rows of the day are %d bytes, and S3 takes %d at once", d.Name, file.size, int64(largestPut)),
			"read these tables without --compacted, or run without --include-tasks",
		}
	}
	return made, nil
}

// append copies the rows of an earlier file of the table, in their order. It reads as many rows at once as fill a page on
// average: parquet-go checks only after each write whether one is full. Columns that the file lacks are null, or zero if
// not nullable. An error of the file is a dayError.
func (w *typed[T]) append(file *parquet.File) error {
	conversion, err := parquet.Convert(w.schema, file.Schema())
	if err != nil {
		return &dayError{err: err}
	}
	for i, group := range file.RowGroups() {
		perRow := max(1, file.Metadata().RowGroups[i].TotalByteSize/max(1, group.NumRows()))
		if err := w.copyGroup(parquet.ConvertRowGroup(group, conversion), max(1, min(batchRows, pageBytes/perRow))); err != nil {
			return err
		}
	}
	return nil
}

// copyGroup writes the rows of a group, so many at once.
func (w *typed[T]) copyGroup(group parquet.RowGroup, atOnce int64) (err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	for read := make([]parquet.Row, atOnce); ; {
		n, err := rows.ReadRows(read)
		if err != nil && !errors.Is(err, io.EOF) {
			return &dayError{err: err}
		}
		if _, failed := w.out.WriteRows(read[:n]); failed != nil {
			return failed // callers name the object
		}
		w.rows += int64(n)
		if failed := w.cut(); failed != nil || err != nil {
			return failed
		}
	}
}
