package history_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// row is a row by its columns. Absent is nil.
type row map[string]any

// collected are rows by table and key.
type collected map[tables.Name]map[string]row

// sink collects rows, and notes keys that came twice.
type sink struct {
	rows   collected
	keys   map[tables.Name][]string
	counts map[tables.Name]int
	twice  []string
	// compacted is set by whoever reads a log that a history server has compacted.
	compacted bool
}

func newSink() *sink {
	s := &sink{rows: collected{}, keys: map[tables.Name][]string{}, counts: map[tables.Name]int{}}
	for _, d := range tables.All() {
		s.keys[d.Name] = d.Key
	}
	return s
}

// Put implements tables.Sink.
func (s *sink) Put(r tables.Row) error {
	name, columns := tables.Table(r), row{}
	flatten(reflect.ValueOf(r).Elem(), columns)
	key := make([]string, 0, 4)
	for _, column := range s.keys[name] {
		key = append(key, fmt.Sprintf("%s=%v", column, columns[column]))
	}
	id := strings.Join(key, ",")
	if s.rows[name] == nil {
		s.rows[name] = map[string]row{}
	}
	if s.rows[name][id] != nil {
		s.twice = append(s.twice, fmt.Sprintf("%s/%s", name, id))
	}
	s.rows[name][id] = columns
	s.counts[name]++
	return nil
}

// flatten reads the columns of a row, those of embedded keys too.
func flatten(v reflect.Value, into row) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if field.Anonymous {
			flatten(value, into)
			continue
		}
		column, options, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		optional := strings.Contains(options, "optional")
		switch {
		case value.Kind() == reflect.Pointer && value.IsNil(), optional && value.Kind() == reflect.Int64 && value.IsZero():
			into[column] = nil
		case value.Kind() == reflect.Pointer:
			into[column] = value.Elem().Interface()
		case value.Kind() == reflect.Slice:
			into[column] = fmt.Sprint(value.Interface()) // nil is empty
		default:
			into[column] = value.Interface()
		}
	}
}

// difference is a cell that the two roads fill in differently, or a row that only one has.
type difference struct {
	table     tables.Name
	column    string // "" if a row is missing
	key       string
	logs, api any // nil is null; of a missing row the road that has it says "row"
}

func (d difference) field() string {
	if d.column == "" {
		return string(d.table)
	}
	return string(d.table) + "." + d.column
}

func (d difference) String() string {
	return fmt.Sprintf("%s of %s: logs %.300s, REST %.300s", d.field(), d.key, fmt.Sprint(d.logs), fmt.Sprint(d.api))
}

// compare lists the differences of two roads to the rows of one application.
func compare(logs, api collected) (all []difference) {
	for _, definition := range tables.All() {
		name := definition.Name
		if name == tables.Table((*tables.Completeness)(nil)) {
			continue // what a road lacks is its own
		}
		keys := maps.Clone(logs[name])
		if keys == nil {
			keys = map[string]row{}
		}
		maps.Copy(keys, api[name])
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			l, a := logs[name][key], api[name][key]
			switch {
			case l == nil:
				all = append(all, difference{table: name, key: key, api: "row"})
				continue
			case a == nil:
				all = append(all, difference{table: name, key: key, logs: "row"})
				continue
			}
			for _, column := range slices.Sorted(maps.Keys(l)) {
				if column != "source" && l[column] != a[column] {
					all = append(all, difference{name, column, key, l[column], a[column]})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b difference) int { return cmp.Compare(a.field(), b.field()) })
	return all
}
