package workspace

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// maxPages ends a listing whose tokens never do.
const maxPages = 10_000

var errEndless = errors.New("the pages do not end")

// pages asks for a list page by page, of at most size entries each. take uses a page, which may be empty
// although others follow, and returns the token of the next one, "" after the last.
func pages[T any](ctx context.Context, c *Client, path string, size int, take func(page T) (next string)) error {
	query := url.Values{"page_size": {strconv.Itoa(size)}}
	for range maxPages {
		var page T
		if err := c.read(ctx, path, query, &page); err != nil {
			return err // names the request
		}
		next := take(page)
		if next == "" {
			return nil
		}
		if next == query.Get("page_token") {
			break
		}
		query.Set("page_token", next)
	}
	return fmt.Errorf("GET %s of %s: %w", path, c.base.Host, errEndless)
}
