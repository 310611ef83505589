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

// Client asks a machine's agent over the unix socket that it listens on.
type Client struct {
	name string
	http *http.Client
}

// NewClient makes the client of the machine name whose agent listens on socket.
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

// Must is Run for programs whose failure is an error.
func (c *Client) Must(ctx context.Context, e Exec) error {
	res, err := c.Run(ctx, e)
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("%s: %s ended with %d: %s", c.name, strings.Join(e.Argv, " "), res.ExitCode, strings.TrimSpace(res.Tail))
	}
	return err
}

// StartUnit and StopUnit are systemctl start and stop.
func (c *Client) StartUnit(ctx context.Context, unit string) error {
	return c.StartUnitWith(ctx, UnitStart{Name: unit})
}

// StartUnitWith is StartUnit with variables that no file holds.
func (c *Client) StartUnitWith(ctx context.Context, u UnitStart) error {
	return c.call(ctx, "/units/start", u, nil)
}

// StopUnit ends a unit.
func (c *Client) StopUnit(ctx context.Context, unit string) error {
	return c.call(ctx, "/units/stop", unit, nil)
}

// Units lists the machine's units.
func (c *Client) Units(ctx context.Context) ([]Unit, error) {
	var units []Unit
	err := c.call(ctx, "/units", struct{}{}, &units)
	return units, err
}

// Forward opens a port of the machine onto another address.
func (c *Client) Forward(ctx context.Context, f Forward) error {
	return c.call(ctx, "/forward", f, nil)
}

func (c *Client) call(ctx context.Context, path string, in, out any) error {
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
		return fmt.Errorf("machine %s: %w", c.name, err)
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
