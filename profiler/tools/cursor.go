package tools

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Page says which rows to show, and how many.
type Page struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"rows to show, at most 200; by default 20"`
	Bytes  int    `json:"max_bytes,omitempty" jsonschema:"size of the answer in bytes, 8192 to 262144; by default 32768. Rows that do not fit are left for the next page"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of an earlier answer of this tool: shows the rows after it, of the same applications. The other arguments are those of that call, except limit and max_bytes"`

	tool  string
	query paged // all arguments of the call
	after *position
	// until is the start of the latest application that the first page knew of: what has started
	// later is on none of the pages. 0 on the first page.
	until tables.Millis
	known tables.Millis // the latest that this call has seen
}

// Limits of a page.
const (
	defaultLimit = 20
	maxLimit     = 200
	defaultBytes = 32 << 10
	minBytes     = 8 << 10
	maxBytes     = 256 << 10
	cursorBytes  = 2 << 10 // kept free for it
)

// position is the place of a row in its order: larger values come first, then smaller keys.
type position struct {
	Value float64 `json:"v"`
	Key   string  `json:"k"`
}

// compare orders places.
func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(q.Value, p.Value), cmp.Compare(p.Key, q.Key))
}

// before reports whether a row at p comes before one at q.
func (p position) before(q position) bool { return p.compare(q) < 0 }

// maxKey is the length of keys, in bytes: a cursor has one.
const maxKey = 200

// bounded replaces the end of a long key by a hash.
func bounded(key string) string {
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return key[:maxKey-len(sum)] + hex.EncodeToString(sum[:len(sum)/2])
}

// cursor is what Answer.Next encodes.
type cursor struct {
	Tool  string          `json:"t"`
	Query json.RawMessage `json:"q"`
	After position        `json:"a"`
	Until tables.Millis   `json:"u"`
}

// page returns the page that arguments have.
func (p *Page) page() *Page { return p }

// paged are the arguments of a tool whose rows have pages.
type paged interface{ page() *Page }

// resume prepares the arguments of a call. With a cursor they become those of the call that
// returned it. reset makes them empty; in is a pointer to them.
func resume(tool string, in paged, reset func()) error {
	limit, size, given := in.page().Limit, in.page().Bytes, in.page().Cursor
	switch {
	case limit < 0 || limit > maxLimit:
		return fmt.Errorf("limit %d: must be 1 to %d; the answer's next leads to more rows", limit, maxLimit)
	case size != 0 && (size < minBytes || size > maxBytes):
		return fmt.Errorf("max_bytes %d: must be %d to %d", size, minBytes, maxBytes)
	}
	var of cursor
	if given != "" {
		reset()
		if err := decode(tool, given, &of, in); err != nil {
			return fmt.Errorf("cursor: must be next of an earlier answer of %s, unchanged: %w", tool, err)
		}
	}
	page := in.page()
	*page = Page{Limit: cmp.Or(limit, defaultLimit), Bytes: cmp.Or(size, defaultBytes), tool: tool, query: in, until: of.Until}
	if given != "" {
		page.after = &of.After
	}
	return nil
}

func decode(tool, given string, of *cursor, in paged) error {
	raw, err := base64.RawURLEncoding.DecodeString(given)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, of); err != nil {
		return err
	}
	if of.Tool != tool {
		return fmt.Errorf("it is of the tool %q", of.Tool)
	}
	return json.Unmarshal(of.Query, in)
}

// includes reports whether an application that started at a time is on the pages of this call, and
// notes that this page has seen it.
func (p *Page) includes(start tables.Millis) bool {
	if p.until != 0 && start > p.until {
		return false
	}
	p.known = max(p.known, start)
	return true
}

// cursor leads to the rows after a place.
func (p *Page) cursor(after position) (string, error) {
	page := p.query.page()
	saved := *page
	*page = Page{}
	query, err := json.Marshal(saved.query)
	*page = saved
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(cursor{Tool: p.tool, Query: query, After: after, Until: cmp.Or(p.until, p.known)})
	}
	if err != nil {
		return "", fmt.Errorf("encode the cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}
