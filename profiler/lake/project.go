package lake

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// projection reads some columns of rows of a type. To read a row's other columns takes as long
// each, which most readers do not need.
type projection struct {
	schema *parquet.Schema
	flat   reflect.Type // a struct of the columns alone
	fields [][]int      // of the row, in the order of flat's
}

// projections are kept, since parquet-go takes long to make a schema.
var projections sync.Map // of *projection by projected

// projected identifies a projection.
type projected struct {
	row     reflect.Type
	columns string
}

// projectionOf returns the projection of a type of rows to columns. It panics if the type has
// no such column.
func projectionOf(row reflect.Type, columns []string) *projection {
	key := projected{row, strings.Join(columns, ",")}
	if known, ok := projections.Load(key); ok {
		return known.(*projection) //nolint:forcetypeassert // nothing else is stored
	}
	p := &projection{}
	var fields []reflect.StructField
	for _, field := range reflect.VisibleFields(row) {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		if field.Anonymous || !slices.Contains(columns, name) {
			continue
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: field.Type, Tag: field.Tag})
		p.fields = append(p.fields, field.Index)
	}
	if len(fields) != len(columns) {
		panic(fmt.Sprintf("%s has %d of the columns %s", row, len(fields), key.columns))
	}
	p.flat = reflect.StructOf(fields)
	p.schema = parquet.SchemaOf(reflect.New(p.flat).Interface())
	known, _ := projections.LoadOrStore(key, p)
	return known.(*projection) //nolint:forcetypeassert // nothing else is stored
}

// readProjected yields the selected rows of an object with the projection's columns; others
// are zero.
func readProjected[T any](content *fetched, p *projection, s Selection, yield func(T, error) bool) error {
	file, err := openFile(content.content(), content.size, content.key)
	if err != nil {
		return err
	}
	rows := parquet.NewReader(file, p.schema)
	defer rows.Close()
	batch := make([]parquet.Row, 64)
	flat := reflect.New(p.flat)
	where := -1
	if column, ok := p.schema.Lookup(s.Where); ok && s.Texts != nil {
		where = column.ColumnIndex
	}
	for {
		n, err := rows.ReadRows(batch)
		for _, values := range batch[:n] {
			if where >= 0 && !hasText(values, where, s.Texts) {
				continue
			}
			flat.Elem().SetZero()
			if err := p.schema.Reconstruct(flat.Interface(), values); err != nil {
				return fmt.Errorf("%s: %w", content.key, err)
			}
			var row T
			into := reflect.ValueOf(&row).Elem()
			for i, index := range p.fields {
				into.FieldByIndex(index).Set(flat.Elem().Field(i))
			}
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

// hasText reports whether a row has one of the texts in a column.
func hasText(row parquet.Row, column int, texts map[string]bool) bool {
	for _, value := range row {
		if value.Column() == column {
			return texts[string(value.ByteArray())]
		}
	}
	return false
}
