package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// Find returns the event logs in a folder and in those within it, by name. It tells a log
// from other files by its beginning. A file that cannot be read counts as a log, so that
// reading it reports the error and the other logs are found. A log of which a finished copy
// is there is left out. dir may also be a log.
func Find(files fs.FS, dir string) ([]*Log, error) {
	f := finder{files: files}
	entries, err := fs.ReadDir(files, dir)
	if err != nil || len(entries) == 0 {
		if info, statErr := fs.Stat(files, dir); statErr == nil && !info.IsDir() {
			return []*Log{openFile(files, dir, info)}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list event logs in %s: %w", dir, err)
		}
	}
	if err := f.folder(dir, entries, 0); err != nil {
		return nil, err
	}
	slices.SortFunc(f.found, func(a, b *Log) int { return strings.Compare(a.Name, b.Name) })
	return f.found, nil
}

type finder struct {
	files fs.FS
	found []*Log
}

func (f *finder) folder(dir string, entries []fs.DirEntry, depth int) error {
	log, err := openFolder(f.files, dir, entries)
	if err != nil {
		return err
	}
	if log != nil {
		f.found = append(f.found, log)
		if strings.HasPrefix(path.Base(dir), rolledFolder) {
			return nil
		}
	}
	names := map[string]bool{}
	for _, entry := range entries {
		names[entry.Name()] = true
	}
	for _, entry := range entries {
		name := entry.Name()
		switch finished := strings.TrimSuffix(name, inProgress); {
		case hidden(name), finished != name && names[finished]:
		case entry.IsDir() && depth < maxFolders:
			below, err := fs.ReadDir(f.files, path.Join(dir, name))
			if err != nil {
				return fmt.Errorf("list event logs in %s: %w", path.Join(dir, name), err)
			}
			if err := f.folder(path.Join(dir, name), below, depth+1); err != nil {
				return err
			}
		case !entry.IsDir() && (log == nil || !slices.Contains(log.names, path.Join(dir, name))):
			if err := f.file(path.Join(dir, name), entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// file adds a file if it is an event log.
func (f *finder) file(name string, entry fs.DirEntry) error {
	info, err := infoOf(f.files, name, entry)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // finished and renamed, or expired, since it was listed
	}
	if err != nil {
		return fmt.Errorf("find event logs: %w", err)
	}
	if info.IsDir() {
		return nil // a link to a folder
	}
	is := applicationFile.MatchString(path.Base(name))
	if !is {
		if is, err = f.looksLikeLog(name); errors.Is(err, fs.ErrNotExist) {
			return nil // as above; a listing of S3 does not show it
		}
	}
	if is || err != nil {
		f.found = append(f.found, openFile(f.files, name, info))
	}
	return nil
}

// looksLikeLog reports whether a file begins with an event.
func (f *finder) looksLikeLog(name string) (bool, error) {
	file, err := f.files.Open(name)
	if err != nil {
		return false, err // the caller names the file
	}
	defer func() { _ = file.Close() }()
	from := &stored{ctx: context.Background(), in: file}
	text, closeText, err := decompress(from)
	if errors.Is(err, errCodec) {
		return true, nil // reading it says what to do
	}
	if err != nil {
		return false, err
	}
	defer closeText()
	begin := make([]byte, 64)
	n, err := io.ReadFull(text, begin)
	if from.err != nil {
		return false, cmp.Or(from.err, err)
	}
	return bytes.HasPrefix(bytes.TrimLeft(begin[:n], " \t\r\n"), []byte(`{"Event":`)), nil
}
