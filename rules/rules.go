package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// All lists the rules in the order of the reference: those of applications, then those of
// hosts, clusters and the platform.
func All() []Rule {
	all := slices.Concat(stages(), shuffles(), queries(), executors(), applications(), machines())
	for i := range all {
		all[i].Query, all[i].Recipe = all[i].query(), all[i].recipe()
	}
	return all
}

// Get returns a rule. It panics if there is none with the id.
func Get(id ID) Rule {
	rule, ok := Find(id)
	if !ok {
		panic(fmt.Sprintf("no rule %q", id))
	}
	return rule
}

// Find returns a rule; ok is false if there is none with the id, which may be of a newer version.
func Find(id ID) (rule Rule, ok bool) {
	rule, ok = table[id]
	return rule, ok
}

var table = func() map[ID]Rule {
	all := map[ID]Rule{}
	for _, rule := range All() {
		all[rule.ID] = rule
	}
	return all
}()

// Version identifies the contents of the table: it changes with every limit, source and text.
func Version() string {
	raw, err := json.Marshal([]any{All(), Severities()})
	if err != nil {
		panic(fmt.Sprintf("encode the rules: %v", err)) // they are numbers and texts
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:6])
}

// What an application shows: the least costly findings beyond these are only counted.
const (
	MostOfRule = 20        // findings of one rule
	MostBytes  = 256 << 10 // of the texts of all findings
)

// DefaultShufflePartitions is Spark's default of spark.sql.shuffle.partitions.
const DefaultShufflePartitions = 200

// Severity is how urgent a finding is.
type Severity string

// Severities. Info is of what could not be judged.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// Law says how much a finding must have cost to be of a severity: both a share of the
// application's wall-clock time and a length in milliseconds, or, of findings with the basis
// core, core-hours.
type Law struct {
	Severity            Severity
	Share, Milliseconds float64
	CoreHours           float64
	Sources             []Source
}

// Severities returns the laws, the most urgent first. What costs less than the last one is no
// finding. Findings with the basis event have the severity of their rule's limit.
func Severities() []Law {
	return []Law{
		{Critical, 0.02, 10_000, 10, []Source{{"sparkforensics", "threshold tables: the share; the length and the core-hours are own"}}},
		{Warning, 0.005, 1000, 1, []Source{{"sparkforensics", "threshold tables: the share; the length and the core-hours are own"}}},
	}
}
