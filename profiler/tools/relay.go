package tools

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Remote is a server of these tools over HTTP, such as a platform's.
type Remote struct {
	URL           string // with its path
	CACertificate string // PEM file; "" for this machine's CAs
	Token         string
}

// Validate checks the settings, and reports all faults at once. A token is sent over TLS only, or
// to this machine.
func (r Remote) Validate() error {
	var faults []error
	switch u, err := url.Parse(r.URL); {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil:
		faults = append(faults, errors.New("tools_url: must be an https:// URL without user and password; take the stack output toolsUrl"))
	case u.Scheme == "http":
		if ip, _ := netip.ParseAddr(u.Hostname()); !ip.IsLoopback() {
			faults = append(faults, fmt.Errorf("tools_url: %s: the token would travel in clear: must be https://, or a loopback address", u))
		}
	}
	if r.Token == "" {
		faults = append(faults, errors.New("token_file: tools_url needs one: give a file with the stack output toolsToken"))
	}
	return errors.Join(faults...)
}

// connect opens a session with the server. notify is called with the progress of its calls.
func (r Remote) connect(ctx context.Context, notify func(context.Context, *mcp.ProgressNotificationParams)) (*mcp.ClientSession, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	trusted := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CACertificate != "" {
		text, err := os.ReadFile(r.CACertificate)
		if err != nil {
			return nil, fmt.Errorf("ca_certificate_file: %w", err)
		}
		trusted.RootCAs = x509.NewCertPool()
		if !trusted.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca_certificate_file: %s: must have a PEM certificate; take the stack output caCertificate", r.CACertificate)
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: platform.Project + "-relay", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(ctx context.Context, p *mcp.ProgressNotificationClientRequest) { notify(ctx, p.Params) },
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: r.URL, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Timeout: writeTimeout, Transport: authorized{r.Token, &http.Transport{
			TLSClientConfig: trusted, Proxy: http.ProxyFromEnvironment,
		}}},
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", r.URL, err)
	}
	return session, nil
}

// authorized adds the token to requests.
type authorized struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return a.next.RoundTrip(r)
}

// Count returns how many tools the server has. It proves that a client can use the server.
func (r Remote) Count(ctx context.Context) (int, error) {
	session, err := r.connect(ctx, func(context.Context, *mcp.ProgressNotificationParams) {})
	if err != nil {
		return 0, err
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("list the tools of %s: %w", r.URL, err)
	}
	return len(listed.Tools), nil
}

// Relay serves the tools of the server on standard input and output, until the client is gone or
// ctx is done: to clients that start their servers, or cannot be told which CA to trust.
func Relay(ctx context.Context, r Remote, log io.Writer) error {
	return relay(ctx, r, &mcp.StdioTransport{}, log)
}

func relay(ctx context.Context, r Remote, to mcp.Transport, log io.Writer) error {
	var local *mcp.Server
	session, err := r.connect(ctx, func(ctx context.Context, p *mcp.ProgressNotificationParams) {
		for client := range local.Sessions() {
			_ = client.NotifyProgress(ctx, p) // its connection reports what is wrong with it
		}
	})
	if err != nil {
		return err
	}
	defer session.Close()
	remote := session.InitializeResult()
	local = mcp.NewServer(remote.ServerInfo, &mcp.ServerOptions{
		Instructions: remote.Instructions, Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the tools of %s: %w", r.URL, err)
		}
		local.AddTool(tool, func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			params := &mcp.CallToolParams{Meta: call.Params.Meta, Name: call.Params.Name}
			if len(call.Params.Arguments) > 0 {
				params.Arguments = call.Params.Arguments
			}
			return session.CallTool(ctx, params)
		})
	}
	local.AddReceivingMiddleware(misspelled)
	if err := local.Run(ctx, to); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the tools of %s on standard input and output: %w", r.URL, err)
	}
	return nil
}
