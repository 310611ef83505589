package panel

import (
	"errors"
	"fmt"
	"strings"
)

// Description is a panel's help text. Every part is a full sentence.
type Description struct {
	Shows string // what the panel shows
	Bad   string // what bad looks like
	Next  string // what to do next
	// EmptyWhenHealthy names the fault that fills a panel which is empty while
	// all is well. It is "" for every other panel.
	EmptyWhenHealthy string
}

// emptyMark starts the line of EmptyWhenHealthy in a rendered description, by
// which EmptyWhenHealthy recognizes such a panel.
const emptyMark = "**Empty when healthy:** filled by "

// String renders the description as the Markdown that Grafana shows.
func (d Description) String() string {
	lines := []string{"**Shows:** " + d.Shows, "**Bad:** " + d.Bad, "**Next:** " + d.Next}
	if d.EmptyWhenHealthy != "" {
		lines = append(lines, emptyMark+d.EmptyWhenHealthy)
	}
	return strings.Join(lines, "\n\n")
}

// EmptyWhenHealthy parses the fault from a rendered description. It is "" for a
// panel that should never be empty.
func EmptyWhenHealthy(description string) string {
	_, fault, found := strings.Cut(description, emptyMark)
	if !found {
		return ""
	}
	fault, _, _ = strings.Cut(fault, "\n")
	return fault
}

func (d Description) validate() error {
	var errs []error
	for _, part := range []struct{ name, text string }{{"Shows", d.Shows}, {"Bad", d.Bad}, {"Next", d.Next}} {
		switch {
		case part.text == "":
			errs = append(errs, fmt.Errorf("description.%s is empty: write one sentence", part.name))
		case !strings.HasSuffix(part.text, "."):
			errs = append(errs, fmt.Errorf("description.%s %q is not a sentence: end it with a full stop", part.name, part.text))
		}
	}
	if d.EmptyWhenHealthy != "" && !strings.HasSuffix(d.EmptyWhenHealthy, ".") {
		errs = append(errs, fmt.Errorf("description.EmptyWhenHealthy %q does not end with a full stop", d.EmptyWhenHealthy))
	}
	return errors.Join(errs...)
}
