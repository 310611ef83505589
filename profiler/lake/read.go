package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Filter chooses rows by the attempt or cluster that they are about. Empty fields choose
// all.
type Filter struct {
	Account, Region, ClusterID, ApplicationID string
	AttemptID                                 *string
	// From and To bound the partition, as YYYY-MM-DD; both days are included.
	From, To string
}

func (f Filter) matches(m *manifest) bool {
	same := func(want, is string) bool { return want == "" || want == is }
	return same(f.Account, m.Account) && same(f.Region, m.Region) && same(f.ClusterID, m.ClusterID) &&
		same(f.ApplicationID, m.ApplicationID) && (f.AttemptID == nil || *f.AttemptID == m.AttemptID) &&
		f.From <= m.Day && (f.To == "" || m.Day <= f.To)
}

// find returns the keys of matching manifests, the latest days first.
func (l *Lake) find(f Filter) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []string
	for key, m := range l.manifests {
		if f.matches(m) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		if byDay := strings.Compare(l.manifests[b].Day, l.manifests[a].Day); byDay != 0 {
			return byDay
		}
		return strings.Compare(a, b)
	})
	return keys
}

// Read yields the rows of a table, the latest days first, as the lake was when it was
// opened. Columns that an older file lacks are null or zero; a file of a newer schema
// version is an error.
func Read[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, l *Lake, f Filter) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		name := P(nil).Table()
		for _, key := range l.find(f) {
			m := l.manifest(key)
			o, has := m.Objects[name]
			if !has {
				continue
			}
			err := readObject(ctx, l.store, l.prefix+o.Key, yield)
			switch {
			case errors.Is(err, errStop):
				return
			case m.Writing && errors.Is(err, fs.ErrNotExist): // not yet written
			case err != nil:
				yield(*new(T), fmt.Errorf("read table %s: %w", name, err))
				return
			}
		}
	}
}

// errStop says that the consumer of rows wants no more.
var errStop = errors.New("no more rows wanted")

func readObject[T any](ctx context.Context, store Store, key string, yield func(T, error) bool) error {
	content, err := fetch(ctx, store, key)
	if err != nil {
		return err
	}
	defer content.close()
	file, err := openFile(content.content(), content.size, key)
	if err != nil {
		return err
	}
	rows := parquet.NewGenericReader[T](file)
	defer rows.Close()
	absent := embeddedPointers[T](rows.Schema())
	batch := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(batch)
		for _, values := range batch[:n] {
			var row T
			if err := rows.Schema().Reconstruct(&row, values); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			absent.clear(reflect.ValueOf(&row).Elem(), values)
			if !yield(row, nil) {
				return errStop
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
}

// pointers are the fields of a struct by column.
type pointers map[int][]int

// embeddedPointers lists the pointers in embedded structs. parquet-go makes them point to
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

// clear sets the fields nil whose value is null.
func (p pointers) clear(row reflect.Value, values parquet.Row) {
	if len(p) == 0 {
		return
	}
	for column, of := range values.Range {
		if index, is := p[column]; is && of[0].IsNull() {
			row.FieldByIndex(index).SetZero()
		}
	}
}

// fetch copies an object to memory or disk.
func fetch(ctx context.Context, store Store, key string) (*spool, error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the object
	}
	defer body.Close()
	content := newSpool()
	if _, err := io.Copy(content, body); err != nil {
		content.close()
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return content, nil
}

// openFile opens a Parquet file of a schema version that this program knows.
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
	if version > tables.SchemaVersion {
		return nil, fmt.Errorf("%s has schema version %d, this program knows versions up to %d: use a newer version of it",
			key, version, tables.SchemaVersion)
	}
	return file, nil
}
