package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Log is an event log: one file, or the files of a folder. Which application and attempt
// it is of, its first events say (ApplicationStart), not its name.
type Log struct {
	Name     string    // of the file or folder
	Size     int64     // of its files, bytes as they are stored
	Modified time.Time // when the latest of them was written
	// InProgress tells that Spark has not closed the log: the application runs, or its
	// driver was killed. Logs that Databricks delivers do not tell.
	InProgress bool
	// Compacted tells that the history server has dropped events of ended jobs.
	Compacted bool

	files fs.FS
	names []string // of the files, in the order of their events
	gaps  []gap
}

// gap is where rolled files are missing.
type gap struct {
	before int // index in Log.names
	text   string
}

// Open finds the files of a log: name is a file, a folder of rolled files, or one of
// those that Databricks delivers. It reads nothing yet.
func Open(files fs.FS, name string) (*Log, error) {
	info, statErr := fs.Stat(files, name)
	if statErr == nil && !info.IsDir() {
		return openFile(files, name, info), nil
	}
	// A bucket has folders, but none has an entry of its own.
	entries, err := fs.ReadDir(files, name)
	if statErr != nil && (err != nil || len(entries) == 0) {
		return nil, fmt.Errorf("open event log %s: %w", name, statErr)
	}
	if err != nil {
		return nil, fmt.Errorf("list the files of event log %s: %w", name, err)
	}
	log, err := openFolder(files, name, entries)
	if err == nil && log == nil {
		err = fmt.Errorf("event log %s: %w", name, errFolder)
	}
	return log, err
}

var errFolder = errors.New("it is a folder, and none of rolled files (eventlog_v2_…): name one log in it")

func openFile(files fs.FS, name string, info fs.FileInfo) *Log {
	return &Log{
		Name: name, Size: info.Size(), Modified: info.ModTime(), InProgress: strings.HasSuffix(name, inProgress),
		files: files, names: []string{name},
	}
}

// openFolder opens a folder that is one log; nil if it is none.
func openFolder(files fs.FS, name string, entries []fs.DirEntry) (*Log, error) {
	log := &Log{Name: name, files: files}
	var chosen []fs.DirEntry
	switch {
	case strings.HasPrefix(path.Base(name), rolledFolder):
		chosen = log.rolled(entries)
	default:
		chosen = delivered(entries)
	}
	if len(chosen) == 0 && !strings.HasPrefix(path.Base(name), rolledFolder) {
		return nil, nil // a folder that is no log is no error
	}
	for _, entry := range chosen {
		info, err := infoOf(files, path.Join(name, entry.Name()), entry)
		if err != nil {
			return nil, fmt.Errorf("open event log %s: %w", name, err)
		}
		log.names = append(log.names, path.Join(name, entry.Name()))
		log.Size += info.Size()
		if info.ModTime().After(log.Modified) {
			log.Modified = info.ModTime()
		}
	}
	return log, nil
}

// ErrEmpty is the error of a rolled log without a file of events. In S3, the first appears
// once Spark has closed it.
var ErrEmpty = errors.New("no file events_… in it")

// infoOf returns what a listing says of a file, or of the target of a link. For an object
// in S3, Stat would be a GET, which is slow, and which fails if the object is archived.
func infoOf(files fs.FS, name string, entry fs.DirEntry) (fs.FileInfo, error) {
	if entry.Type()&fs.ModeSymlink != 0 {
		return fs.Stat(files, name)
	}
	return entry.Info()
}

// Read hands the events to take, in the order of the log. Where the log itself shows
// that it lacks events, a Lost is among them. An error of take ends the reading.
func (l *Log) Read(ctx context.Context, take func(Event) error) (Report, error) {
	lines := newLines(take)
	if l.Compacted {
		if err := take(&Lost{Cause: Compacted, Reason: l.Name + ": the history server compacted the log"}); err != nil {
			return lines.report, err
		}
	}
	if len(l.names) == 0 {
		return lines.report, fmt.Errorf("event log %s: %w", l.Name, ErrEmpty)
	}
	for i, name := range l.names {
		if err := l.readFile(ctx, i, name, lines); err != nil {
			return lines.report, err
		}
	}
	return lines.report, lines.none()
}

func (l *Log) readFile(ctx context.Context, i int, name string, lines *lines) error {
	for _, gap := range l.gaps {
		if gap.before == i {
			if err := lines.take(&Lost{Cause: Absent, Reason: gap.text}); err != nil {
				return err
			}
		}
	}
	file, err := l.files.Open(name)
	if err != nil {
		return fmt.Errorf("open event log %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	from := &stored{ctx: ctx, in: file}
	text, closeText, err := decompress(from)
	if err != nil {
		return fmt.Errorf("read event log %s: %w", name, err)
	}
	defer closeText()
	lines.cut = false
	if err := lines.read(text, from, name); err != nil {
		return err
	}
	if lines.cut && i < len(l.names)-1 {
		return lines.take(&Lost{Cause: CutOff, Reason: name + " is cut off"})
	}
	return nil
}
