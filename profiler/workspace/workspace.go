// Package workspace reads Databricks' REST API with a token: the clusters of a workspace, and the
// files of its volumes. It retries what fails for a passing reason, and names what does not.
//
// It knows nothing of Spark's history: package source finds it, package eventlog reads it.
package workspace

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/requests"
)

// Token is a personal access token, or an OAuth one. It prints as a placeholder.
type Token string

// String hides the token.
func (Token) String() string { return "[hidden]" }

// GoString hides it from %#v.
func (Token) GoString() string { return "[hidden]" }

// MarshalText hides it from encoders.
func (Token) MarshalText() ([]byte, error) { return []byte("[hidden]"), nil }

// Options say how a workspace is reached.
type Options struct {
	Host    string // its URL, as in a browser: https://dbc-….cloud.databricks.com
	Token   Token
	Timeout time.Duration // of a request with its retries; 0 is five minutes
	Pause   time.Duration // before the first retry; later ones are longer; 0 is a second
}

const (
	maxAnswer  = 64 << 20 // bytes of JSON
	maxMessage = 300      // characters of an error that are passed on
)

// Client reads one workspace. It is safe for concurrent use.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
}

// ErrHost is of a URL that is not a workspace's.
var ErrHost = errors.New("must be the https:// URL of a workspace, as in a browser, without user, path and query")

// Open returns a client. It sends no request. The URL may be http:// for a loopback address only:
// each request has the token.
func Open(o Options) (*Client, error) {
	base, err := url.Parse(o.Host)
	if err != nil || base.Host == "" || base.User != nil || strings.Trim(base.Path, "/") != "" || base.RawQuery != "" || base.Fragment != "" ||
		base.Scheme != "https" && (base.Scheme != "http" || !isLoopback(base.Hostname())) {
		return nil, fmt.Errorf("workspace URL %w", ErrHost) // it may hold a secret
	}
	o.Timeout, o.Pause = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.Pause, time.Second)
	base.Path = ""
	return &Client{o: o, base: base, http: &http.Client{
		// Redirects lead to a login page. The token must not follow.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// APIError is what Databricks answered in place of what was asked for.
type APIError struct {
	Status  int    // of HTTP
	Code    string // such as PERMISSION_DENIED; may be empty
	Message string // cut
}

// Error returns code and message.
func (e *APIError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	for _, part := range []string{e.Code, e.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// ErrToken is of a request whose token is wrong, has expired, or is not allowed to ask.
var ErrToken = errors.New("the workspace refuses the token: create one of a user or service principal who may see the clusters and " +
	"volumes, and store it where the old one is")

// errNoAPI is of an answer that a web page gave.
var errNoAPI = errors.New("a web page answered and not the API: the URL is not a workspace's, or its front end wants a login")

// get sends a request until it has an answer that is no passing failure. The caller closes the
// answer's body, which ends when no data has arrived for requests.IdleTimeout.
func (c *Client) get(ctx context.Context, path string, query url.Values, header http.Header) (answer *http.Response, err error) {
	target := *c.base
	target.Path, target.RawQuery = path, query.Encode()
	tries := 0
	pace := poll.Options{Interval: c.o.Pause, MaxInterval: requests.MaxPause * c.o.Pause, Timeout: c.o.Timeout}
	err = poll.Until(ctx, pace, func(limited context.Context) error {
		tries++
		var err error
		answer, err = c.send(ctx, limited, &target, header) //nolint:bodyclose // get's caller closes it
		var refused *refusal
		switch errors.As(err, &refused); {
		case err == nil:
			return nil
		case tries == requests.Tries || refused != nil && refused.final || isUntrusted(err):
			return poll.Permanent(err)
		case refused != nil && refused.wait > 0:
			return poll.After(err, refused.wait)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("GET %s of %s: %w", path, c.base.Host, err)
	}
	return answer, nil
}

// isUntrusted reports whether the server's certificate is the reason, which no further try changes.
func isUntrusted(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// refusal is an answer other than the one that was asked for.
type refusal struct {
	err   error
	final bool          // it stays
	wait  time.Duration // by Retry-After; 0 if it does not say
}

// Error returns the reason.
func (r *refusal) Error() string { return r.err.Error() }

// Unwrap returns the reason.
func (r *refusal) Unwrap() error { return r.err }

// send sends a request once. The answer must begin before limited ends; its body ends with ctx.
func (c *Client) send(ctx, limited context.Context, target *url.URL, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	begin := context.AfterFunc(limited, func() { cancel(context.Cause(limited)) })
	answer, err := c.sent(ctx, target, header)
	if err == nil && !begin() { // too late, and canceled
		_ = answer.Body.Close()
		err = context.Cause(limited)
	}
	if err != nil {
		begin()
		cancel(nil)
		return nil, err
	}
	idle := time.AfterFunc(requests.IdleTimeout, func() { cancel(fmt.Errorf("no data for %s", requests.IdleTimeout)) })
	idle.Stop()
	answer.Body = &body{ReadCloser: answer.Body, ctx: ctx, cancel: cancel, idle: idle}
	return answer, nil
}

// body is an answer's, with a limit on how long it may be silent.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer
}

// Read fails after requests.IdleTimeout.
func (b *body) Read(p []byte) (int, error) {
	b.idle.Reset(requests.IdleTimeout)
	n, err := b.ReadCloser.Read(p)
	b.idle.Stop()
	if cause := context.Cause(b.ctx); cause != nil && err != nil && !errors.Is(err, io.EOF) {
		err = cause
	}
	return n, err // io.EOF, as readers must
}

// Close closes the answer.
func (b *body) Close() error {
	b.idle.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

func (c *Client) sent(ctx context.Context, target *url.URL, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Authorization", "Bearer "+string(c.o.Token))
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err // names the operation, and no header
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch ok := answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusPartialContent; {
	case ok && kind != "text/html":
		return answer, nil
	case ok || answer.StatusCode/100 == 3:
		err = &refusal{err: fmt.Errorf("%w (%s)", errNoAPI, answer.Status), final: true}
	default:
		err = refused(answer)
	}
	_ = answer.Body.Close()
	return nil, err
}

// refused reads why Databricks does not answer.
func refused(answer *http.Response) *refusal {
	found := &APIError{Status: answer.StatusCode}
	var said struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16)) // a part says as much
	if json.Unmarshal(text, &said) == nil {
		found.Code, found.Message = plain.Text(said.Code, maxMessage), plain.Text(said.Message, maxMessage)
	}
	r := &refusal{err: found, final: answer.StatusCode < http.StatusInternalServerError && answer.StatusCode != http.StatusTooManyRequests}
	r.wait, _ = requests.RetryAfter(answer.Header.Get("Retry-After"), time.Now())
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		r.err = fmt.Errorf("%w (%w)", ErrToken, found)
	}
	return r
}

// plain makes what a server says fit for a line on a terminal.
var plain = redaction.New(nil)

// read asks for JSON and decodes it into v.
func (c *Client) read(ctx context.Context, path string, query url.Values, v any) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.o.Timeout) // for the body, too
	defer cancel()
	answer, err := c.get(ctx, path, query, nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(v); err != nil {
		return fmt.Errorf("GET %s of %s: decode the answer: %w", path, c.base.Host, err)
	}
	return nil
}
