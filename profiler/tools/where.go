package tools

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// condition is one of RawIn.Where.
type condition struct {
	column   rawColumn
	operator string
	text     string
	number   float64
}

var conditionForm = regexp.MustCompile(`^\s*([a-z_0-9]+)\s*(>=|<=|!=|=|>|<|~)\s*(.*?)\s*$`)

// selectionOf checks the columns, conditions and order of a call. All faults are reported at once.
func selectionOf(t rawTable, in *RawIn) (shown []rawColumn, where []condition, by *rawColumn, ascending bool, err error) {
	columns, byName := columnsOf(t.table), map[string]rawColumn{}
	var known, faults []string
	for _, c := range columns {
		byName[c.name], known = c, append(known, c.name)
	}
	find := func(path, name string) rawColumn {
		c, is := byName[name]
		if !is {
			faults = append(faults, fmt.Sprintf("%s %q: no such column", path, name))
		}
		return c
	}
	wanted := t.columns
	if len(in.Columns) > 0 {
		wanted = in.Columns
	}
	for _, name := range wanted {
		shown = append(shown, find("columns", name))
	}
	for _, text := range in.Where {
		m := conditionForm.FindStringSubmatch(text)
		if m == nil {
			faults = append(faults, fmt.Sprintf("where %q: must be a column, one of = != > >= < <= ~, and a value", text))
			continue
		}
		c := condition{column: find("where", m[1]), operator: m[2], text: unmark(m[3])}
		if strings.HasPrefix(c.text, "=") {
			faults = append(faults, fmt.Sprintf("where %q: must be a column, one of = != > >= < <= ~, and a value", text))
			continue
		}
		if fault := c.parse(); fault != "" {
			faults = append(faults, fmt.Sprintf("where %q: %s", text, fault))
		}
		where = append(where, c)
	}
	if name, direction, _ := strings.Cut(strings.TrimSpace(in.Order), " "); name != "" {
		c := find("order", name)
		if by, ascending = &c, direction == "asc"; c.Name != "" && !c.ordered() || direction != "" && direction != "asc" && direction != "desc" {
			faults = append(faults, fmt.Sprintf("order %q: must be a column of numbers or times, then asc or desc", in.Order))
		}
	}
	if len(faults) > 0 {
		err = fmt.Errorf("%s; the columns are %s", strings.Join(faults, "; "), strings.Join(known, ", "))
	}
	return shown, where, by, ascending, err
}

func (c rawColumn) isList() bool { return strings.HasSuffix(c.Type, "[]") }

func (c rawColumn) ordered() bool {
	return c.Type == "BIGINT" || c.Type == "DOUBLE" || c.Type == tables.Timestamp
}

// parse reads the value of a condition; it returns what is wrong with it.
func (c *condition) parse() string {
	numbers := c.column.ordered() || c.column.Type == "BIGINT[]" || c.column.Type == "DOUBLE[]"
	switch {
	case c.column.Name == "":
		return ""
	case c.operator == "~" && numbers:
		return "~ looks into texts only"
	case c.operator == "~":
		return ""
	case c.column.Type == tables.Timestamp:
		at, err := time.Parse(time.RFC3339, c.text)
		if err != nil {
			return "the value must be a time such as 2026-01-31T08:00:00Z"
		}
		c.number = float64(at.UnixMilli())
	case c.column.isList() && c.operator != "=" && c.operator != "!=":
		return "lists can be asked by = and != for one of their elements"
	case numbers:
		n, err := strconv.ParseFloat(c.text, 64)
		if err != nil {
			return "the value must be a number"
		}
		c.number = n
	case c.operator != "=" && c.operator != "!=":
		return "texts can be compared by =, != and ~ only"
	}
	return ""
}

// holds reports whether a row fulfils a condition. What is null fulfils none but !=.
func (c condition) holds(row lake.Record) bool {
	value, is := row[c.column.Name]
	if !is {
		return c.operator == "!="
	}
	if c.operator == "~" {
		return strings.Contains(strings.ToLower(fmt.Sprint(value)), strings.ToLower(c.text))
	}
	if c.column.isList() {
		return c.contained(value) == (c.operator == "=")
	}
	if c.column.ordered() {
		return compares(c.operator, c.column.numberOf(value), c.number)
	}
	return (fmt.Sprint(value) == c.text) == (c.operator == "=")
}

// contained reports whether a list has the element that a condition names.
func (c condition) contained(list any) bool {
	switch v := list.(type) {
	case []int64:
		return slices.Contains(v, int64(c.number))
	case []float64:
		return slices.Contains(v, c.number)
	case []string:
		return slices.Contains(v, c.text)
	}
	return false
}

func compares(operator string, a, b float64) bool {
	switch operator {
	case "=":
		return a == b
	case "!=":
		return a != b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	}
	return a <= b
}
