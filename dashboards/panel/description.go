package panel

import (
	"errors"
	"fmt"
	"strings"
)

// emptyMark starts the line of EmptyWhenHealthy in a rendered description, by
// which EmptyWhenHealthy recognizes such a panel.
const emptyMark = "**Empty when healthy:** filled by "

// description renders the help text as the Markdown that Grafana shows.
func (s Spec) description() string {
	lines := []string{"**Shows:** " + s.Shows, "**Bad:** " + s.Bad, "**Next:** " + s.Next}
	if s.EmptyWhenHealthy != "" {
		lines = append(lines, emptyMark+s.EmptyWhenHealthy)
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

func (s Spec) validateHelp() error {
	var errs []error
	for _, part := range []struct{ name, text string }{{"Shows", s.Shows}, {"Bad", s.Bad}, {"Next", s.Next}} {
		switch {
		case part.text == "":
			errs = append(errs, fmt.Errorf("description.%s is empty: write one sentence", part.name))
		case !strings.HasSuffix(part.text, "."):
			errs = append(errs, fmt.Errorf("description.%s %q is not a sentence: end it with a full stop", part.name, part.text))
		}
	}
	if s.EmptyWhenHealthy != "" && !strings.HasSuffix(s.EmptyWhenHealthy, ".") {
		errs = append(errs, fmt.Errorf("description.EmptyWhenHealthy %q does not end with a full stop", s.EmptyWhenHealthy))
	}
	return errors.Join(errs...)
}
