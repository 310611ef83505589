package history

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

const (
	sqlPage   = 100  // rows of a page
	taskPage  = 2000 // rows of a page
	pageShare = 4    // a page may have this part of Options.MaxBody: plans are kept in memory as text
)

// SQL reads the SQL executions with their plans. Of an execution whose plan is too
// long even alone, the plan's text is left out (Plan is 0), and its id
// is among withoutPlan.
func (u *UI) SQL(ctx context.Context) (all []Execution, withoutPlan []int64, err error) {
	all, withoutPlan, err = pages[Execution]{
		endpoint: SQL, path: "/sql", length: sqlPage, id: func(e *Execution) int64 { return e.ID },
		short: url.Values{"planDescription": {"false"}},
	}.read(ctx, u)
	if errors.Is(err, ErrNotFound) {
		return nil, nil, fmt.Errorf("%w; SQL is there since Spark 3.1", err)
	}
	return all, withoutPlan, err
}

// Tasks reads the attempts of tasks of a stage's attempt.
func (u *UI) Tasks(ctx context.Context, stage, attempt int64) ([]Task, error) {
	all, _, err := pages[Task]{
		endpoint: TaskList, path: fmt.Sprintf("/stages/%d/%d/taskList", stage, attempt), length: taskPage,
		query: url.Values{"sortBy": {"ID"}}, id: func(t *Task) int64 { return t.ID },
	}.read(ctx, u)
	return all, err
}

// HasTasks reports whether the server has at least count attempts of tasks of a stage's
// attempt: it drops the oldest (spark.ui.retainedTasks).
func (u *UI) HasTasks(ctx context.Context, stage, attempt, count int64) (bool, error) {
	var page []Task
	path := fmt.Sprintf("/stages/%d/%d/taskList", stage, attempt)
	query := url.Values{"offset": {strconv.FormatInt(count-1, 10)}, "length": {"1"}}
	err := u.get(ctx, TaskList, path, query, decodeInto(&page, u.c.o.MaxBody/pageShare))
	return len(page) > 0, err
}

// pages is a resource that Spark answers in pages, in the order of ids.
type pages[T any] struct {
	endpoint Endpoint
	path     string
	length   int // of a page, in rows
	query    url.Values
	id       func(*T) int64
	// short makes a row shorter that does not fit an answer; nil if nothing does.
	short url.Values
}

// restarts is how often a resource is read from its start again, because rows were
// dropped from it while it was read: a running application with limited retention.
const restarts = 3

// errShifted says that a page does not continue the one before.
var errShifted = errors.New("rows were dropped while they were read")

// read reads all pages, and the ids of rows that had to be shortened.
func (p pages[T]) read(ctx context.Context, u *UI) (all []T, shortened []int64, err error) {
	for range restarts {
		if all, shortened, err = p.readOnce(ctx, u); !errors.Is(err, errShifted) {
			return all, shortened, err
		}
	}
	return all, shortened, err
}

// readOnce reads pages that overlap by one row, which shows whether rows moved. Servers
// that do not page (Spark before 3.2 answers all executions) answer all at once.
func (p pages[T]) readOnce(ctx context.Context, u *UI) (all []T, shortened []int64, err error) {
	for length := p.length; ; {
		offset := max(0, len(all)-1)
		page, err := p.page(ctx, u, offset, length, nil)
		switch {
		case errors.Is(err, ErrTooLong) && length > 2:
			length /= 2
			continue
		case errors.Is(err, ErrTooLong) && p.short != nil:
			page, err = p.page(ctx, u, offset, length, p.short)
			if err == nil {
				shortened = append(shortened, p.ids(page[min(len(page), len(all)-offset):])...)
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
				return all, shortened, nil // the whole again
			}
			return all, shortened, fmt.Errorf("read %s: %w", p.path, errShifted)
		default:
			all = append(all, page[1:]...)
		}
		if len(page) != length {
			return all, shortened, nil // a short page is the last, a long one is all
		}
	}
}

func (p pages[T]) page(ctx context.Context, u *UI, offset, length int, more url.Values) (page []T, err error) {
	query := url.Values{"offset": {strconv.Itoa(offset)}, "length": {strconv.Itoa(length)}}
	for _, values := range []url.Values{p.query, more} {
		for name := range values {
			query.Set(name, values.Get(name))
		}
	}
	err = u.get(ctx, p.endpoint, p.path, query, decodeInto(&page, u.c.o.MaxBody/pageShare))
	return page, err
}

func (p pages[T]) ids(rows []T) (ids []int64) {
	for i := range rows {
		ids = append(ids, p.id(&rows[i]))
	}
	return ids
}
