package tools

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Remote is a server of these tools over HTTP, such as a platform's.
type Remote struct {
	URL           string // with its path
	CACertificate string // PEM file; "" for this machine's CAs
	Token         string
}

// ReadRemoteToken reads the token of a platform's tools from a file.
func ReadRemoteToken(file string) (string, error) {
	return basicauth.ReadSecret(file, "the stack output toolsToken, which is empty without profiler.enabled")
}

// Validate checks the settings, and reports all faults at once. A token is sent over TLS only, or
// to this machine.
func (r Remote) Validate() error {
	var faults []error
	switch u, err := url.Parse(r.URL); {
	case err != nil: // whose text has the URL, and with it a password
		faults = append(faults, errors.New("URL of the tools: must be an https:// URL; take the stack output toolsUrl"))
	case u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil:
		faults = append(faults, fmt.Errorf("URL of the tools %q: must be an https:// URL without user and password; take the stack output "+
			"toolsUrl, which is empty without profiler.enabled", u.Redacted()))
	case u.Scheme == "http":
		if ip, _ := netip.ParseAddr(u.Hostname()); !ip.IsLoopback() {
			faults = append(faults, fmt.Errorf("URL of the tools %q: must be https://, or a loopback address; the token would travel in clear", u))
		}
	}
	if r.Token == "" {
		faults = append(faults, errors.New("token of the tools: must be given; take the stack output toolsToken"))
	}
	return errors.Join(faults...)
}

// connectTimeout bounds how long a connection takes. Where a security group admits no one, no
// answer comes.
const connectTimeout = 10 * time.Second

// newClient returns a client of HTTP that trusts the CA, sends the token to the server alone, and
// waits while the server answers others.
func (r Remote) newClient() (*http.Client, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	trusted := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CACertificate != "" {
		text, err := os.ReadFile(r.CACertificate)
		if err != nil {
			return nil, fmt.Errorf("CA certificate: %w; write it with `pulumi stack output caCertificate`", err)
		}
		trusted.RootCAs = x509.NewCertPool()
		if !trusted.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("CA certificate %s: must have a PEM certificate; take the stack output caCertificate", r.CACertificate)
		}
	}
	return &http.Client{
		Timeout: writeTimeout,
		// Another host would get the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: authorized{r.Token, &http.Transport{
			TLSClientConfig: trusted, Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext,
		}},
	}, nil
}

// authorized adds the token to requests, and repeats those that the server has refused for now.
type authorized struct {
	token string
	next  http.RoundTripper
}

// mostRefusals bounds the repetitions of a request.
const mostRefusals = 60

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	for refused := 0; ; refused++ {
		attempt := r.Clone(r.Context())
		attempt.Header.Set("Authorization", "Bearer "+a.token)
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			attempt.Body = body
		}
		response, err := a.next.RoundTrip(attempt)
		repeatable := r.Body == nil || r.GetBody != nil
		if err != nil || response.StatusCode != http.StatusTooManyRequests || !repeatable || refused == mostRefusals {
			return response, err
		}
		_ = response.Body.Close()
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(retryAfter):
		}
	}
}

// connect opens a session with the server. notify is called with the progress of its calls.
func (r Remote) connect(ctx context.Context, with *http.Client, notify func(*mcp.ProgressNotificationParams)) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: platform.Project + "-relay", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, p *mcp.ProgressNotificationClientRequest) { notify(p.Params) },
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: r.URL, HTTPClient: with, DisableStandaloneSSE: true}, nil)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return nil, fmt.Errorf("connect to %s: %w; only operatorCidrs may, or who runs the commands of `observatory tunnel`", r.URL, err)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", r.URL, err)
	}
	return session, nil
}

// Count returns how many tools the server has. It proves that a client can use the server.
func (r Remote) Count(ctx context.Context) (int, error) {
	with, err := r.newClient()
	if err != nil {
		return 0, err
	}
	_, all, err := r.list(ctx, with)
	return len(all), err
}

// list returns what the server says of itself, and its tools.
func (r Remote) list(ctx context.Context, with *http.Client) (*mcp.InitializeResult, []*mcp.Tool, error) {
	session, err := r.connect(ctx, with, func(*mcp.ProgressNotificationParams) {})
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	var all []*mcp.Tool
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, nil, fmt.Errorf("list the tools of %s: %w", r.URL, err)
		}
		all = append(all, tool)
	}
	return session.InitializeResult(), all, nil
}

// Relay serves the tools of the server on standard input and output, until the client is gone or
// ctx is done: to clients that start their servers, or cannot be told which CA to trust.
func Relay(ctx context.Context, r Remote, log io.Writer) error {
	return relay(ctx, r, &mcp.StdioTransport{}, log)
}

func relay(ctx context.Context, r Remote, to mcp.Transport, log io.Writer) error {
	with, err := r.newClient()
	if err != nil {
		return err
	}
	remote, all, err := r.list(ctx, with)
	if err != nil {
		return err
	}
	local := mcp.NewServer(remote.ServerInfo, &mcp.ServerOptions{
		Instructions: remote.Instructions, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	for _, tool := range all {
		local.AddTool(tool, func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return r.call(ctx, with, call)
		})
	}
	local.AddReceivingMiddleware(misspelled)
	if err := local.Run(ctx, to); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the tools of %s on standard input and output: %w", r.URL, err)
	}
	return nil
}

// call passes a call on, in a session of its own: the server keeps none, and a session that one
// failed request has ended would fail all calls after it.
func (r Remote) call(ctx context.Context, with *http.Client, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	session, err := r.connect(ctx, with, func(p *mcp.ProgressNotificationParams) {
		_ = call.Session.NotifyProgress(ctx, p) // its connection reports what is wrong with it
	})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	// The rest of _meta is between this client and this server.
	params := &mcp.CallToolParams{Name: call.Params.Name}
	if token := call.Params.GetProgressToken(); token != nil {
		params.SetProgressToken(token)
	}
	if len(call.Params.Arguments) > 0 {
		params.Arguments = call.Params.Arguments
	}
	return session.CallTool(ctx, params)
}
