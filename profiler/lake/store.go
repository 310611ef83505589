package lake

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Store keeps objects by key. A key is a relative path with slashes.
type Store interface {
	// Get opens an object, or returns fs.ErrNotExist.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Put creates or replaces an object atomically: readers see the old content or the new.
	Put(ctx context.Context, key string, body io.ReadSeeker) error
	// Swap atomically replaces the content old; nil means that there must be no object. It
	// returns ErrChanged if the object's content is not old.
	Swap(ctx context.Context, key string, old, content []byte) error
	// List yields the keys with a prefix, in order. It ends at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Folders returns the names directly below a prefix that have keys below them, in
	// order. The prefix ends in a slash.
	Folders(ctx context.Context, prefix string) ([]string, error)
	// Delete removes an object. Removing one that does not exist is not an error.
	Delete(ctx context.Context, key string) error
}

// ErrChanged means that an object's content is not what the caller of Swap expected.
var ErrChanged = errors.New("the object has changed")

func readAll(ctx context.Context, store Store, key string) ([]byte, error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err // names the object
	}
	defer body.Close()
	return io.ReadAll(body) // callers name the object
}
