package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Log is an event log: one file, or the files of a folder.
type Log struct {
	Name     string    // of the file or folder
	Size     int64     // of its files, bytes as they are stored
	Modified time.Time // when the latest of them was written
	// InProgress tells that Spark has not closed the log: the application runs, or its
	// driver was killed.
	InProgress bool
	// Compacted tells that the history server has dropped events of ended jobs.
	Compacted bool

	files fs.FS
	names []string // of the files, in the order of their events
}

// Names of a folder of rolled files and of its files
// (org.apache.spark.deploy.history.RollingEventLogFilesWriter, EventLogFileReader).
const (
	rolledFolder = "eventlog_v2_"
	statusFile   = "appstatus_"
	compacted    = ".compact"
	inProgress   = ".inprogress"
)

var rolledFile = regexp.MustCompile(`^events_([0-9]+)_`)

// Open finds the files of a log: name is a file, or a folder of rolled files. It
// reads nothing yet.
func Open(files fs.FS, name string) (*Log, error) {
	if strings.HasPrefix(path.Base(name), rolledFolder) {
		return openRolled(files, name)
	}
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, fmt.Errorf("open event log %s: %w", name, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("event log %s: %w", name, errFolder)
	}
	return &Log{
		Name: name, Size: info.Size(), Modified: info.ModTime(), InProgress: strings.HasSuffix(name, inProgress),
		files: files, names: []string{name},
	}, nil
}

var errFolder = errors.New("it is a folder, and none of rolled files (eventlog_v2_…): name one log in it")

func openRolled(files fs.FS, name string) (*Log, error) {
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil, fmt.Errorf("list the files of event log %s: %w", name, err)
	}
	log := &Log{Name: name, files: files}
	numbers := map[string]int{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), statusFile) && strings.HasSuffix(entry.Name(), inProgress) {
			log.InProgress = true
		}
		if match := rolledFile.FindStringSubmatch(entry.Name()); match != nil {
			file := path.Join(name, entry.Name())
			if numbers[file], err = strconv.Atoi(match[1]); err != nil {
				return nil, fmt.Errorf("event log %s: %w", file, err)
			}
			log.names = append(log.names, file)
		}
	}
	if len(log.names) == 0 {
		return nil, fmt.Errorf("event log %s: no file events_… in it", name)
	}
	slices.SortFunc(log.names, func(a, b string) int {
		return cmp.Or(numbers[a]-numbers[b], len(a)-len(b)) // the compacted one after its original
	})
	// A compacted file replaces all before it.
	for i, name := range slices.Backward(log.names) {
		if strings.HasSuffix(name, compacted) {
			log.names, log.Compacted = log.names[i:], true
			break
		}
	}
	return log, nil
}

// Read hands the events to take, in the order of the log. Where the log itself shows
// that it lacks events, a Lost is among them.
func (l *Log) Read(ctx context.Context, take func(Event) error) (Report, error) {
	lines := lines{decoder: &decoder{words: words{}}, take: take}
	if l.Compacted {
		if err := take(&Lost{Cause: Compacted, Reason: l.Name + ": the history server compacted the log"}); err != nil {
			return lines.report, err
		}
	}
	for i, name := range l.names {
		before := lines.report.Truncated
		if err := l.readFile(ctx, name, &lines); err != nil {
			return lines.report, err
		}
		if lines.report.Truncated != before && i < len(l.names)-1 {
			if err := take(&Lost{Cause: CutOff, Reason: name + " is cut off"}); err != nil {
				return lines.report, err
			}
		}
	}
	return lines.report, nil
}

func (l *Log) readFile(ctx context.Context, name string, lines *lines) error {
	file, err := l.files.Open(name)
	if err != nil {
		return fmt.Errorf("open event log %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	text, closeText, err := decompress(file)
	if err != nil {
		return fmt.Errorf("read event log %s: %w", name, err)
	}
	defer closeText()
	return lines.read(ctx, text, name)
}
