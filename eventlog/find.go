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
// from other files by its beginning. A file that cannot be read counts as a log, and so does
// a folder, with ErrUnlisted: reading it reports the error, and the other logs are found. A
// log of which a finished copy is there is left out. dir may also be a log.
func Find(files fs.FS, dir string) ([]*Log, error) {
	f := finder{files: files}
	entries, err := fs.ReadDir(files, dir)
	if err != nil || len(entries) == 0 {
		if info, statErr := fs.Stat(files, dir); statErr == nil && !info.IsDir() {
			return []*Log{openFile(files, file{dir, info})}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list event logs in %s: %w", dir, err)
		}
	}
	f.folder(dir, entries, 0)
	slices.SortFunc(f.found, func(a, b *Log) int { return strings.Compare(a.Name, b.Name) })
	return f.found, nil
}

type finder struct {
	files fs.FS
	found []*Log
}

func (f *finder) folder(dir string, entries []fs.DirEntry, depth int) {
	if strings.HasPrefix(path.Base(dir), rolledFolder) {
		f.found = append(f.found, openFolder(f.files, dir, entries)...)
		return
	}
	names := map[string]bool{}
	for _, entry := range entries {
		names[entry.Name()] = true
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(entry fs.DirEntry) bool {
		name := entry.Name()
		finished := strings.TrimSuffix(name, inProgress)
		return hidden(name) || finished != name && names[finished]
	})
	f.logs(dir, entries)
	for _, entry := range entries {
		if !entry.IsDir() || depth == maxFolders {
			continue
		}
		name := path.Join(dir, entry.Name())
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

// logs adds the logs among the files of a folder.
func (f *finder) logs(dir string, entries []fs.DirEntry) {
	var others []file
	for _, one := range filesOf(f.files, dir, entries) {
		if isNamed(one) {
			f.found = append(f.found, openFile(f.files, one))
		} else {
			others = append(others, one)
		}
	}
	parts := lookInto(f.files, others)
	logs := delivered(f.files, dir, parts)
	f.found = append(f.found, logs...)
	for _, p := range parts {
		if !p.isDelivered() && (p.isLog || p.err != nil) {
			f.found = append(f.found, openFile(f.files, p.file))
		}
	}
}
