package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/profiler/requests"
)

// Errors of a request, for use with errors.Is.
var (
	// ErrNotFound is a response 404: the resource does not exist, or the server is too old.
	ErrNotFound = errors.New("not found")
	// ErrForbidden is a rejection that persists after a new login.
	ErrForbidden = errors.New("forbidden")
	// ErrTooLong is a response that exceeds a limit of Options.
	ErrTooLong = errors.New("longer than the limit")
	// ErrNoSpace is a download for which this machine's disk has no space.
	ErrNoSpace = errors.New("not enough disk space")
	// ErrLeftOut is returned without a request for an endpoint that failed too often.
	ErrLeftOut = errors.New("not requested: earlier requests to this endpoint have failed (max_endpoint_failures)")

	errExpired = errors.New("not logged in")
	errLogin   = errors.New("login required")
	errLost    = errors.New("a new session has ended, too")
	errLoading = errors.New("the server is still loading the history")
	errRefused = errors.New("refused") // a retry cannot help
)

// IsFinal reports whether a request failed in a way that no later one will change: the
// resource does not exist, is forbidden or is too long, or the request is not understood.
func IsFinal(err error) bool {
	if errors.Is(err, errLost) { // wraps a rejection, but of a session that ended
		return false
	}
	if errors.Is(err, ErrCookie) { // another cookie may be given to a later run
		return false
	}
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrTooLong) || errors.Is(err, errRefused)
}

// loadingTexts are texts of the pages with status 200 that servers return while they load
// history: Databricks' UI, and Spark's history server (its list of applications).
var loadingTexts = []string{"loading historical spark ui", "currently being processed"}

// request is a GET below /api/v1.
type request struct {
	path   string // begins with /
	query  url.Values
	accept string // content type, JSON if empty
	slots  int64  // how many of Options.Concurrency it takes; 0 means 1
	cold   bool   // the server replays an event log first
	idle   bool   // only requests.IdleTimeout applies
}

// consumer reads the body of a successful response. If it fails, it must leave no results:
// the request is retried.
type consumer func(body io.Reader) error

// retryOptions returns how to retry within a timeout.
func (c *Client) retryOptions(timeout time.Duration) poll.Options {
	return poll.Options{Interval: c.o.Pause, MaxInterval: requests.MaxPause * c.o.Pause, Timeout: timeout}
}

// do retries a request until it succeeds, is refused for good, or has failed too often.
func (c *Client) do(ctx context.Context, r request, consume consumer) error {
	slots := max(1, r.slots)
	if err := c.slots.Acquire(ctx, slots); err != nil {
		return fmt.Errorf("GET %s: wait for other requests: %w", r.path, err)
	}
	defer c.slots.Release(slots)
	timeout := c.o.Timeout
	switch {
	case r.idle:
		timeout = 0
	case r.cold:
		timeout = c.o.ColdTimeout
	}
	tries, denials, sessions := 0, 0, 0
	err := poll.Until(ctx, c.retryOptions(timeout), func(ctx context.Context) error {
		limited, cancel := ctx, context.CancelFunc(func() {})
		if timeout > 0 {
			limited, cancel = context.WithTimeout(ctx, timeout/2)
		}
		defer cancel()
		err := c.tryLoggedIn(limited, r, consume)
		switch {
		case errors.Is(err, errLoading):
			return poll.After(err, min(requests.MaxPause*c.o.Pause, requests.MaxRetryAfter))
		case errors.Is(err, errLost) && sessions < maxSessions:
			sessions++ // sessions that end are no failure of this request
			return err
		case errors.Is(err, errExpired) && errors.Is(err, ErrForbidden):
			denials++
		}
		if tries++; err != nil && (tries >= requests.Tries || denials >= maxDenials) {
			return poll.Permanent(err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("GET %s: %w", r.path, err)
	}
	return nil
}

// tryLoggedIn sends a request, and once more in a new session if the session was rejected.
// If that is rejected, too, it checks whether the new session has ended or the request is
// forbidden.
func (c *Client) tryLoggedIn(ctx context.Context, r request, consume consumer) error {
	for retried := false; ; retried = true {
		if c.cookie != nil && c.cookie.expired.Load() {
			return poll.Permanent(ErrCookie)
		}
		s, err := c.session(ctx)
		if err != nil {
			return poll.Permanent(err)
		}
		err = c.try(ctx, s, r, consume)
		final := errors.Is(err, errRefused) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLong)
		switch {
		case final:
			return poll.Permanent(err)
		case errors.Is(err, errExpired) && c.cookie != nil:
			return poll.Permanent(c.cookie.refused(err))
		case errors.Is(err, errExpired) && c.login == nil:
			return poll.Permanent(fmt.Errorf("%w: give the URL of a history server (usually port 18080) or of a Spark UI (4040) that "+
				"needs no login", err))
		case !errors.Is(err, errExpired):
			return err
		case retried && c.probe(ctx, s) == nil:
			return err
		}
		c.current.CompareAndSwap(s, nil) // unless another request has already replaced it
		if retried {
			return fmt.Errorf("%w: %w", errLost, err)
		}
	}
}

// refused returns the error of a refused request. Only a login that is asked for says that the cookie has expired: a
// page may be another person's, or say something else.
func (k *Cookie) refused(err error) error {
	if !errors.Is(err, errLogin) {
		return err
	}
	k.expired.Store(true)
	return fmt.Errorf("%w (%w)", ErrCookie, err)
}

// probe returns an error unless the server accepts the session.
func (c *Client) probe(ctx context.Context, s *session) error {
	var some []Application
	return c.try(ctx, s, request{path: "/applications", query: url.Values{"limit": {"1"}}}, decodeInto(&some, c.o.MaxBody))
}

// try sends a request once.
func (c *Client) try(ctx context.Context, s *session, r request, consume consumer) error {
	target := s.base + "/api/v1" + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	ctx, alive, cancel := withIdleTimeout(ctx, r.idle)
	defer cancel()
	outgoing, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, cleaned(err))
	}
	outgoing.Header.Set("Accept", cmp.Or(r.accept, "application/json"))
	response, err := s.http.Do(outgoing)
	if err != nil {
		return cleaned(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return statusError(response)
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/html" {
		return htmlError(response.Body)
	}
	if err := consume(alive(response.Body)); err != nil {
		return cleaned(err)
	}
	return nil
}

// statusError returns the error for a response with a status other than 200.
func statusError(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 300))
	err := errors.New(response.Status)
	if message := strings.TrimSpace(string(text)); message != "" && !strings.HasPrefix(message, "<") {
		err = fmt.Errorf("%s: %s", response.Status, clean(message))
	}
	switch code := response.StatusCode; {
	case code == http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case code < http.StatusBadRequest:
		return fmt.Errorf("%w: %w: %s to another host", errExpired, errLogin, response.Status)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w: %w: %w", errExpired, ErrForbidden, errLogin, err)
	case code == http.StatusForbidden:
		return fmt.Errorf("%w: %w: %w", errExpired, ErrForbidden, err)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError:
		if wait, ok := requests.RetryAfter(response.Header.Get("Retry-After"), time.Now()); ok {
			return poll.After(err, wait)
		}
		return err
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// htmlError returns the error for an HTML page instead of the expected response: a login
// page, or one with a text of loadingTexts.
func htmlError(body io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(body, 64<<10))
	for _, loading := range loadingTexts {
		if strings.Contains(strings.ToLower(string(text)), loading) {
			return errLoading
		}
	}
	return fmt.Errorf("%w: an HTML page instead of a response", errExpired)
}

// decodeInto returns a consumer that decodes one JSON value of at most limit bytes.
func decodeInto[T any](into *T, limit int64, o ...json.Options) consumer {
	options := append(o, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return func(body io.Reader) error {
		bounded := &boundedReader{from: body, left: limit, limit: limit}
		var value T
		if err := json.UnmarshalRead(&htmlGuard{from: bounded}, &value, options...); err != nil {
			return fmt.Errorf("decode the response: %w", err)
		}
		*into = value
		return nil
	}
}

// boundedReader fails if there are more bytes than the limit.
type boundedReader struct {
	from        io.Reader
	left, limit int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("%w of %d bytes", ErrTooLong, b.limit)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n, fmt.Errorf("%w of %d bytes", ErrTooLong, b.limit)
	}
	return n, err
}

// htmlGuard fails if the first character is that of HTML.
type htmlGuard struct {
	from    io.Reader
	started bool
}

func (g *htmlGuard) Read(p []byte) (int, error) {
	n, err := g.from.Read(p)
	if !g.started {
		if text := strings.TrimLeft(string(p[:n]), " \t\r\n\ufeff"); text != "" {
			g.started = true
			if strings.HasPrefix(text, "<") {
				return 0, htmlError(io.MultiReader(strings.NewReader(text), g.from))
			}
		}
	}
	return n, err
}
