package tools

import (
	"bytes"
	"cmp"
	"encoding/base64"
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
	Missing      []Missing    `json:"missing" jsonschema:"what could not be read; report it if it is not empty"`
	NotChecked   []NotChecked `json:"not_checked" jsonschema:"rules that could not be judged; they are neither passed nor failed"`
}

// Missing is a part of the history that could not be read.
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

// Page says which rows to show, and how many.
type Page struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"rows to show, at most 200; by default 20"`
	Bytes  int    `json:"max_bytes,omitempty" jsonschema:"size of the answer in bytes, 2048 to 262144; by default 32768. Rows that do not fit are left for the next page"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of an earlier answer of this tool: shows the rows after it. The other arguments are those of that call"`

	tool  string
	after *position
	query json.RawMessage // the arguments, without the page
}

// Limits of a page.
const (
	defaultLimit = 20
	maxLimit     = 200
	defaultBytes = 32 << 10
	minBytes     = 2 << 10
	maxBytes     = 256 << 10
	cursorBytes  = 1 << 10 // kept free for it
	maxMissing   = 20      // that an answer lists
)

// position is the place of a row in its order. Rows that come later do not move it.
type position struct {
	Value float64 `json:"v"`
	Key   string  `json:"k"`
}

// before reports whether a row at p comes before one at q: larger values come first.
func (p position) before(q position) bool {
	return cmp.Or(cmp.Compare(q.Value, p.Value), cmp.Compare(p.Key, q.Key)) < 0
}

// cursor is what Answer.Next encodes.
type cursor struct {
	Tool  string          `json:"t"`
	Query json.RawMessage `json:"q"`
	After position        `json:"a"`
}

// page returns the page that arguments have.
func (p *Page) page() *Page { return p }

// paged are the arguments of a tool whose rows have pages.
type paged interface{ page() *Page }

// resume replaces the arguments of a call by those of the call whose cursor it has, and checks the
// limits. in is a pointer.
func resume(tool string, in paged) error {
	page := in.page()
	limit, size, given := page.Limit, page.Bytes, page.Cursor
	switch {
	case limit < 0 || limit > maxLimit:
		return fmt.Errorf("limit %d: must be 1 to %d; the answer's next leads to more rows", limit, maxLimit)
	case size != 0 && (size < minBytes || size > maxBytes):
		return fmt.Errorf("max_bytes %d: must be %d to %d", size, minBytes, maxBytes)
	}
	*page = Page{}
	if given != "" {
		raw, err := base64.RawURLEncoding.DecodeString(given)
		var c cursor
		if err == nil {
			err = json.Unmarshal(raw, &c)
		}
		if err == nil && c.Tool != tool {
			err = fmt.Errorf("it is of the tool %q", c.Tool)
		}
		if err == nil {
			err = json.Unmarshal(c.Query, in)
		}
		if err != nil {
			return fmt.Errorf("cursor: must be next of an earlier answer of %s, unchanged: %w", tool, err)
		}
		*page = Page{after: &c.After}
	}
	query, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	page.Limit, page.Bytes, page.tool, page.query = cmp.Or(limit, defaultLimit), cmp.Or(size, defaultBytes), tool, query
	return nil
}

// placed is a row with its place.
type placed[Row any] struct {
	row Row
	position
}

// at places a row by its value and a key that no other row has.
func at[Row any](row Row, value float64, key string) placed[Row] {
	return placed[Row]{row, position{value, key}}
}

// errTooLarge is of an answer whose first row does not fit.
var errTooLarge = errors.New("a row does not fit into max_bytes: raise it, or ask for fewer columns")

// fill puts the rows of the page into an answer: as many as fit into its limit and its size.
func fill[Row any](out *Answer[Row], rows []placed[Row], page *Page) error {
	slices.SortFunc(rows, func(a, b placed[Row]) int {
		switch {
		case a.before(b.position):
			return -1
		case b.before(a.position):
			return 1
		}
		return 0
	})
	out.Total, out.Rows = len(rows), []Row{}
	if len(out.Missing) > maxMissing {
		more := len(out.Missing) - maxMissing
		out.Missing = append(out.Missing[:maxMissing:maxMissing], Missing{Reason: fmt.Sprintf("and %d more that could not be read", more)})
	}
	out.Missing, out.NotChecked = orEmpty(out.Missing), orEmpty(out.NotChecked)
	if page.after != nil {
		first := slices.IndexFunc(rows, func(r placed[Row]) bool { return page.after.before(r.position) })
		if first < 0 {
			first = len(rows)
		}
		rows = rows[first:]
	}
	size, err := encodedSize(out)
	if err != nil {
		return err
	}
	for i := range rows {
		if len(out.Rows) == page.Limit {
			break
		}
		of, err := encodedSize(rows[i].row)
		if err != nil {
			return err
		}
		if size += of + 1; size > page.Bytes-cursorBytes {
			break
		}
		out.Rows = append(out.Rows, rows[i].row)
	}
	if out.Shown = len(out.Rows); out.Shown == 0 && len(rows) > 0 {
		return errTooLarge
	}
	if out.Shown == len(rows) {
		return nil
	}
	raw, err := json.Marshal(cursor{Tool: page.tool, Query: page.query, After: rows[out.Shown-1].position})
	if err != nil {
		return fmt.Errorf("encode the cursor: %w", err)
	}
	out.Next = base64.RawURLEncoding.EncodeToString(raw)
	return nil
}

// encodedSize is the size of a value as JSON, as the protocol's library writes it.
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
