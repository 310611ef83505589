package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// ErrNotSent means that an event log could not be downloaded, so another run may succeed. A
// log that was downloaded but is damaged will not improve.
var ErrNotSent = errors.New("download failed")

// errNoLog is the cause if a download does not have what was asked for.
var errNoLog = errors.New("the download lacks the application's event log")

// Archived downloads the application's event log from its history server and calls read with
// it. The download is deleted when read returns. The error is read's own, or says why there
// is no log.
func (a Application) Archived(ctx context.Context, read func(*eventlog.Log) error) error {
	archive, err := a.History.UI(a.ID.ApplicationID, a.ID.AttemptID).Logs(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	log, err := a.in(ctx, archive)
	if err == nil {
		err = read(log)
	}
	return errors.Join(err, archive.Close())
}

// in returns the application's event log in a download.
func (a Application) in(ctx context.Context, archive *history.Archive) (own *eventlog.Log, err error) {
	logs, err := eventlog.Find(archive, ".")
	if err != nil {
		return nil, fmt.Errorf("find the event log in the download: %w", err)
	}
	for _, log := range logs {
		found := Identify(ctx, log, a.ID.Cluster)
		if found.Err == nil && found.ID == a.ID {
			own = log
		}
	}
	if own == nil {
		return nil, errNoLog
	}
	return own, nil
}
