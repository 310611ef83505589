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

// result is an object that was fetched, or why it could not be.
type result struct {
	content *fetched
	err     error
}

// fetchAhead yields the objects of keys in order, and prefetches the next ones while one is
// read: most are small, so waiting for S3 takes longer than reading them. An object is valid
// until the next one is requested. A failed fetch is yielded as an error in its place; an
// error of keys comes last.
func fetchAhead(ctx context.Context, store Store, keys iter.Seq2[string, error]) iter.Seq2[*fetched, error] {
	return func(yield func(*fetched, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var pending []<-chan result // in the order of keys
		defer func() {
			stop()
			for _, one := range pending { // no request outlives its reader
				if r := <-one; r.err == nil {
					r.content.close()
				}
			}
		}()
		first := func() (more bool) {
			r := <-pending[0]
			pending = pending[1:]
			if r.err == nil {
				defer r.content.close()
			}
			return yield(r.content, r.err)
		}
		for key, err := range keys {
			one := make(chan result, 1)
			pending = append(pending, one)
			if err != nil {
				one <- result{err: err}
				break
			}
			go func() {
				content, err := fetch(ctx, store, key)
				one <- result{content, err}
			}()
			if len(pending) == prefetch && !first() {
				return
			}
		}
		for len(pending) > 0 && first() {
			continue
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
