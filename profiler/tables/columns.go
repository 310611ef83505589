package tables

import (
	"reflect"
	"strings"
)

// Column describes a column of a table.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // BIGINT, DOUBLE, VARCHAR, BOOLEAN or TIMESTAMP; with [] if a list
	Nullable bool   `json:"nullable"`
	Doc      string `json:"doc"`
}

// Columns lists the table's columns in their order.
func (d Definition) Columns() []Column { return columns(d.Type) }

func columns(t reflect.Type) (all []Column) {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			all = append(all, columns(field.Type)...)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		all = append(all, Column{
			Name: name, Type: sqlType(field.Type, options), Nullable: strings.Contains(options, "optional"), Doc: field.Tag.Get("doc"),
		})
	}
	return all
}

func sqlType(t reflect.Type, options string) string {
	switch t.Kind() { // columns have no other kinds
	case reflect.Pointer:
		return sqlType(t.Elem(), options)
	case reflect.Slice:
		return sqlType(t.Elem(), options) + "[]"
	case reflect.Float64:
		return "DOUBLE"
	case reflect.Bool:
		return "BOOLEAN"
	case reflect.String:
		return "VARCHAR"
	}
	if strings.Contains(options, "timestamp") {
		return "TIMESTAMP"
	}
	return "BIGINT"
}
