package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/profiler/requests"
)

// maxURLs is how many URLs one login requests: a URL may have expired, or have been used,
// before it is opened.
const maxURLs = 3

// session returns the current session, and logs in if there is none. If several requests
// need a login concurrently, one logs in and the others wait for it.
func (c *Client) session(ctx context.Context) (*session, error) {
	if s := c.current.Load(); s != nil {
		return s, nil
	}
	result := c.logins.DoChan("", func() (any, error) {
		if s := c.current.Load(); s != nil {
			return s, nil
		}
		// The login must outlive the request that starts it, as others wait for it.
		lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.Timeout)
		defer cancel()
		s, err := c.logIn(lasting)
		if err == nil {
			c.current.Store(s)
		}
		return s, err
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-result:
		s, _ := r.Val.(*session)
		return s, r.Err
	}
}

// logIn opens a new URL with an empty cookie jar, and finds the API.
func (c *Client) logIn(ctx context.Context) (s *session, err error) {
	urls := 0
	err = poll.Until(ctx, c.retryOptions(0), func(ctx context.Context) error {
		presigned, err := c.login(ctx)
		if err != nil {
			return poll.Permanent(fmt.Errorf("request a presigned URL: %w", cleaned(err)))
		}
		if s, err = c.openPresigned(ctx, presigned); err == nil {
			return nil
		}
		if urls++; urls >= maxURLs {
			return poll.Permanent(err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	return s, nil
}

func (c *Client) openPresigned(ctx context.Context, presigned string) (*session, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("create a cookie jar: %w", err)
	}
	s := &session{http: &http.Client{Transport: c.transport, Jar: jar, CheckRedirect: checkRedirect}}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout/2)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, presigned, nil)
	if err != nil {
		return nil, errors.New("the presigned URL is not a URL")
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("open the presigned URL: %w", cleaned(err))
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // its content does not matter
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("open the presigned URL: %s", response.Status)
	}
	s.http.CheckRedirect = sameHost
	return s, c.awaitAPI(ctx, s, response.Request.URL)
}

// awaitAPI finds the API of a session that may have to wait for it: a server that is still
// loading the history, or busy, answers the same session later.
func (c *Client) awaitAPI(ctx context.Context, s *session, page *url.URL) error {
	tries := 0
	return poll.Until(ctx, c.retryOptions(0), func(ctx context.Context) error {
		err := c.findAPI(ctx, s, page)
		switch tries++; {
		case errors.Is(err, errLoading):
			return poll.After(err, min(requests.MaxPause*c.o.Pause, requests.MaxRetryAfter))
		case errors.Is(err, errExpired), errors.Is(err, errRefused), errors.Is(err, ErrNotFound), tries >= requests.Tries:
			return poll.Permanent(err)
		}
		return err
	})
}

// findAPI sets the session's base to the first that has the API: that of the page at the
// end of the redirects, the host itself, or EMR's /shs.
func (c *Client) findAPI(ctx context.Context, s *session, page *url.URL) error {
	page.User = nil
	root := url.URL{Scheme: page.Scheme, Host: page.Host}
	var first error
	for _, base := range []string{apiBase(page), root.String(), root.String() + "/shs"} {
		s.base = base
		err := c.probe(ctx, s)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return fmt.Errorf("the page that the presigned URL led to has no API: %w", first)
}

// Parts of a URL that may be secret: the query (presigned URLs), and the user with a
// password.
var (
	query    = regexp.MustCompile(`\?[^\s"'<>]+`)
	userinfo = regexp.MustCompile(`//[^/\s"'@]+@`)
)

// clean removes the secrets of URLs in a text.
func clean(text string) string {
	return query.ReplaceAllString(userinfo.ReplaceAllString(text, "//"), "?…")
}

// cleaned returns an error without the secrets of URLs in its text. errors.Is and errors.As
// still see the wrapped error, but its text is never printed.
func cleaned(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if safe := clean(text); safe != text {
		return &safeError{text: safe, err: err}
	}
	return err
}

type safeError struct {
	text string
	err  error
}

func (e *safeError) Error() string        { return e.text }
func (e *safeError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *safeError) As(target any) bool   { return errors.As(e.err, target) }
