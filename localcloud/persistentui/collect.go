package persistentui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names of Spark's event logs (EventLogFileWriter, RollingEventLogFilesWriter).
const (
	inProgress    = ".inprogress"
	rolledPrefix  = "eventlog_v2_" // of the folder of a rolled log
	compacted     = ".compact"     // suffix of what Spark's compaction has written
	statusPrefix  = "appstatus_"   // of the empty file in it whose name says whether the application has ended
	unfinishedDir = ".partial-"    // of a folder until its first copy is complete; Spark skips hidden names
)

// Collect copies the data that a cluster's event logs in HDFS have gained since the last
// copy. It is safe to call at any time; copies of logs that are gone from HDFS stay.
func (s *Service) Collect(ctx context.Context, clusterID string, hdfs HDFS) error {
	lock, _ := s.collecting.LoadOrStore(clusterID, &sync.Mutex{})
	mutex, _ := lock.(*sync.Mutex)
	mutex.Lock()
	defer mutex.Unlock()
	if err := s.collect(ctx, s.logDir(clusterID), hdfs); err != nil {
		return fmt.Errorf("collect the event logs of cluster %s: %w", clusterID, err)
	}
	return nil
}

// CollectLast is the last Collect, before the cluster's HDFS goes away. The next response of
// the UI lists everything that it has copied.
func (s *Service) CollectLast(ctx context.Context, clusterID string, hdfs HDFS) error {
	err := s.Collect(ctx, clusterID, hdfs)
	s.ended.Store(clusterID, time.Now())
	return err
}

func (s *Service) collect(ctx context.Context, local string, hdfs HDFS) error {
	logs, err := hdfs.list(ctx, hdfs.EventLog)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(local, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, log := range logs {
		from, to := path.Join(hdfs.EventLog, log.Name), filepath.Join(local, log.Name)
		switch {
		case !plainName(log.Name):
		case log.Type == "FILE":
			errs = append(errs, s.collectFile(ctx, hdfs, log, from, to))
		case strings.HasPrefix(log.Name, rolledPrefix):
			errs = append(errs, s.collectRolled(ctx, hdfs, from, to))
		}
	}
	return errors.Join(errs...)
}

// plainName reports whether a name can be a log's: it is not hidden, and not a path.
func plainName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && filepath.Base(name) == name
}

// collectFile copies a file's new data. If the log has lost its suffix .inprogress, the copy
// is completed before it loses its own.
func (s *Service) collectFile(ctx context.Context, hdfs HDFS, file fileStatus, from, to string) error {
	target := to
	if _, err := os.Stat(to); errors.Is(err, os.ErrNotExist) && !strings.HasSuffix(to, inProgress) {
		target = to + inProgress
	}
	if err := s.appendRest(ctx, hdfs, file, from, target, strings.HasSuffix(from, inProgress)); err != nil {
		return err
	}
	if target == to {
		return nil
	}
	return os.Rename(target, to)
}

// appendRest appends a file's new data to its copy. open reports that the file may still be
// written to. Logs only grow: a closed file that is shorter than its copy is a different one of
// the same name.
func (s *Service) appendRest(ctx context.Context, hdfs HDFS, file fileStatus, from, to string, open bool) error {
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer copied.Close()
	info, err := copied.Stat()
	if err != nil {
		return err
	}
	have := info.Size()
	if !open && file.Length < have {
		if err := copied.Truncate(0); err != nil {
			return err
		}
		have = 0
	}
	more := int64(0)
	if file.Length > have || open && file.Length > 0 {
		if more, err = copyNew(ctx, hdfs, file, from, copied, have); err != nil {
			return err
		}
	}
	// A log's modification time is when its application ended. HDFS does not update that of a
	// file that is being written.
	switch {
	case !open:
		return os.Chtimes(to, time.Time{}, file.modified())
	case more > 0:
		now := s.Clock.Now()
		return os.Chtimes(to, time.Time{}, now)
	}
	return nil
}

// copyNew appends what a file has beyond the bytes that its copy has, and returns how much.
// HDFS lists a file that is being written with an earlier length, and refuses to open it
// beyond that; opened before, it can be read to where its writer has flushed it.
func copyNew(ctx context.Context, hdfs HDFS, file fileStatus, from string, to io.Writer, have int64) (int64, error) {
	offset := min(have, file.Length-1)
	rest, err := hdfs.open(ctx, from, offset)
	if err != nil {
		return 0, err
	}
	defer rest.Close()
	if _, err = io.CopyN(io.Discard, rest, have-offset); errors.Is(err, io.EOF) {
		return 0, nil
	}
	more := int64(0)
	if err == nil {
		more, err = io.Copy(to, rest)
	}
	if err != nil {
		return more, fmt.Errorf("read hdfs://%s: %w", from, err)
	}
	return more, nil
}

// collectRolled copies the folder of a rolled event log from HDFS to the local folder to. A
// first copy goes to a hidden folder, which is renamed when it is complete. The files of
// events come first and the application's status last: a copy that says "ended" has all
// events. Files that Spark's compaction has deleted are deleted here, too.
func (s *Service) collectRolled(ctx context.Context, hdfs HDFS, from, to string) error {
	files, err := hdfs.list(ctx, from)
	if err != nil {
		return err
	}
	dir := to
	if _, err := os.Stat(to); errors.Is(err, os.ErrNotExist) {
		dir = filepath.Join(filepath.Dir(to), unfinishedDir+filepath.Base(to))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	slices.SortStableFunc(files, func(a, b fileStatus) int { return rank(a) - rank(b) })
	written := writtenTo(files)
	names := map[string]bool{}
	for _, f := range files {
		if !plainName(f.Name) || f.Type != "FILE" {
			continue
		}
		names[f.Name] = true
		if err := s.appendRest(ctx, hdfs, f, path.Join(from, f.Name), filepath.Join(dir, f.Name), f.Name == written); err != nil {
			return err
		}
	}
	if err := removeOthers(dir, names); err != nil || dir == to {
		return err
	}
	return os.Rename(dir, to)
}

// rolledFile matches the files of events in a rolled log, but not those that Spark's
// compaction writes.
var rolledFile = regexp.MustCompile(`^events_([0-9]+)_`)

// writtenTo returns the name of the file that the driver writes to: the last one of a rolled
// log whose application has not ended; "" if it has.
func writtenTo(files []fileStatus) (name string) {
	last := 0
	for _, f := range files {
		if strings.HasPrefix(f.Name, statusPrefix) && !strings.HasSuffix(f.Name, inProgress) {
			return ""
		}
		if found := rolledFile.FindStringSubmatch(f.Name); found != nil && !strings.HasSuffix(f.Name, compacted) {
			if number, err := strconv.Atoi(found[1]); err == nil && number > last {
				last, name = number, f.Name
			}
		}
	}
	return name
}

// rank returns a file's rank in the order in which a rolled log is copied.
func rank(f fileStatus) int {
	if strings.HasPrefix(f.Name, statusPrefix) {
		return 1
	}
	return 0
}

// removeOthers removes the files of a folder whose names are not in names.
func removeOthers(dir string, names map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !names[e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
