package lake

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// readSelected yields the selected rows of an object. It reads column by column: parquet-go's
// rows take several times as long, which matters for an application of many stages.
func readSelected[T any](content *fetched, s Selection, yield func(T, error) bool) error {
	var row T
	return readColumns(content, s, reflect.ValueOf(&row).Elem(), func() bool { return yield(row, nil) })
}

// readColumns sets a row, a struct of the table's type, to each selected row of an object, and
// calls take after each. It returns errStop if take wants no more.
func readColumns(content *fetched, s Selection, row reflect.Value, take func() bool) error {
	file, err := openFile(content.content(), content.size, content.key)
	if err != nil {
		return err
	}
	for _, group := range file.RowGroups() {
		if err := readGroup(file.Schema(), group, s, row, take); err != nil {
			if errors.Is(err, errStop) {
				return err
			}
			return fmt.Errorf("%s: %w", content.key, err)
		}
	}
	return nil
}

// readGroup reads the selected rows of a row group.
func readGroup(schema *parquet.Schema, group parquet.RowGroup, s Selection, row reflect.Value, take func() bool) error {
	columns, where := columnsOf(row, schema, group, s)
	defer func() {
		for _, c := range columns {
			_ = c.pages.Close()
		}
	}()
	for range group.NumRows() {
		for _, c := range columns {
			if err := c.set(); err != nil {
				return err
			}
		}
		if where != nil && !s.Texts[where.text] {
			continue
		}
		if !take() {
			return errStop
		}
	}
	return nil
}

// column reads the values of a column into a field of the row, one after the other.
type column struct {
	field  reflect.Value
	pages  parquet.Pages
	values parquet.ValueReader // of a page; nil before the next one is read
	read   []parquet.Value
	at     int
	text   string // the latest text: most repeat
	list   []parquet.Value
}

// valuesAhead is how many values of a column are read at once.
const valuesAhead = 256

// columnsOf returns the selected columns that a row group has, and that of s.Where. It panics
// if the type of the row has no such column.
func columnsOf(row reflect.Value, schema *parquet.Schema, group parquet.RowGroup, s Selection) (columns []*column, where *column) {
	fields := map[string][]int{}
	for field, name := range columnFields(row.Type()) {
		fields[name] = field.Index
	}
	for _, name := range s.Columns {
		index, known := fields[name]
		if !known {
			panic(fmt.Sprintf("%s has no column %s", row.Type(), name))
		}
		leaf, has := schema.Lookup(name)
		if !has {
			leaf, has = schema.Lookup(name, "list", "element")
		}
		if !has {
			continue // an older file
		}
		c := &column{field: row.FieldByIndex(index), pages: group.ColumnChunks()[leaf.ColumnIndex].Pages()}
		columns = append(columns, c)
		if name == s.Where && s.Texts != nil {
			where = c
		}
	}
	return columns, where
}

// columnFields yields the fields of a row's type that are columns, with the columns' names.
func columnFields(row reflect.Type) iter.Seq2[reflect.StructField, string] {
	return func(yield func(reflect.StructField, string) bool) {
		for _, field := range reflect.VisibleFields(row) {
			name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
			if !field.Anonymous && name != "" && !yield(field, name) {
				return
			}
		}
	}
}

// next returns the next value without taking it; io.EOF after the last one.
func (c *column) next() (parquet.Value, error) {
	for c.at == len(c.read) {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			c.values = page.Values()
		}
		c.read = c.read[:cap(c.read)]
		if c.read == nil {
			c.read = make([]parquet.Value, valuesAhead)
		}
		n, err := c.values.ReadValues(c.read)
		c.read, c.at = c.read[:n], 0
		switch {
		case errors.Is(err, io.EOF):
			c.values = nil
		case err != nil:
			return parquet.Value{}, err // callers name the object
		}
	}
	return c.read[c.at], nil
}

// set sets the field to the row's next value, or list of values. Null is nil, or zero.
func (c *column) set() error {
	value, err := c.next()
	if err != nil {
		return noMore(err)
	}
	c.at++
	if c.field.Kind() == reflect.Slice {
		return c.setList(value)
	}
	if value.IsNull() {
		c.text = ""
		c.field.SetZero()
		return nil
	}
	target := c.field
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	c.assign(target, value)
	return nil
}

// setList sets a list, of which the first value was taken.
func (c *column) setList(value parquet.Value) error {
	c.field.SetZero()
	c.list = c.list[:0]
	for !value.IsNull() {
		c.list = append(c.list, value)
		following, err := c.next()
		if errors.Is(err, io.EOF) || err == nil && following.RepetitionLevel() == 0 {
			break
		}
		if err != nil {
			return err
		}
		value, c.at = following, c.at+1
	}
	if len(c.list) == 0 {
		return nil
	}
	c.field.Set(reflect.MakeSlice(c.field.Type(), len(c.list), len(c.list)))
	for i, value := range c.list {
		c.assign(c.field.Index(i), value)
	}
	return nil
}

// assign sets a field that is no pointer. Tables have no other kinds.
func (c *column) assign(target reflect.Value, value parquet.Value) {
	switch target.Kind() {
	case reflect.Int64:
		target.SetInt(value.Int64())
	case reflect.Float64:
		target.SetFloat(value.Double())
	case reflect.Bool:
		target.SetBool(value.Boolean())
	default:
		if text := value.ByteArray(); c.text != string(text) {
			c.text = string(text)
		}
		target.SetString(c.text)
	}
}

// noMore is of a column with fewer values than the others.
func noMore(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// union returns a list with what it lacks of others.
func union(all []string, others ...string) []string {
	all = slices.Clone(all)
	for _, one := range others {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
