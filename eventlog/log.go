// Package eventlog reads the event logs of Spark: plain or compressed, one file or a
// folder of rolled files, complete or cut off, as Spark, EMR and Databricks lay them out.
// It hands over one typed event at a time and keeps none; its memory does not grow with
// the log, nor with the longest line.
//
// It leaves out what this project does not use, and judges nothing: packages phases and
// fold do.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
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
	// Context is the id of the SparkContext that Databricks gives, "" of other logs.
	Context string

	files fs.FS
	names []string // of the files, in the order of their events
	gaps  []gap
	err   error // the log cannot be read
}

// gap is where rolled files are missing.
type gap struct {
	before int // index in Log.names; their number: the missing file follows the last
	text   string
}

// Open finds the files of a log: name is a file, a folder of rolled files, or one of
// those that Databricks delivers. It reads nothing yet.
func Open(files fs.FS, name string) (*Log, error) {
	info, statErr := fs.Stat(files, name)
	if statErr == nil && !info.IsDir() {
		return openFile(files, file{name, info}), nil
	}
	// A bucket has folders, but none has an entry of its own.
	entries, err := fs.ReadDir(files, name)
	if statErr != nil && (err != nil || len(entries) == 0) {
		return nil, fmt.Errorf("open event log %s: %w", name, statErr)
	}
	if err != nil {
		return nil, fmt.Errorf("list the files of event log %s: %w", name, err)
	}
	logs := openFolder(files, name, entries)
	switch len(logs) {
	case 0:
		return nil, fmt.Errorf("event log %s: %w", name, errFolder)
	case 1:
		return logs[0], logs[0].err
	}
	var all []string
	for _, log := range logs {
		all = append(all, log.Name)
	}
	return nil, fmt.Errorf("event log %s: it has files of %d logs: %s: move those of one to a folder of its own",
		name, len(logs), strings.Join(all, ", "))
}

var errFolder = errors.New("it is a folder, and none of rolled files (eventlog_v2_…): name one log in it")

func openFile(files fs.FS, f file) *Log {
	log := &Log{Name: f.name, InProgress: strings.HasSuffix(f.name, inProgress), files: files}
	log.add([]file{f})
	return log
}

// openFolder opens the logs whose files are those of a folder; none if it is none.
func openFolder(files fs.FS, dir string, entries []fs.DirEntry) []*Log {
	found := filesOf(files, dir, entries)
	if strings.HasPrefix(path.Base(dir), rolledFolder) {
		log := &Log{Name: dir, files: files}
		log.add(log.rolled(found))
		return []*Log{log}
	}
	return delivered(files, dir, lookInto(files, slices.DeleteFunc(found, isNamed)))
}

// add adds files whose events follow those of the files before.
func (l *Log) add(files []file) {
	for _, f := range files {
		l.names = append(l.names, f.name)
		if f.info == nil {
			continue
		}
		l.Size += f.info.Size()
		if f.info.ModTime().After(l.Modified) {
			l.Modified = f.info.ModTime()
		}
	}
}

// file is a file of a folder.
type file struct {
	name string      // with its folder
	info fs.FileInfo // nil if it cannot be had: opening the file says why
}

// isNamed reports whether the name alone is that of a log.
func isNamed(f file) bool { return applicationFile.MatchString(path.Base(f.name)) }

// filesOf returns the regular files among the entries of a folder, also those that a link
// names: to open a pipe would wait for its writer. It leaves out what is gone since it was
// listed, and links to what is not there, unless their names are those of logs.
func filesOf(files fs.FS, dir string, entries []fs.DirEntry) (found []file) {
	for _, entry := range entries {
		one := file{name: path.Join(dir, entry.Name())}
		var err error
		one.info, err = infoOf(files, one.name, entry)
		isLog := isNamed(one) && entry.Type()&fs.ModeSymlink != 0
		switch {
		case entry.IsDir(), errors.Is(err, fs.ErrNotExist) && !isLog:
		case err != nil:
			found = append(found, file{name: one.name})
		case one.info.Mode().IsRegular():
			found = append(found, one)
		}
	}
	return found
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
	if l.err != nil {
		return lines.report, l.err
	}
	if l.Compacted {
		if err := take(&Lost{Cause: Compacted, Reason: l.Name + ": the history server compacted the log"}); err != nil {
			return lines.report, err
		}
	}
	if len(l.names) == 0 {
		return lines.report, fmt.Errorf("event log %s: %w", l.Name, ErrEmpty)
	}
	var denied []error
	for i, name := range l.names {
		if err := l.takeGaps(i, lines); err != nil {
			return lines.report, err
		}
		err := l.readFile(ctx, i, name, lines)
		if errors.Is(err, errDenied) {
			denied = append(denied, err)
			err = lines.take(&Lost{Cause: Denied, Reason: err.Error()})
		}
		if err != nil {
			return lines.report, err
		}
	}
	if len(denied) == len(l.names) {
		return lines.report, errors.Join(denied...)
	}
	for _, gap := range l.gaps {
		if gap.before == len(l.names) {
			lines.report.Following = gap.text
		}
	}
	return lines.report, lines.none()
}

// errDenied is of a file that may not be opened. It costs no event of the log's other files.
var errDenied = errors.New("open event log")

// takeGaps says which files are missing before one.
func (l *Log) takeGaps(before int, lines *lines) error {
	for _, gap := range l.gaps {
		if gap.before == before {
			if err := lines.take(&Lost{Cause: Absent, Reason: gap.text}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Log) readFile(ctx context.Context, i int, name string, lines *lines) error {
	file, err := l.files.Open(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w %s: %w", errDenied, name, err)
	case err != nil:
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
