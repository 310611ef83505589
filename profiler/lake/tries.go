package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Tries are how often reading an attempt was begun and not ended: the process was killed
// meanwhile, perhaps by the attempt's own history, which needed more memory than there is.
type Tries struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last"` // when the last one began
}

func triesKey(id tables.Attempt) string { return triesFolder + attemptName(id) + ".json" }

// Tries returns how often reading an attempt was begun and not ended. An object that cannot be
// decoded counts as none: it says nothing about the attempt.
func (l *Lake) Tries(ctx context.Context, id tables.Attempt) (Tries, error) {
	raw, err := readAll(ctx, l.store, l.prefix+triesKey(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Tries{}, nil
	}
	if err != nil {
		return Tries{}, fmt.Errorf("read how often %s was tried: %w", attemptName(id), err)
	}
	var tries Tries
	if json.Unmarshal(raw, &tries) != nil {
		tries = Tries{}
	}
	return tries, nil
}

// BeginTry records that an attempt is about to be read, before anything of it is. The process
// must hold the lease.
func (l *Lake) BeginTry(ctx context.Context, id tables.Attempt, tries Tries) error {
	raw, err := json.Marshal(tries)
	if err == nil {
		err = l.put(ctx, triesKey(id), bytes.NewReader(append(raw, '\n')))
	}
	if err != nil {
		return fmt.Errorf("record that %s is tried: %w", attemptName(id), err)
	}
	return nil
}

// EndTry records that reading an attempt has ended, with whatever result.
func (l *Lake) EndTry(ctx context.Context, id tables.Attempt) error {
	if err := l.remove(ctx, triesKey(id)); err != nil {
		return fmt.Errorf("record that %s was tried: %w", attemptName(id), err)
	}
	return nil
}
