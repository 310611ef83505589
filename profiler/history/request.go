package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/emr-observatory/emr-observatory/internal/poll"
)

// Errors of a request. They are tested with errors.Is.
var (
	// ErrNotFound is an answer 404: the server does not know it, or is too old for it.
	ErrNotFound = errors.New("not found")
	// ErrForbidden is a refusal that a new login did not change.
	ErrForbidden = errors.New("forbidden")
	// ErrTooLong is an answer that exceeds a limit of Options.
	ErrTooLong = errors.New("longer than the limit")
	// ErrLeftOut is returned without a request, for an endpoint that failed too often.
	ErrLeftOut = errors.New("left out, because it failed too often")

	errExpired = errors.New("the session is not accepted")
	errLost    = errors.New("a new session has ended, too")
	errLoading = errors.New("a page says that history is being loaded")
	errRefused = errors.New("refused") // a repetition cannot help
)

// loadingPages are texts of pages with status 200 that servers answer while they load
// history: Databricks' UI, and Spark's history server (its list of applications).
var loadingPages = []string{"loading historical spark ui", "currently being processed"}

// request is a GET below /api/v1.
type request struct {
	path   string // begins with /
	query  url.Values
	accept string // content type, JSON if empty
	slots  int64  // of the server's that it takes; 0 is 1
	cold   bool   // the server replays an event log for it
	idle   bool   // it takes as long as it takes, while bytes arrive
}

// take reads the body of a successful answer. It must not deliver anything if it fails:
// the request is repeated.
type take func(body io.Reader) error

// pace is the rhythm of repetitions.
func (c *Client) pace(timeout time.Duration) poll.Options {
	return poll.Options{Interval: c.o.Pause, MaxInterval: longestPause * c.o.Pause, Timeout: timeout}
}

// do sends a request until it succeeds, is refused for good, or has failed too often.
func (c *Client) do(ctx context.Context, r request, take take) error {
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
	err := poll.Until(ctx, c.pace(timeout), func(ctx context.Context) error {
		limited, cancel := ctx, context.CancelFunc(func() {})
		if timeout > 0 {
			limited, cancel = context.WithTimeout(ctx, timeout/2)
		}
		defer cancel()
		err := c.tryLoggedIn(limited, r, take)
		switch {
		case errors.Is(err, errLoading):
			return poll.After(err, min(longestPause*c.o.Pause, longestWait))
		case errors.Is(err, errLost) && sessions < mostSessions:
			sessions++ // what ends sessions is no failure of this request
			return err
		case errors.Is(err, errExpired) && errors.Is(err, ErrForbidden):
			denials++
		}
		if tries++; err != nil && (tries >= mostTries || denials >= mostDenials) {
			return poll.Permanent(err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("GET %s: %w", r.path, err)
	}
	return nil
}

// tryLoggedIn sends a request once, and once more in a new session if it was refused. If
// that is refused, too, it tells a session that has ended from a request that may not be.
func (c *Client) tryLoggedIn(ctx context.Context, r request, take take) error {
	for again := false; ; again = true {
		s, err := c.session(ctx)
		if err != nil {
			return poll.Permanent(err)
		}
		err = c.try(ctx, s, r, take)
		final := errors.Is(err, errRefused) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLong)
		switch {
		case final, errors.Is(err, errExpired) && c.login == nil:
			return poll.Permanent(err)
		case !errors.Is(err, errExpired):
			return err
		case again && c.probe(ctx, s) == nil:
			return err
		}
		c.expire(s)
		if again {
			return fmt.Errorf("%w: %w", errLost, err)
		}
	}
}

// probe reports whether a session is accepted.
func (c *Client) probe(ctx context.Context, s *session) error {
	var some []Application
	return c.try(ctx, s, request{path: "/applications", query: url.Values{"limit": {"1"}}}, decodeInto(&some, c.o.MaxBody))
}

// try sends a request once.
func (c *Client) try(ctx context.Context, s *session, r request, take take) error {
	target := s.base + "/api/v1" + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	ctx, alive, cancel := attend(ctx, r.idle)
	defer cancel()
	outgoing, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, cleaned(err))
	}
	want := r.accept
	if want == "" {
		want = "application/json"
	}
	outgoing.Header.Set("Accept", want)
	answer, err := s.http.Do(outgoing)
	if err != nil {
		return cleaned(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return refusal(answer)
	}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "text/html" {
		return page(answer.Body)
	}
	if err := take(alive(answer.Body)); err != nil {
		return cleaned(err)
	}
	return nil
}

// refusal is the error of an answer other than 200.
func refusal(answer *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
	err := errors.New(answer.Status)
	if said := strings.TrimSpace(string(text)); said != "" && !strings.HasPrefix(said, "<") {
		err = fmt.Errorf("%s: %s", answer.Status, clean(said))
	}
	switch code := answer.StatusCode; {
	case code == http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case code < http.StatusBadRequest:
		return fmt.Errorf("%w: %s to another host", errExpired, answer.Status)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%w: %w: %w", errExpired, ErrForbidden, err)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError:
		if wait, told := retryAfter(answer.Header.Get("Retry-After"), time.Now()); told {
			return poll.After(err, wait)
		}
		return err
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(value string, now time.Time) (wait time.Duration, told bool) {
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(0, time.Duration(seconds)*time.Second), longestWait), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), longestWait), true
	}
	return 0, false
}

// page is the error of a page of HTML in place of an answer: a login page, or one of
// loadingPages.
func page(body io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(body, 64<<10))
	for _, said := range loadingPages {
		if strings.Contains(strings.ToLower(string(text)), said) {
			return errLoading
		}
	}
	return fmt.Errorf("%w: a page of HTML, in place of an answer", errExpired)
}

// decodeInto returns a take that decodes one JSON value of at most limit bytes.
func decodeInto[T any](into *T, limit int64) take {
	return func(body io.Reader) error {
		bounded := &boundedReader{from: body, left: limit, limit: limit}
		var value T
		err := json.UnmarshalRead(&htmlGuard{from: bounded}, &value, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return fmt.Errorf("decode the answer: %w", err)
		}
		*into = value
		return nil
	}
}

// boundedReader fails once there are more bytes than the limit.
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

// htmlGuard fails on an answer whose first character is that of HTML.
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
				return 0, page(io.MultiReader(strings.NewReader(text), g.from))
			}
		}
	}
	return n, err
}
