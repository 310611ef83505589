package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Filter selects rows by attempt or cluster. Empty fields select all.
type Filter struct {
	Account, Region, ClusterID, ApplicationID string
	AttemptID                                 *string
	// From and To bound the partition, as YYYY-MM-DD, both inclusive.
	From, To string
}

// matchesName reports whether the filter selects an object or manifest by its name, an
// attemptName or clusterName.
func (f Filter) matchesName(name string) bool {
	want := []string{f.ApplicationID, "", f.ClusterID, f.Region, f.Account}
	parts := strings.Split(name, ".")
	if len(parts) == 3 { // of a cluster
		want = want[2:]
	} else if f.AttemptID != nil && (len(parts) < 2 || parts[1] != part(*f.AttemptID)) {
		return false
	}
	for i := range min(len(want), len(parts)) {
		if want[i] != "" && parts[i] != part(want[i]) {
			return false
		}
	}
	return len(parts) == len(want)
}

// MatchesCluster reports whether the filter selects applications of a cluster.
func (f Filter) MatchesCluster(id tables.Cluster) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(f.Account, id.Account) && same(f.Region, id.Region) && same(f.ClusterID, id.ClusterID)
}

// MatchesAttempt reports whether the filter selects an attempt of an application that
// started at the given time.
func (f Filter) MatchesAttempt(id tables.Attempt, start time.Time) bool {
	return f.MatchesCluster(id.Cluster) && (f.ApplicationID == "" || f.ApplicationID == id.ApplicationID) &&
		(f.AttemptID == nil || *f.AttemptID == id.AttemptID) && f.matchesDay(day(start))
}

func (f Filter) matchesDay(day string) bool { return f.From <= day && (f.To == "" || day <= f.To) }

// fromManifests yields the keys of a table's objects that the manifests with a prefix list,
// without listing all days.
func (l *Lake) fromManifests(ctx context.Context, table tables.Name, prefix string, f Filter) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for key, err := range l.store.List(ctx, l.prefix+prefix) {
			var m *manifest
			if err == nil && !f.matchesName(strings.TrimSuffix(path.Base(key), ".json")) {
				continue
			}
			if err == nil {
				m, err = readManifest(ctx, l.store, key)
			}
			if err != nil {
				yield("", err)
				return
			}
			if m == nil || !f.matchesDay(m.Day) {
				continue
			}
			if o, ok := m.Objects[table]; ok && !yield(l.prefix+o.Key, nil) {
				return
			}
		}
	}
}

// Read yields the rows of a table, the latest days first unless the filter names the
// application (for tables of clusters, the cluster). Columns that an older file lacks are
// null, or zero if not nullable; a file of a newer schema version is an error. Objects that
// are removed, or not yet written, while Read runs are skipped.
func Read[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, l *Lake, f Filter) iter.Seq2[T, error] {
	return ReadPart[T, P](ctx, l, f, Selection{})
}

// ReadPart is Read of a part of a table. With columns it is several times as fast.
func ReadPart[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, l *Lake, f Filter, s Selection) iter.Seq2[T, error] {
	name := tables.Table(P(nil))
	// Column by column, rows of other clusters are skipped cheaply.
	skipsOthers := len(s.Columns) > 0 && f.Account+f.Region+f.ClusterID != ""
	if skipsOthers {
		s.Columns = union(s.Columns, "account", "region", "cluster_id") // what MatchesCluster compares
	}
	rows := rowsOf(ctx, l.store, name, l.findRows(ctx, name, f, skipsOthers), readerOf[T](s))
	if !skipsOthers {
		return rows
	}
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if (err != nil || f.MatchesCluster(tables.ClusterOf(P(&row)))) && !yield(row, err) {
				return
			}
		}
	}
}

// readerOf passes on the selected rows of an object.
func readerOf[T any](s Selection) func(content *fetched, yield func(T, error) bool) error {
	if len(s.Columns) == 0 {
		return readObject[T]
	}
	return func(content *fetched, yield func(T, error) bool) error { return readSelected(content, s, yield) }
}

// Missing yields the rows of table completeness of attempts that the filter selects and that
// have no row in table applications: they were never read, or are being written.
func Missing(ctx context.Context, l *Lake, f Filter) iter.Seq2[tables.Completeness, error] {
	return func(yield func(tables.Completeness, error) bool) {
		read := map[string]bool{}
		for key, err := range l.find(ctx, tables.Table((*tables.Application)(nil)), f) {
			if err != nil {
				yield(tables.Completeness{}, err)
				return
			}
			read[path.Base(key)] = true
		}
		name := tables.Table((*tables.Completeness)(nil))
		unread := func(yield func(string, error) bool) {
			for key, err := range l.find(ctx, name, f) {
				if (err != nil || !read[path.Base(key)]) && !yield(key, err) {
					return
				}
			}
		}
		rowsOf(ctx, l.store, name, unread, readObject[tables.Completeness])(yield)
	}
}

// ReadHeld yields the rows of a table of one attempt or cluster, as Read does.
func ReadHeld[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, h *Held) iter.Seq2[T, error] {
	return ReadSelected[T, P](ctx, h, Selection{})
}

// Selection is a part of a table.
type Selection struct {
	// Columns are the only ones to be read; others are then zero, but those by which a filter selects. If it is empty,
	// all are read.
	Columns []string
	// Texts, if not nil, keeps the rows that have one of these texts in the column Where, which
	// must be one of Columns.
	Where string
	Texts map[string]bool
}

// ReadSelected yields rows of a table of one attempt or cluster.
func ReadSelected[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, h *Held, s Selection) iter.Seq2[T, error] {
	name := tables.Table(P(nil))
	return rowsOf(ctx, h.store, name, h.keys(name), readerOf[T](s))
}

// keys yields the key of a table's object, if there is one.
func (h *Held) keys(name tables.Name) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if o, ok := h.Objects[name]; ok {
			yield(h.prefix+o.Key, nil)
		}
	}
}

// rowsOf yields the rows of a table's objects. read passes on those of one object.
func rowsOf[T any](
	ctx context.Context, store Store, name tables.Name, keys iter.Seq2[string, error],
	read func(content *fetched, yield func(T, error) bool) error,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for content, err := range fetchAhead(ctx, store, keys) {
			if err == nil {
				err = read(content, yield)
			}
			switch {
			case errors.Is(err, errStop):
				return
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				yield(*new(T), fmt.Errorf("read table %s: %w", name, err))
				return
			}
		}
	}
}

// errStop ends the reading of an object whose consumer wants no more rows.
var errStop = errors.New("no more rows wanted")

func readObject[T any](content *fetched, yield func(T, error) bool) error {
	file, err := openFile(content.content(), content.size, content.key)
	if err != nil {
		return err
	}
	rows := parquet.NewGenericReader[T](file)
	defer rows.Close()
	embedded := embeddedPointers[T](rows.Schema())
	batch := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(batch)
		for _, values := range batch[:n] {
			var row T
			if err := rows.Schema().Reconstruct(&row, values); err != nil {
				return fmt.Errorf("%s: %w", content.key, err)
			}
			embedded.clear(reflect.ValueOf(&row).Elem(), values)
			if !yield(row, nil) {
				return errStop
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", content.key, err)
		}
	}
}

// pointers maps columns to fields of a struct.
type pointers map[int][]int

// embeddedPointers finds the pointers in embedded structs. parquet-go makes them point to
// zero where the column is null (github.com/parquet-go/parquet-go/issues/163).
func embeddedPointers[T any](schema *parquet.Schema) pointers {
	found := pointers{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if len(field.Index) < 2 || field.Type.Kind() != reflect.Pointer {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		if column, ok := schema.Lookup(name); ok {
			found[column.ColumnIndex] = field.Index
		}
	}
	return found
}

// clear sets the fields of null columns to nil.
func (p pointers) clear(row reflect.Value, values parquet.Row) {
	if len(p) == 0 {
		return
	}
	for column, value := range values.Range {
		if index, ok := p[column]; ok && value[0].IsNull() {
			row.FieldByIndex(index).SetZero()
		}
	}
}

// openFile opens the Parquet file that is stored at a key. It fails if the file is not
// one of a lake, or if its schema version is newer than this program's.
func openFile(content io.ReaderAt, size int64, key string) (*parquet.File, error) {
	file, err := parquet.OpenFile(content, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	text, _ := file.Lookup(metaSchemaVersion)
	version, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("%s: metadata %s is %q, not a schema version: not a file of this lake", key, metaSchemaVersion, text)
	}
	if err := checkVersion(version, key); err != nil {
		return nil, err
	}
	return file, nil
}
