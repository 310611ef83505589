package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// maxFolders is how deep Find looks into folders. Databricks delivers in the fourth.
const maxFolders = 8

// applicationFile is how Spark names a log: by the id that YARN, Kubernetes, a standalone
// master or local mode gave, with the attempt and the codec. It spares Find a look into
// the file; what else is in a folder of logs Find opens.
var applicationFile = regexp.MustCompile(`^(` + platform.YARNApplicationID +
	`|app-[0-9]{14}-[0-9]+|spark-[0-9a-f]{32}|local-[0-9]+)(_[0-9]+)?` +
	`(\.(zstd|lz4|snappy|lzf))?(\.inprogress)?$`)

// ErrUnlisted is of a folder within a folder of logs that cannot be listed.
var ErrUnlisted = errors.New("list event logs")

// Find returns the event logs in a folder and in those within it, by name. It tells a log
// from other files by its beginning, and reads zips like folders. A file that cannot be read
// counts as a log, and so does a folder, with ErrUnlisted: reading it reports the error, and
// the other logs are found. A log of which a finished copy is there is left out. dir may also
// be a log or a zip.
func Find(files fs.FS, dir string) ([]*Log, error) {
	logs, _, err := Search(files, dir)
	return logs, err
}

// Search is Find, and tells what it took for no log.
func Search(files fs.FS, dir string) ([]*Log, Ignored, error) {
	f := finder{files: files}
	entries, err := fs.ReadDir(files, dir)
	if err != nil || len(entries) == 0 {
		if info, statErr := fs.Stat(files, dir); statErr == nil && !info.IsDir() {
			f.file(file{dir, info})
			return f.found, f.ignored, nil
		}
		if err != nil {
			return nil, Ignored{}, fmt.Errorf("list event logs in %s: %w", dir, err)
		}
	}
	f.folder(dir, entries, 0)
	slices.SortFunc(f.found, func(a, b *Log) int { return strings.Compare(a.Name, b.Name) })
	return f.found, f.ignored, nil
}

type finder struct {
	files   fs.FS
	found   []*Log
	ignored Ignored
}

// file adds the only file that was asked for: its log even if it is none, so that reading it
// says why.
func (f *finder) file(only file) {
	if !isNamed(only) && look(f.files, only.name).isZip {
		f.zip(only.name, 0)
		return
	}
	f.found = append(f.found, openFile(f.files, only))
}

func (f *finder) folder(dir string, entries []fs.DirEntry, depth int) {
	if strings.HasPrefix(path.Base(dir), rolledFolder) {
		f.found = append(f.found, openFolder(f.files, dir, entries)...)
		return
	}
	f.inside(dir, entries, depth)
}

// inside adds the logs in a folder that is none of rolled files.
func (f *finder) inside(dir string, entries []fs.DirEntry, depth int) {
	names := map[string]bool{}
	for _, entry := range entries {
		names[entry.Name()] = true
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(entry fs.DirEntry) bool {
		name := entry.Name()
		finished := strings.TrimSuffix(name, inProgress)
		isCopy := finished != name && names[finished]
		if isCopy {
			f.ignored.add(path.Join(dir, name), "its finished copy is there")
		}
		return hidden(name) || isCopy
	})
	f.logs(dir, entries, depth)
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if !entry.IsDir() || f.tooDeep(name, depth) {
			continue
		}
		below, err := fs.ReadDir(f.files, name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since it was listed
		case err != nil:
			f.found = append(f.found, &Log{Name: name, err: fmt.Errorf("%w in %s: %w", ErrUnlisted, name, err)})
		default:
			f.folder(name, below, depth+1)
		}
	}
}

// tooDeep reports whether a folder or zip at a depth is not looked into.
func (f *finder) tooDeep(name string, depth int) bool {
	if depth == maxFolders {
		f.ignored.add(name, fmt.Sprintf("folders are read %d deep", maxFolders))
	}
	return depth == maxFolders
}

// logs adds the logs among the files of a folder.
func (f *finder) logs(dir string, entries []fs.DirEntry, depth int) {
	var others []file
	for _, one := range filesOf(f.files, dir, entries) {
		if isNamed(one) {
			f.found = append(f.found, openFile(f.files, one))
		} else {
			others = append(others, one)
		}
	}
	parts := slices.DeleteFunc(lookInto(f.files, others), func(p part) bool {
		if p.isZip && !f.tooDeep(p.name, depth) {
			f.zip(p.name, depth+1)
		}
		return p.isZip
	})
	logs := delivered(f.files, dir, parts)
	f.found = append(f.found, logs...)
	for _, p := range parts {
		switch {
		case p.isDelivered():
		case p.isLog || p.err != nil:
			f.found = append(f.found, openFile(f.files, p.file))
		case p.size() == 0:
			f.ignored.add(p.name, "it is empty")
		default:
			f.ignored.add(p.name, "it does not begin with an event of Spark")
		}
	}
}

// zip adds the logs in a zip: one or more files, as in a folder, or the files of one rolled log,
// with their folder or without.
func (f *finder) zip(name string, depth int) {
	within := finder{files: zipped{f.files, name}}
	entries, err := fs.ReadDir(within.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone since it was listed
	case err != nil:
		f.found = append(f.found, &Log{Name: name, err: fmt.Errorf("event log %s: %w", name, err)})
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return rolledFile.MatchString(e.Name()) }):
		log := &Log{Name: name, files: within.files}
		log.add(log.rolled(filesOf(within.files, name, entries)))
		f.found = append(f.found, log)
	default:
		within.inside(name, entries, depth)
		if len(within.found) == 0 {
			f.ignored.add(name, "no file in this zip is an event log")
			return
		}
		f.found = append(f.found, within.found...)
		f.ignored.merge(within.ignored)
	}
}
