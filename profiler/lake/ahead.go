package lake

import (
	"context"
	"fmt"
	"io"
	"iter"
)

// fetching is how many objects are fetched, or read, at one time. Each takes at most
// spoolMemory; what is larger is on disk.
const fetching = 4

// fetched is a copy of an object, in memory or on disk.
type fetched struct {
	*spool
	key string
}

// fetchAhead yields the objects of keys in their order. While one is read the next ones
// are fetched: most are small, so that S3 takes longer to answer than they to be read. An
// object is valid until the next one. What cannot be fetched is an error in its place; an
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
			if len(q) == fetching && !q.first(yield) {
				return
			}
		}
		q.drain(yield)
	}
}

// queue is the objects that are being fetched, in the order in which they are read.
type queue []<-chan answer

type answer struct {
	content *fetched
	err     error
}

func (q *queue) add(ctx context.Context, store Store, key string) {
	one := make(chan answer, 1)
	go func() {
		content, err := fetch(ctx, store, key)
		one <- answer{content, err}
	}()
	*q = append(*q, one)
}

// first waits for the next object and yields it.
func (q *queue) first(yield func(*fetched, error) bool) bool {
	a := <-(*q)[0]
	*q = (*q)[1:]
	if a.err == nil {
		defer a.content.close()
	}
	return yield(a.content, a.err)
}

// drain yields all that are left, and reports whether more are wanted.
func (q *queue) drain(yield func(*fetched, error) bool) bool {
	for len(*q) > 0 {
		if !q.first(yield) {
			return false
		}
	}
	return true
}

// discard waits for what nobody wants any more, so that no request outlives its reader.
func (q *queue) discard() {
	for _, one := range *q {
		if a := <-one; a.err == nil {
			a.content.close()
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
