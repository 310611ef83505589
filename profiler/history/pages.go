package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
)

const (
	sqlPage  = 100  // rows per page
	taskPage = 2000 // rows per page
	// pageDivisor divides Options.MaxBody into the limit of a page, whose plans are in
	// memory as text.
	pageDivisor = 4
	// pagesFactor multiplies Options.MaxBody into the limit of all pages of a resource, without texts
	// that are not kept. Rows take a fraction of their text in memory: 100,000 tasks, as many as Spark
	// retains of a stage by default (spark.ui.retainedTasks), are 150 MB of text.
	pagesFactor = 4
	// rowSize divides Options.MaxBody into the most rows of a resource, but for the first pages: a row
	// without any text takes as much in memory.
	rowSize, firstPages = 256, 10
)

// SQL reads the SQL executions with their plans. If the plan of a single execution exceeds
// the limit, its text is left out: Plan is 0, and withoutPlan has the execution's id.
func (u *UI) SQL(ctx context.Context) (all []Execution, withoutPlan []int64, err error) {
	all, withoutPlan, err = pages[Execution]{
		endpoint: SQL, path: "/sql", length: sqlPage, id: func(e *Execution) int64 { return e.ID },
		shorten: url.Values{"planDescription": {"false"}}, dropped: func(e *Execution) int64 { return int64(e.Plan) },
	}.read(ctx, u)
	switch {
	case errors.Is(err, ErrNotFound) && len(all) == 0:
		return nil, nil, fmt.Errorf("%w; the endpoint exists since Spark 3.1", err)
	case errors.Is(err, ErrNotFound):
		return all, withoutPlan, fmt.Errorf("read /sql beyond %d executions: %s", len(all), err.Error()) // the endpoint exists
	}
	return all, withoutPlan, err
}

// Tasks reads the task attempts of a stage attempt.
func (u *UI) Tasks(ctx context.Context, stage, attempt int64) ([]Task, error) {
	all, _, err := pages[Task]{
		endpoint: TaskList, path: fmt.Sprintf("/stages/%d/%d/taskList", stage, attempt), length: taskPage,
		query: url.Values{"sortBy": {"ID"}}, id: func(t *Task) int64 { return t.ID },
	}.read(ctx, u)
	return all, err
}

// HasTasks reports whether the server still has at least count task attempts of a stage
// attempt: it evicts the oldest (spark.ui.retainedTasks).
func (u *UI) HasTasks(ctx context.Context, stage, attempt, count int64) (bool, error) {
	var page []Task
	path := fmt.Sprintf("/stages/%d/%d/taskList", stage, attempt)
	query := url.Values{"offset": {strconv.FormatInt(count-1, 10)}, "length": {"1"}}
	err := u.get(ctx, TaskList, path, query, decodeInto(&page, u.c.o.MaxBody/pageDivisor))
	return len(page) > 0, err
}

// pages is a resource that Spark serves in pages, ordered by id.
type pages[T any] struct {
	endpoint Endpoint
	path     string
	length   int // rows per page
	query    url.Values
	id       func(*T) int64
	// shorten are parameters that shorten rows that exceed the limit; nil if there are none.
	shorten url.Values
	// dropped returns how much of a row's text is not kept; nil if all of it is.
	dropped func(*T) int64
}

// maxReads is how often a resource is read from its start, if rows are evicted during each
// read: a running application with limited retention.
const maxReads = 3

// ErrShifted means that a page does not continue the previous one.
var ErrShifted = errors.New("rows were evicted while they were read")

// read reads all pages, up to the limits of a resource: a job may answer in place of its driver,
// without end. It also returns the ids of rows that had to be shortened.
func (p pages[T]) read(ctx context.Context, u *UI) (all []T, shortened []int64, err error) {
	for range maxReads {
		if all, shortened, err = p.readOnce(ctx, u); !errors.Is(err, ErrShifted) {
			return all, shortened, err
		}
	}
	return all, shortened, err
}

// readOnce reads pages that overlap by one row, which shows whether rows have moved. Servers
// that do not page (SQL executions before Spark 3.2) return all rows at once.
func (p pages[T]) readOnce(ctx context.Context, u *UI) (all []T, shortened []int64, err error) {
	text := int64(0)
	for length := p.length; ; {
		offset := max(0, len(all)-1)
		page, size, err := p.page(ctx, u, offset, length, nil)
		switch {
		case errors.Is(err, ErrTooLong) && length > 2:
			length = max(2, length/2) // one row would be the one of overlap
			continue
		case errors.Is(err, ErrTooLong) && p.shorten != nil:
			page, size, err = p.page(ctx, u, offset, length, p.shorten)
			if err == nil {
				for i := min(len(page), len(all)-offset); i < len(page); i++ {
					shortened = append(shortened, p.id(&page[i]))
				}
			}
		}
		if err != nil {
			return all, shortened, err
		}
		switch {
		case len(all) == 0:
			all = page
		case len(page) == 0 || p.id(&page[0]) != p.id(&all[len(all)-1]):
			if len(page) > 0 && p.id(&page[0]) == p.id(&all[0]) && len(page) == len(all) {
				return all, shortened, nil // all rows again: the server does not page
			}
			return all, shortened, fmt.Errorf("read %s: %w", p.path, ErrShifted)
		default:
			all = append(all, page[1:]...)
		}
		if len(page) != length {
			return all, shortened, nil // a shorter page is the last, a longer one has all rows
		}
		for i := range page {
			if p.dropped != nil {
				size -= p.dropped(&page[i])
			}
		}
		text += size * int64(len(page)-1) / int64(len(page)) // its first row is the last of the page before
		rows, limit := max(u.c.o.MaxBody/rowSize, int64(firstPages*p.length)), pagesFactor*u.c.o.MaxBody
		if int64(len(all)) > rows || text > limit {
			return all, shortened, fmt.Errorf("read %s: %w: after %d rows of %d bytes there are more, and at most %d rows or %d bytes are read",
				p.path, ErrTooLong, len(all), text, rows, limit)
		}
	}
}

// page reads rows from an offset on. size is that of their text, in bytes.
func (p pages[T]) page(ctx context.Context, u *UI, offset, length int, more url.Values) (page []T, size int64, err error) {
	query := url.Values{"offset": {strconv.Itoa(offset)}, "length": {strconv.Itoa(length)}}
	for _, values := range []url.Values{p.query, more} {
		for name := range values {
			query.Set(name, values.Get(name))
		}
	}
	decode := decodeInto(&page, u.c.o.MaxBody/pageDivisor)
	err = u.get(ctx, p.endpoint, p.path, query, func(body io.Reader) error {
		counted := &countedReader{from: body}
		err := decode(counted)
		size = counted.size
		return err
	})
	return page, size, err
}

// countedReader counts what is read.
type countedReader struct {
	from io.Reader
	size int64
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.size += int64(n)
	return n, err
}
