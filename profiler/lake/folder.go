package lake

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Folder is a Store in a local folder. Files whose names start with a dot are internal:
// incomplete files, in the folder .parts, and Swap's lock file.
type Folder struct {
	root *os.Root
	path string
	// folders is held for writing while empty folders are removed.
	folders sync.RWMutex
}

// parts is the folder of incomplete files. One that is older than abandoned was left by a
// killed process.
const (
	parts     = ".parts"
	abandoned = time.Hour
)

// NewFolder opens a folder, creating it if necessary.
func NewFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create the lake's folder: %w", err)
	}
	return OpenFolder(dir)
}

// OpenFolder opens a folder that exists.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the lake's folder: %w", err)
	}
	f := &Folder{root: root, path: dir}
	if err := f.tidy(); err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("remove leftovers of killed processes from the lake's folder: %w", err)
	}
	return f, nil
}

// tidy removes abandoned parts.
func (f *Folder) tidy() error {
	entries, err := fs.ReadDir(f.root.FS(), parts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		info, failed := entry.Info()
		if failed == nil && time.Since(info.ModTime()) > abandoned {
			failed = f.root.Remove(path.Join(parts, entry.Name()))
		}
		if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err // NewFolder names the operation
}

// Close releases the folder.
func (f *Folder) Close() error {
	if err := f.root.Close(); err != nil {
		return fmt.Errorf("close the lake's folder: %w", err)
	}
	return nil
}

// Get opens a file.
func (f *Folder) Get(_ context.Context, key string) (io.ReadCloser, error) {
	file, err := f.root.Open(key)
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", key, f.path, err)
	}
	return file, nil
}

// Put writes a file beside the old one, flushes it to disk and renames it.
func (f *Folder) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	if err := f.put(ctx, key, body); err != nil {
		return fmt.Errorf("write %s in %s: %w", key, f.path, err)
	}
	return nil
}

func (f *Folder) put(ctx context.Context, key string, body io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err // Put names the file
	}
	if err := f.root.MkdirAll(parts, 0o755); err != nil {
		return err // Put names the file
	}
	part := path.Join(parts, rand.Text())
	file, err := f.root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err // Put names the file
	}
	_, err = io.Copy(file, body)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.move(part, key)
	}
	if err != nil {
		_ = f.root.Remove(part)
	}
	return err // Put names the file
}

// move renames a complete file to its key.
func (f *Folder) move(part, key string) error {
	f.folders.RLock()
	defer f.folders.RUnlock()
	if err := f.root.MkdirAll(path.Dir(key), 0o755); err != nil {
		return err // Put names the file
	}
	return f.root.Rename(part, key) // Put names the file
}

// Swap implements Store. It holds the folder's lock file, so that no other process swaps
// between the comparison and the write.
func (f *Folder) Swap(ctx context.Context, key string, old, content []byte) error {
	lock := flock.New(filepath.Join(f.path, ".lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", f.path, err)
	}
	defer func() { _ = lock.Unlock() }()
	current, err := readAll(ctx, f, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		current = nil
	case err != nil:
		return err
	}
	if (old == nil) != (current == nil) || !bytes.Equal(old, current) {
		return fmt.Errorf("replace %s in %s: %w", key, f.path, ErrChanged)
	}
	return f.Put(ctx, key, bytes.NewReader(content))
}

// List walks the deepest folder that holds every key with the prefix.
func (f *Folder) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		dir := path.Clean(path.Dir(prefix + "x"))
		err := fs.WalkDir(f.root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // no such folder, or an entry removed meanwhile
				return nil
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case name == parts:
				return fs.SkipDir
			case entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || !strings.HasPrefix(name, prefix):
				return nil
			case !yield(name, nil):
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield("", fmt.Errorf("list %s in %s: %w", prefix, f.path, err))
		}
	}
}

// Folders lists the subfolders of a folder.
func (f *Folder) Folders(_ context.Context, prefix string) ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), path.Clean(prefix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s in %s: %w", prefix, f.path, err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Delete removes a file, and the folders that it leaves empty.
func (f *Folder) Delete(_ context.Context, key string) error {
	if err := f.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s in %s: %w", key, f.path, err)
	}
	f.folders.Lock()
	defer f.folders.Unlock()
	for dir := path.Dir(key); dir != "." && f.root.Remove(dir) == nil; dir = path.Dir(dir) {
		continue // until one is not empty
	}
	return nil
}
