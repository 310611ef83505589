// Package eventlogtest reads event logs for tests, which look at all events of a log at
// once.
package eventlogtest

import (
	"context"
	"io/fs"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// Read returns the events of a log and the reader's report.
func Read(files fs.FS, name string) (events []eventlog.Event, report eventlog.Report, err error) {
	log, err := eventlog.Open(files, name)
	if err != nil {
		return nil, report, err
	}
	report, err = log.Read(context.Background(), func(event eventlog.Event) error {
		events = append(events, kept(event))
		return nil
	})
	return events, report, err
}

// kept returns a copy of an event whose memory the reader uses again.
func kept(event eventlog.Event) eventlog.Event {
	switch e := event.(type) {
	case *eventlog.TaskStart:
		return new(*e)
	case *eventlog.TaskEnd:
		end := *e
		if e.Metrics != nil {
			end.Metrics = new(*e.Metrics)
		}
		if e.Peaks != nil {
			end.Peaks = new(*e.Peaks)
		}
		return &end
	}
	return event
}
