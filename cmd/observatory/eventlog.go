package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/phases/s3files"
)

// eventLog is an event log that a command was given.
type eventLog struct {
	*eventlog.Log
	shown string // its full path
}

// errNoEventLog says what an event log is.
var errNoEventLog = errors.New("this is no Spark event log, which is a file that begins with {\"Event\":\"SparkListenerLogStart\" " +
	"(spark.eventLog.dir has one for each application; it may be compressed), a folder eventlog_v2_… of such files, " +
	"or the zip of one that a history server gives (/api/v1/applications/ID/logs)")

// openEventLog opens the log that a path or an s3:// URI names.
func openEventLog(ctx context.Context, name string) (eventLog, error) {
	log := eventLog{shown: name}
	var err error
	if bucket, key, ok := s3files.Split(name); ok {
		config, err := local.AWSConfig(ctx)
		if err != nil {
			return log, err
		}
		files := s3files.New(ctx, config, bucket)
		if strings.EqualFold(path.Ext(key), ".zip") {
			return log.openZip(files, key)
		}
		log.Log, err = eventlog.Open(files, key)
		return log, err
	}
	if log.shown, err = filepath.Abs(name); err != nil {
		return log, fmt.Errorf("find event log %s: %w", name, err)
	}
	if _, err := os.Stat(log.shown); errors.Is(err, fs.ErrNotExist) {
		return log, fmt.Errorf("event log %s: no such file or folder", log.shown)
	}
	if isZip(log.shown) {
		return log.openZip(os.DirFS(filepath.Dir(log.shown)), filepath.Base(log.shown))
	}
	log.Log, err = eventlog.Open(os.DirFS(filepath.Dir(log.shown)), filepath.Base(log.shown))
	if err != nil {
		err = fmt.Errorf("event log %s: %w", log.shown, err)
	}
	return log, err
}

// isZip reports whether a file is a zip. What cannot be opened is none: reading it says why.
func isZip(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, len(eventlog.ZipMagic))
	_, err = io.ReadFull(file, begin)
	return err == nil && string(begin) == eventlog.ZipMagic
}

// openZip opens the only log in a zip.
func (l eventLog) openZip(files fs.FS, name string) (eventLog, error) {
	logs, err := eventlog.Find(files, name)
	switch {
	case err != nil:
		err = fmt.Errorf("event log %s: %w", l.shown, err)
	case len(logs) == 0:
		err = fmt.Errorf("event log %s: no file in this zip is one: %w", l.shown, errNoEventLog)
	case len(logs) > 1:
		var names []string
		for _, log := range logs {
			names = append(names, path.Base(log.Name))
		}
		err = fmt.Errorf("event log %s: this zip has %d: %s: unpack it and name one", l.shown, len(logs), strings.Join(names, ", "))
	default:
		l.Log = logs[0]
	}
	return l, err
}

// explain names the log in an error of reading it, and says what a log is if nothing in it
// was an event.
func (l eventLog) explain(ctx context.Context, report eventlog.Report, err error) error {
	var path *fs.PathError
	_, _, inS3 := s3files.Split(l.shown)
	unread := ctx.Err() != nil || errors.As(err, &path) || inS3 // a request may have failed
	if unread || report.Events+report.Skipped > 0 {
		return fmt.Errorf("event log %s: %w", l.shown, err)
	}
	return fmt.Errorf("event log %s: %w: %w", l.shown, err, errNoEventLog)
}
