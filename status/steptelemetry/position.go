package steptelemetry

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/statefile"
	"github.com/emr-observatory/emr-observatory/status"
)

// positionsFile is the file of positions in the folder that outlives the process.
const positionsFile = "steps.json"

// position says which steps of a cluster were read. Steps that are older than the
// newest one and not open are done with.
type position struct {
	Newest  string    `json:"newest"`  // id of the newest step; "" = none was read
	Created time.Time `json:"created"` // when it was created
	Open    []string  `json:"open"`    // steps that may still need a span, the oldest first
	Seen    time.Time `json:"seen"`    // when the cluster was last observed
}

// covers reports whether a step, and all that are older, were read before.
func (p position) covers(step status.Step, now time.Time) bool {
	if p.Newest == "" {
		return step.Created.Before(now.Add(-horizon))
	}
	return step.ID == p.Newest || step.Created.Before(p.Created)
}

// concerns reports whether a step that is covered may still need a span.
func (p position) concerns(step status.Step, now time.Time) bool {
	if p.Newest == "" {
		return step.Ended == nil || step.Ended.After(now.Add(-horizon))
	}
	return slices.Contains(p.Open, step.ID)
}

// positions are those of all clusters, by id.
type positions map[string]position

// loadPositions reads the positions of an earlier process. An empty folder name keeps
// nothing.
func loadPositions(folder string) (positions, error) {
	read := positions{}
	if folder == "" {
		return read, nil
	}
	if err := statefile.Load(filepath.Join(folder, positionsFile), &read); err != nil {
		return positions{}, fmt.Errorf("read which steps have a span: %w", err)
	}
	return read, nil
}

// save replaces the file, so that a process that is killed leaves the old one or the
// new one.
func (p positions) save(folder string) error {
	if folder == "" {
		return nil
	}
	if err := statefile.Save(filepath.Join(folder, positionsFile), p); err != nil {
		return fmt.Errorf("write which steps have a span: %w", err)
	}
	return nil
}
