package panel

import (
	"errors"
	"fmt"
	"strings"
)

// Description is what a panel tells its reader. Every part is a full sentence.
type Description struct {
	Shows string // what the panel shows
	Bad   string // what bad looks like
	Next  string // what to do next
	// EmptyWhenHealthy names the fault that fills a panel which is rightly
	// empty as long as all is well. It stays "" for every other panel.
	EmptyWhenHealthy string
}

// emptyMark begins the line of a rendered description that EmptyWhenHealthy
// makes; it is how a reader of the JSON knows such a panel.
const emptyMark = "**Empty when healthy:** filled by "

// String renders the description as the Markdown that Grafana shows.
func (d Description) String() string {
	lines := []string{"**Shows:** " + d.Shows, "**Bad:** " + d.Bad, "**Next:** " + d.Next}
	if d.EmptyWhenHealthy != "" {
		lines = append(lines, emptyMark+d.EmptyWhenHealthy)
	}
	return strings.Join(lines, "\n\n")
}

// EmptyWhenHealthy reads the fault back from a rendered description; it is ""
// for a panel that should never be empty.
func EmptyWhenHealthy(description string) string {
	_, fault, found := strings.Cut(description, emptyMark)
	if !found {
		return ""
	}
	fault, _, _ = strings.Cut(fault, "\n")
	return fault
}

func (d Description) validate() error {
	var faults []error
	for _, part := range []struct{ name, text string }{{"Shows", d.Shows}, {"Bad", d.Bad}, {"Next", d.Next}} {
		switch {
		case part.text == "":
			faults = append(faults, fmt.Errorf("description.%s is empty: write one sentence", part.name))
		case !strings.HasSuffix(part.text, "."):
			faults = append(faults, fmt.Errorf("description.%s %q is not a sentence: end it with a full stop", part.name, part.text))
		}
	}
	if d.EmptyWhenHealthy != "" && !strings.HasSuffix(d.EmptyWhenHealthy, ".") {
		faults = append(faults, fmt.Errorf("description.EmptyWhenHealthy %q does not end with a full stop", d.EmptyWhenHealthy))
	}
	return errors.Join(faults...)
}
