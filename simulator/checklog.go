package simulator

import (
	"slices"
	"sync"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// checkLog keeps the violations that the last check of every resource found.
type checkLog struct {
	mu         sync.Mutex
	violations map[string][]string // by URN
}

// record replaces the violations of a resource.
func (c *checkLog) record(urn string, violations []property.Violation) {
	lines := make([]string, 0, len(violations))
	for _, v := range violations {
		lines = append(lines, urn+": "+v.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violations[urn] = lines
}

// size returns the number of resources that were checked.
func (c *checkLog) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.violations)
}

// all returns the violations of all resources, sorted.
func (c *checkLog) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, lines := range c.violations {
		out = append(out, lines...)
	}
	slices.Sort(out)
	return out
}
