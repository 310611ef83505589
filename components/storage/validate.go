package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/components/internal/fault"
	"github.com/emr-observatory/emr-observatory/platform"
)

// longestDays: ten years; more is a mistake of units.
const longestDays = 3650

// Validate reports every fault of the arguments at once.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("storage: arguments are nil; pass *storage.Args")
	}
	var l fault.List
	for _, r := range a.retentions() {
		l.Unless(r.keep >= time.Hour && r.keep <= longestDays*day, "storage."+r.path, r.keep.String(),
			fmt.Sprintf("must be 1h to %d days: the server's own retention", longestDays), "set it, e.g. to 336h")
	}
	l.Unless(a.LogRetentionDays >= 1 && a.LogRetentionDays <= longestDays, "storage.logRetentionDays", a.LogRetentionDays,
		fmt.Sprintf("must be 1 to %d", longestDays), "set it, e.g. to 30")
	l.Unless(a.ArtifactRetentionDays >= 0 && a.ArtifactRetentionDays <= longestDays, "storage.artifactRetentionDays", a.ArtifactRetentionDays,
		fmt.Sprintf("must be 0 (for ever) to %d", longestDays), "leave it 0, or set more days than a cluster lives")
	for i, e := range a.Expirations {
		a.validateExpiration(&l, i, e)
	}
	l.Tags("storage.tags", a.Tags, "Name")
	return l.Join()
}

// retention is how long a server keeps what lies under its prefix.
type retention struct {
	path   string
	prefix platform.Prefix
	keep   time.Duration
}

func (a *Args) retentions() []retention {
	return []retention{
		{"tempoRetention", platform.PrefixTempo, a.TempoRetention},
		{"pyroscopeRetention", platform.PrefixPyroscope, a.PyroscopeRetention},
	}
}

func (a *Args) validateExpiration(l *fault.List, i int, e Expiration) {
	at := fmt.Sprintf("storage.expirations[%d]", i)
	l.Unless(e.Days >= 1 && e.Days <= longestDays, at+".days", e.Days, fmt.Sprintf("must be 1 to %d", longestDays), "set it")
	l.Unless(!strings.HasPrefix(e.Prefix, "/") && len(e.Prefix) <= 200, at+".prefix", e.Prefix, "must be a key prefix of at most 200 bytes without leading slash", "write e.g. lake/scratch/")
	l.Unless(!slices.ContainsFunc(a.Expirations[:i], func(o Expiration) bool { return o.Prefix == e.Prefix }), at+".prefix", e.Prefix, "must be named once", "keep one of the rules")
	for _, r := range a.retentions() {
		l.Unless(!e.takesBlocks(r.prefix, r.keep), at, e, fmt.Sprintf("must not delete blocks under %s before %s has passed, and a day", r.prefix, inDays(r.keep)),
			"name a narrower prefix, or let the server's retention do it")
	}
}
