package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/phases"
)

// Log is an event log: one file, or the rolled files of a folder.
type Log struct {
	files     fs.FS
	names     []string // of the files, in the order of their events
	compacted bool     // the history server has dropped events of ended jobs
}

// Names of a folder of rolled files and of its files
// (org.apache.spark.deploy.history.RollingEventLogFilesWriter, EventLogFileReader).
const (
	rolledFolder = "eventlog_v2_"
	compacted    = ".compact"
)

var rolledFile = regexp.MustCompile(`^events_([0-9]+)_`)

// Open finds the files of a log: name is a file, or a folder of rolled files. It
// reads nothing yet.
func Open(files fs.FS, name string) (*Log, error) {
	if !strings.HasPrefix(path.Base(name), rolledFolder) {
		return &Log{files: files, names: []string{name}}, nil
	}
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil, fmt.Errorf("list the files of event log %s: %w", name, err)
	}
	log := &Log{files: files}
	numbers := map[string]int{}
	for _, entry := range entries {
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
			log.names, log.compacted = log.names[i:], true
			break
		}
	}
	return log, nil
}

// Read hands the events to take, in the order of the log. Where the log itself shows
// that it lacks events, a phases.Lost is among them.
func (l *Log) Read(take func(phases.Event)) (Report, error) {
	var all Report
	if l.compacted {
		take(phases.Lost{Reason: "the history server compacted the log"})
	}
	for i, name := range l.names {
		report, err := l.readFile(name, take)
		all.Events += report.Events
		all.Skipped += report.Skipped
		all.Bytes += report.Bytes
		all.Unread = cmp.Or(all.Unread, report.Unread)
		if err != nil {
			return all, err
		}
		if report.Truncated == "" {
			continue
		}
		all.Truncated = report.Truncated
		if i < len(l.names)-1 {
			take(phases.Lost{Reason: name + " is cut off"})
		}
	}
	return all, nil
}

func (l *Log) readFile(name string, take func(phases.Event)) (Report, error) {
	file, err := l.files.Open(name)
	if err != nil {
		return Report{}, fmt.Errorf("open event log %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return Report{}, fmt.Errorf("event log %s: %w", name, errFolder)
	}
	text, closeText, err := decompress(file)
	if err != nil {
		return Report{}, fmt.Errorf("read event log %s: %w", name, err)
	}
	defer closeText()
	return Lines(text, name, take)
}

var errFolder = errors.New("it is a folder, and none of rolled files (eventlog_v2_…): name one log in it")
