package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// Client calls a machine's agent over its unix socket.
type Client struct {
	name string
	http *http.Client
}

// NewClient returns a client of the named machine, whose agent listens on socket.
func NewClient(name, socket string) *Client {
	return &Client{name: name, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}}
}

// Run runs a program in the machine to its end; cancelling ctx kills it.
func (c *Client) Run(ctx context.Context, e Exec) (ExecResult, error) {
	var res ExecResult
	err := c.call(ctx, "/exec", e, &res)
	return res, err
}

// Must runs a program; a non-zero exit code is an error.
func (c *Client) Must(ctx context.Context, e Exec) error {
	var res ExecResult
	if err := c.call(ctx, "/exec", e, &res); err != nil {
		return err
	}
	if res.ExitCode != 0 {
		return fmt.Errorf("machine %s: %s ended with %d: %s", c.name, strings.Join(e.Argv, " "), res.ExitCode, strings.TrimSpace(res.Tail))
	}
	return nil
}

// StartUnit starts a unit, as systemctl start does.
func (c *Client) StartUnit(ctx context.Context, unit string) error {
	return c.StartUnitWith(ctx, UnitStart{Name: unit})
}

// StartUnitWith starts a unit with additional environment variables.
func (c *Client) StartUnitWith(ctx context.Context, u UnitStart) error {
	return c.call(ctx, "/units/start", u, nil)
}

// StopUnit stops a unit.
func (c *Client) StopUnit(ctx context.Context, unit string) error {
	return c.call(ctx, "/units/stop", unit, nil)
}

// Units lists the machine's units.
func (c *Client) Units(ctx context.Context) ([]Unit, error) {
	var units []Unit
	err := c.call(ctx, "/units", struct{}{}, &units)
	return units, err
}

// Forward forwards the machine's TCP port f.Port to f.To, in place of an earlier forward.
// An empty f.To closes the port.
func (c *Client) Forward(ctx context.Context, f Forward) error {
	return c.call(ctx, "/forward", f, nil)
}

// ReplyThrough has the machine answer on a TCP port through another machine.
func (c *Client) ReplyThrough(ctx context.Context, r ReplyThrough) error {
	return c.call(ctx, "/reply-through", r, nil)
}

// call posts in as JSON and decodes the response into out, which may be nil.
func (c *Client) call(ctx context.Context, path string, in, out any) error {
	if err := c.post(ctx, path, in, out); err != nil {
		return fmt.Errorf("machine %s: %w", c.name, err)
	}
	return nil
}

func (c *Client) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://machine"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		return errors.New(strings.TrimSpace(string(text)))
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
