// Package history reads Spark's REST API (org.apache.spark.status.api.v1): that of a
// history server, of EMR's persistent and on-cluster UIs, or of a running driver. It logs
// in, pages, retries failed requests, and downloads event logs.
//
// It returns the server's responses as Go types. Package fold interprets them; package
// source finds the clusters that have a UI.
package history

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

// Login returns a single-use presigned URL of a UI, as EMR issues them. Each call must
// return a new one: a URL works once, and expires.
type Login func(ctx context.Context) (presignedURL string, err error)

// Options are limits of a Client. A zero value means the default, which ends each comment.
type Options struct {
	// Timeout ends a request including its retries; a single try gets half of it. 5 minutes.
	Timeout time.Duration
	// ColdTimeout is the Timeout of an application attempt's first request, for which the
	// server replays the whole event log. 15 minutes.
	ColdTimeout time.Duration
	// Pause is the wait before the first retry; later waits are longer. 1 second.
	Pause time.Duration
	// Failures is how many requests to an endpoint of an application attempt may fail,
	// despite retries, before the endpoint is left out. 3.
	Failures int
	// Concurrency is how many concurrent requests the server gets once it has replayed
	// the event log. 4.
	Concurrency int64
	// MaxBody is the largest response, in bytes. 256 MiB.
	MaxBody int64
	// MaxLogs is the largest zip of event logs, in bytes. 20 GiB.
	MaxLogs int64
	// Folder is where event logs are downloaded to. The system's temporary folder.
	Folder string
	// Spare returns how many bytes of a folder's disk downloads may still use. All but a tenth
	// of the disk, or 10 GiB.
	Spare func(folder string) (int64, error)
}

const (
	maxDenials  = 2  // per request, in valid sessions
	maxSessions = 20 // that may expire during one request
)

func (o Options) withDefaults() Options {
	o.Timeout, o.ColdTimeout, o.Pause = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.ColdTimeout, 15*time.Minute), cmp.Or(o.Pause, time.Second)
	o.Failures, o.Concurrency = cmp.Or(o.Failures, 3), cmp.Or(o.Concurrency, 4)
	o.MaxBody, o.MaxLogs = cmp.Or(o.MaxBody, 256<<20), cmp.Or(o.MaxLogs, 20<<30)
	if o.Spare == nil {
		o.Spare = spare
	}
	return o
}

// Client reads one server. It is safe for concurrent use.
type Client struct {
	o         Options
	login     Login   // nil if the server needs none
	cookie    *Cookie // nil without one
	transport http.RoundTripper
	slots     *semaphore.Weighted

	logins  singleflight.Group
	current atomic.Pointer[session] // nil before the login, and after the server rejected the session
}

// session is a logged-in HTTP client of the server.
type session struct {
	http *http.Client
	base string // without /api/v1
}

// Open returns a client of the server at base, such as http://primary:18080 or
// https://host/shs. It sends no request.
func Open(base string, o Options) (*Client, error) {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("history server %q: must be an http or https URL with a host, such as http://primary:18080", clean(base))
	}
	if parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, fmt.Errorf("history server %q: must have no query; a presigned URL works only once", clean(base))
	}
	c, err := newClient(o)
	if err != nil {
		return nil, fmt.Errorf("open history server %s: %w", clean(base), err)
	}
	c.current.Store(&session{http: &http.Client{Transport: c.transport, CheckRedirect: sameHost}, base: apiBase(parsed)})
	return c, nil
}

// Cookie is what a person's browser was given at its login to Databricks' user interfaces. One may be
// used by several clients: when a server says that it has expired, none asks any server any more.
type Cookie struct {
	name, value string
	expired     atomic.Bool
}

// ErrCookie is of a request whose cookie has expired. No later one can succeed.
var ErrCookie = errors.New("the cookie has expired or belongs to another workspace: log in with a browser and copy it again")

// NewCookie returns a cookie. Its value is in no error and no output.
func NewCookie(name, value string) *Cookie { return &Cookie{name: name, value: value} }

// OpenWithCookie returns a client of the server at base for a browser's cookie. It sends no request.
func OpenWithCookie(base string, cookie *Cookie, o Options) (*Client, error) {
	c, err := Open(base, o)
	if err != nil {
		return nil, err
	}
	parsed, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("open the UI: %w", cleaned(err))
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("create a cookie jar: %w", err)
	}
	// Browsers send the second one, too, once they have come from the workspace (read in a browser's developer tools).
	var cookies []*http.Cookie
	secure := parsed.Scheme == "https" // http is of a loopback address
	for name, value := range map[string]string{cookie.name: cookie.value, "PRIMARY_DOMAIN": "workspace"} {
		cookies = append(cookies, &http.Cookie{Name: name, Value: value, Path: "/", Secure: secure}) //nolint:gosec // for a client
	}
	jar.SetCookies(parsed, cookies)
	c.cookie = cookie
	c.current.Load().http.Jar = jar
	return c, nil
}

// OpenWithLogin returns a client of the server to which login returns URLs. It logs in at
// the first request, and again whenever the server rejects the session.
func OpenWithLogin(login Login, o Options) (*Client, error) {
	c, err := newClient(o)
	if err != nil {
		return nil, fmt.Errorf("open UI: %w", err)
	}
	c.login = login
	return c, nil
}

func newClient(o Options) (*Client, error) {
	o = o.withDefaults()
	roots, err := roots(os.Getenv("AWS_CA_BUNDLE"))
	if err != nil {
		return nil, err
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("http.DefaultTransport is not an *http.Transport")
	}
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	transport.MaxIdleConnsPerHost = int(o.Concurrency)
	return &Client{o: o, transport: transport, slots: semaphore.NewWeighted(o.Concurrency)}, nil
}

// roots returns the system's certificate authorities and those of the bundle; nil, which
// means the system's, if bundle is "".
func roots(bundle string) (*x509.CertPool, error) {
	if bundle == "" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificate authorities: %w", err)
	}
	text, err := os.ReadFile(bundle)
	if err != nil {
		return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", err)
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE %s: has no PEM certificate", bundle)
	}
	return pool, nil
}

// checkRedirect refuses redirects that would send cookies in clear.
func checkRedirect(next *http.Request, via []*http.Request) error {
	if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("redirect from https to " + next.URL.Scheme)
	}
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	return nil
}

// sameHost does not follow a redirect to another host, which leads to a login.
func sameHost(next *http.Request, via []*http.Request) error {
	if next.URL.Host != via[0].URL.Host {
		return http.ErrUseLastResponse
	}
	return checkRedirect(next, via)
}

// apiBase returns the base of the server's URLs, given one of its pages: EMR opens a
// persistent UI at /shs/, or at the page of an application.
func apiBase(page *url.URL) string {
	base := url.URL{Scheme: page.Scheme, User: page.User, Host: page.Host}
	var path []string
	for _, segment := range strings.Split(strings.Trim(page.EscapedPath(), "/"), "/") {
		switch segment {
		case "history", "jobs", "stages", "storage", "environment", "executors", "SQL", "api", "home", "index.html":
			return base.String() + join(path)
		}
		path = append(path, segment)
	}
	return base.String() + join(path)
}

func join(path []string) string {
	if joined := strings.Join(path, "/"); joined != "" {
		return "/" + joined
	}
	return ""
}
