// Package doctor finds out what this machine lacks for building the project,
// running its local cloud and testing it. It looks and tries; it installs and
// changes nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Options say where to look.
type Options struct {
	Project    string       // the checkout, whose go.mod names the Go version
	State      string       // folder of the local cloud; it need not exist
	Caches     string       // "" = the user's cache folder
	OSRelease  string       // "" = /etc/os-release; it decides how remedies are worded
	Namespaces func() error // tries to make a region; see region.Try
	Running    bool         // the local cloud runs: its memory and disk are taken already
}

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Found  string `json:"found"`
	Rule   string `json:"rule"`
	Remedy string `json:"remedy,omitempty"` // only where OK is false
	Tests  bool   `json:"testsOnly,omitempty"`
}

// Error says all four parts of a check that failed.
func (c Check) Error() string {
	return fmt.Sprintf("%s: found %s, %s; %s", c.Name, c.Found, c.Rule, c.Remedy)
}

// Report is everything that was looked at, always in the same order.
type Report struct {
	OK     bool    `json:"ok"` // nothing is lacking that more than the tests need
	Checks []Check `json:"checks"`
}

// Examine looks at everything at once.
func Examine(ctx context.Context, o Options) Report {
	m := machine{Options: o, system: readSystem(o.OSRelease)}
	looks := []func(context.Context) Check{
		m.goToolchain, m.jdk, m.maven, m.python, m.nodePython, m.git, m.namespaces, m.disk, m.memory, m.shellcheck, m.venv,
	}
	r := Report{OK: true, Checks: make([]Check, len(looks))}
	var wg sync.WaitGroup
	for i, look := range looks {
		wg.Go(func() { r.Checks[i] = look(ctx) })
	}
	wg.Wait()
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.OK {
			c.Remedy = ""
		}
		r.OK = r.OK && (c.OK || c.Tests)
	}
	return r
}

// Err joins what is lacking, except for what only tests need.
func (r Report) Err() error {
	var faults []error
	for _, c := range r.Checks {
		if !c.OK && !c.Tests {
			faults = append(faults, c)
		}
	}
	return errors.Join(faults...)
}

// Render writes the checks as a table, and below it how to mend what failed.
func (r Report) Render(out io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"", "what", "found", "rule"})
	for _, c := range r.Checks {
		t.AppendRow(table.Row{c.verdict(), c.Name, c.Found, c.Rule})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}})
	t.Render()
	for _, c := range r.Checks {
		if !c.OK {
			fmt.Fprintf(out, "%s: %s\n", c.Name, c.Remedy)
		}
	}
}

func (c Check) verdict() string {
	switch {
	case c.OK:
		return "ok"
	case c.Tests:
		return "missing (tests only)"
	}
	return "missing"
}

type machine struct {
	Options
	system system
}
