package lake

import (
	"context"
	"fmt"
	"io"
	"iter"
)

// prefetch is how many objects are being fetched or read at a time. Each takes at most
// spoolMemory; larger ones are spooled to disk.
const prefetch = 4

// fetched is a copy of an object, in memory or on disk.
type fetched struct {
	*spool
	key string
}

// fetchAhead yields the objects of keys in order, and prefetches the next ones while one is
// read: most are small, so waiting for S3 takes longer than reading them. An object is valid
// until the next one is requested. A failed fetch is yielded as an error in its place; an
// error of keys comes last.
func fetchAhead(ctx context.Context, store Store, keys iter.Seq2[string, error]) iter.Seq2[*fetched, error] {
	return func(yield func(*fetched, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var q queue
		defer func() {
			stop()
			q.discard()
		}()
		for key, err := range keys {
			if err != nil {
				if q.drain(yield) {
					yield(nil, err)
				}
				return
			}
			q.add(ctx, store, key)
			if len(q) == prefetch && !q.first(yield) {
				return
			}
		}
		q.drain(yield)
	}
}

// queue holds the pending fetches, in read order.
type queue []<-chan result

type result struct {
	content *fetched
	err     error
}

func (q *queue) add(ctx context.Context, store Store, key string) {
	one := make(chan result, 1)
	go func() {
		content, err := fetch(ctx, store, key)
		one <- result{content, err}
	}()
	*q = append(*q, one)
}

// first waits for the next object and yields it. It reports whether the consumer wants more.
func (q *queue) first(yield func(*fetched, error) bool) bool {
	r := <-(*q)[0]
	*q = (*q)[1:]
	if r.err == nil {
		defer r.content.close()
	}
	return yield(r.content, r.err)
}

// drain yields the remaining objects, and reports whether the consumer wants more.
func (q *queue) drain(yield func(*fetched, error) bool) bool {
	for len(*q) > 0 {
		if !q.first(yield) {
			return false
		}
	}
	return true
}

// discard waits for the remaining fetches and closes their results, so that no request
// outlives its reader.
func (q *queue) discard() {
	for _, one := range *q {
		if r := <-one; r.err == nil {
			r.content.close()
		}
	}
}

// fetch copies an object.
func fetch(ctx context.Context, store Store, key string) (*fetched, error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err // names the object
	}
	defer body.Close()
	content := newSpool()
	if _, err := io.Copy(content, body); err != nil {
		content.close()
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return &fetched{content, key}, nil
}
