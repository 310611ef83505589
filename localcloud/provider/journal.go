package provider

import (
	"sort"
	"sync"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// journal keeps what the last check of every resource found.
type journal struct {
	lenient bool

	mu   sync.Mutex
	seen map[string][]string // by URN
}

// note writes faults down and gives those that the engine is to be told.
func (j *journal) note(urn string, faults []catalog.Fault) []catalog.Fault {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := make([]string, 0, len(faults))
	for _, f := range faults {
		lines = append(lines, urn+": "+f.String())
	}
	j.seen[urn] = lines
	if j.lenient {
		return nil
	}
	return faults
}

func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.seen)
}

func (j *journal) faults() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, lines := range j.seen {
		out = append(out, lines...)
	}
	sort.Strings(out)
	return out
}
