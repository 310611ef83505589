package lake

import (
	"context"
	"iter"
	"reflect"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Record is a row of any table, by the names of its columns. Values are int64, float64, bool,
// string, or lists of them; times are in milliseconds since 1970. What is null, or not selected,
// is absent.
type Record map[string]any

// ReadRecords yields rows of a table of one attempt or cluster by the table's schema, whatever the
// type of its rows. The selection must have columns. It panics if the table has no such column.
func ReadRecords(ctx context.Context, h *Held, name tables.Name, s Selection) iter.Seq2[Record, error] {
	definition, _ := tables.Find(name)
	row := reflect.New(definition.Type).Elem()
	fields := map[string]reflect.Value{}
	types := map[string]string{}
	for _, column := range definition.Columns() {
		types[column.Name] = column.Type
	}
	for field, name := range columnFields(row.Type()) {
		fields[name] = row.FieldByIndex(field.Index)
	}
	return rowsOf(ctx, h.store, name, h.keys(name), func(content *fetched, yield func(Record, error) bool) error {
		return readColumns(content, s, row, func() bool {
			record := Record{}
			for _, column := range s.Columns {
				if value, known := valueOf(fields[column], types[column]); known {
					record[column] = value
				}
			}
			return yield(record, nil)
		})
	})
}

// valueOf returns the value of a field; known is false for null. A time of 0 is null.
func valueOf(field reflect.Value, column string) (value any, known bool) {
	switch field.Kind() { //nolint:exhaustive // tables have no other kinds
	case reflect.Pointer:
		if field.IsNil() {
			return nil, false
		}
		return valueOf(field.Elem(), column)
	case reflect.Slice:
		copied := reflect.MakeSlice(field.Type(), field.Len(), field.Len())
		reflect.Copy(copied, field)
		return copied.Interface(), true
	case reflect.Int64:
		return field.Int(), column != tables.Timestamp || field.Int() != 0
	case reflect.Float64:
		return field.Float(), true
	case reflect.Bool:
		return field.Bool(), true
	}
	return field.String(), true
}
