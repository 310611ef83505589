package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Answer is what every tool returns.
type Answer[Row any] struct {
	Application  *Application `json:"application,omitempty" jsonschema:"the application that the rows are about; absent if there are several"`
	Applications int          `json:"applications,omitempty" jsonschema:"how many applications the rows are about, if several"`
	Verdict      string       `json:"verdict" jsonschema:"how it went and what cost most, or what an empty answer means"`
	Rows         []Row        `json:"rows"`
	Total        int          `json:"total" jsonschema:"how many rows there are"`
	Shown        int          `json:"shown" jsonschema:"how many of them are in this answer"`
	Next         string       `json:"next,omitempty" jsonschema:"cursor of the rows after these; absent after the last"`
	Missing      []Missing    `json:"missing" jsonschema:"what could not be read, or was left out; report it if it is not empty"`
	NotChecked   []NotChecked `json:"not_checked" jsonschema:"rules that could not be judged; they are neither passed nor failed"`
}

// Missing is a part of the history that could not be read, or that an answer leaves out.
type Missing struct {
	ClusterID     string `json:"cluster_id,omitempty"`
	ApplicationID string `json:"application_id,omitempty"`
	Part          string `json:"part,omitempty" jsonschema:"jobs, stages, tasks …; absent if the application or cluster could not be read at all"`
	Rows          *int64 `json:"rows,omitempty" jsonschema:"how many rows; absent if that is unknown"`
	Reason        string `json:"reason"`
}

// NotChecked is a rule that could not be judged.
type NotChecked struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Bounds of the lists of an answer beside its rows.
const (
	maxMissing    = 20
	maxNotChecked = 40
)

// notCheck adds a rule that could not be judged, once.
func (out *Answer[Row]) notCheck(rule, why string) {
	if !slices.ContainsFunc(out.NotChecked, func(n NotChecked) bool { return n.Rule == rule && n.Why == why }) {
		out.NotChecked = append(out.NotChecked, NotChecked{rule, why})
	}
}

// page is the rows of a page while they are collected: those after its beginning that come first,
// and one more.
type page[Row any] struct {
	*Page

	total int
	rows  []placed[Row]
}

func newPage[Row any](of *Page) *page[Row] { return &page[Row]{Page: of} }

// placed is a row with its place.
type placed[Row any] struct {
	row Row
	position
}

// add takes a row. Larger values come first; key tells it from all others with the same value.
func (p *page[Row]) add(row Row, value float64, key string) {
	p.total++
	at := position{value, bounded(key)}
	if p.after != nil && !p.after.before(at) {
		return
	}
	if p.rows = append(p.rows, placed[Row]{row, at}); len(p.rows) > 4*p.Limit+4 {
		p.cut()
	}
}

// merge takes the rows of another page with the same beginning.
func (p *page[Row]) merge(other *page[Row]) {
	p.total += other.total
	p.rows = append(p.rows, other.rows...)
	p.cut()
}

// cut keeps the rows that may be on the page, and one more, in their order.
func (p *page[Row]) cut() {
	slices.SortFunc(p.rows, func(a, b placed[Row]) int { return a.compare(b.position) })
	if len(p.rows) > p.Limit+1 {
		clear(p.rows[p.Limit+1:])
		p.rows = p.rows[:p.Limit+1]
	}
}

// candidates are the rows that may be on the page. What is added to them counts for its size.
func (p *page[Row]) candidates() (all []*Row) {
	p.cut()
	for i := range p.rows {
		all = append(all, &p.rows[i].row)
	}
	return all
}

// errTooLarge is of an answer whose first row does not fit.
var errTooLarge = errors.New("a row does not fit into max_bytes: raise it, or ask for fewer columns")

// fill puts the rows of a page into an answer: as many as fit into its limit and its size.
func fill[Row any](out *Answer[Row], p *page[Row]) error {
	p.cut()
	out.Total, out.Rows = p.total, []Row{}
	out.Missing, out.NotChecked = orEmpty(out.Missing), orEmpty(out.NotChecked)
	out.NotChecked = out.NotChecked[:min(len(out.NotChecked), maxNotChecked)]
	if left := len(out.Missing) - maxMissing; left > 0 {
		out.Missing = append(out.Missing[:maxMissing:maxMissing], Missing{Reason: fmt.Sprintf("and %d more that could not be read", left)})
	}
	size, err := encodedSize(out)
	if err != nil {
		return err
	}
	for i := range p.rows {
		if len(out.Rows) == p.Limit {
			break
		}
		of, err := encodedSize(p.rows[i].row)
		if err != nil {
			return err
		}
		if size += of; size > p.Bytes-cursorBytes {
			break
		}
		out.Rows = append(out.Rows, p.rows[i].row)
	}
	if out.Shown = len(out.Rows); out.Shown == 0 && len(p.rows) > 0 {
		return errTooLarge
	}
	if out.Shown == len(p.rows) {
		return nil
	}
	out.Next, err = p.cursor(p.rows[out.Shown-1].position)
	return err
}

// encodedSize is the size of a value as JSON, as it is written.
func encodedSize(value any) (int, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(value); err != nil {
		return 0, fmt.Errorf("encode the answer: %w", err)
	}
	return b.Len(), nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
