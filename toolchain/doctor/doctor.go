// Package doctor checks whether this machine has what building the project,
// running its local cloud and testing it need. It installs and changes nothing.
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

// Options says what to examine.
type Options struct {
	Project    string       // the checkout, whose go.mod requires a Go version
	State      string       // folder of the local cloud; it need not exist
	Caches     string       // "" = the user's cache folder
	OSRelease  string       // "" = /etc/os-release; selects the package manager in remedies
	Namespaces func() error // tries to create a region's namespaces; see region.CheckPermitted
	Running    bool         // the local cloud is running: its memory and disk are in use already
}

// Check is the result of one check.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Found  string `json:"found"`
	Rule   string `json:"rule"`
	Remedy string `json:"remedy,omitempty"`    // set only if OK is false
	Tests  bool   `json:"testsOnly,omitempty"` // only tests need it
}

// answered returns the check with what was found, which is right, or else with the error.
func (c Check) answered(found string, err error) Check {
	if c.Found, c.OK = found, err == nil; err != nil {
		c.Found = err.Error()
	}
	return c
}

// Error describes a failed check in full.
func (c Check) Error() string {
	return fmt.Sprintf("%s: found %s, %s; %s", c.Name, c.Found, c.Rule, c.Remedy)
}

// Report is all checks, always in the same order.
type Report struct {
	OK     bool    `json:"ok"` // every check passed, except those that only tests need
	Checks []Check `json:"checks"`
}

// Examine runs all checks concurrently.
func Examine(ctx context.Context, o Options) Report {
	m := machine{Options: o, system: readSystem(o.OSRelease)}
	checks := []func(context.Context) Check{
		m.goToolchain, m.jdk, m.maven, m.python, m.nodePython, m.git, m.namespaces, m.disk, m.memory, m.shellcheck, m.chromium, m.venv,
	}
	r := Report{OK: true, Checks: make([]Check, len(checks))}
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() { r.Checks[i] = check(ctx) })
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

// Err joins the failed checks, except those that only tests need.
func (r Report) Err() error {
	var errs []error
	for _, c := range r.Checks {
		if !c.OK && !c.Tests {
			errs = append(errs, c)
		}
	}
	return errors.Join(errs...)
}

// Render writes the checks as a table, followed by the remedies of those that failed.
func (r Report) Render(out io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"", "check", "found", "rule"})
	for _, c := range r.Checks {
		t.AppendRow(table.Row{c.verdict(), c.Name, c.Found, c.Rule})
	}
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 3, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft},
	})
	t.Render()
	for _, c := range r.Checks {
		if !c.OK {
			fmt.Fprintf(out, "%s: %s\n", c.Name, c.Remedy)
		}
	}
}

// verdict returns the check's first column in the table.
func (c Check) verdict() string {
	switch {
	case c.OK:
		return "ok"
	case c.Tests:
		return "missing (tests only)"
	}
	return "missing"
}

// machine is what the checks examine.
type machine struct {
	Options
	system system
}
