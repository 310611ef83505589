package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Store keeps artifacts by content: <Dir>/<sha256>/<name>.
type Store struct{ Dir string }

// DefaultStore returns $XDG_CACHE_HOME/emr-observatory/artifacts, or this operating
// system's equivalent (os.UserCacheDir).
func DefaultStore() (Store, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Store{}, fmt.Errorf("find cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return Store{Dir: filepath.Join(cache, "emr-observatory", "artifacts")}, nil
}

// Path returns the artifact's file after verifying its content. The error says
// what is wrong with the file, and the command that puts it right.
func (s Store) Path(a Artifact) (string, error) {
	path := s.pathOf(a.SHA256, a.Name)
	got, _, err := Sum(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("artifact %s is not in the store (%s): %s", a.label(), path, a.Build.remedy())
	case err != nil:
		return "", fmt.Errorf("read artifact %s: %w", a.label(), err)
	case got != a.SHA256:
		return "", fmt.Errorf("artifact %s in the store (%s) has SHA-256 %s, the lock says %s: %s",
			a.label(), path, got, a.SHA256, a.Build.remedy())
	}
	return path, nil
}

// Install copies artifacts of the lock's development build, which are the same on every
// architecture, from the store to files: the file by the artifact's name. It installs
// those that it can, and reports every failure.
func (s Store) Install(files map[string]string) error {
	locked, err := Locked(Development)
	if err != nil {
		return err
	}
	var errs []error
	for name, file := range files {
		errs = append(errs, s.install(locked, name, file))
	}
	return errors.Join(errs...)
}

func (s Store) install(locked []Artifact, name, file string) error {
	found, err := pick(locked, []string{name})
	if err != nil {
		return err
	}
	path, err := s.Path(found[0])
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("install %s: %w", name, err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return fmt.Errorf("install %s: %w", name, err)
	}
	return nil
}

func (s Store) pathOf(sum, name string) string { return filepath.Join(s.Dir, sum, name) }

// put moves a finished file into the store, under its own sum.
func (s Store) put(file, sum, name string) error {
	target := s.pathOf(sum, name)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("create folder for artifact %s: %w", name, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	if err := os.Rename(file, target); err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	return nil
}

// scratch creates a folder on the store's file system, so that put can rename.
func (s Store) scratch() (string, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", fmt.Errorf("create store %s: %w", s.Dir, err)
	}
	dir, err := os.MkdirTemp(s.Dir, ".work-")
	if err != nil {
		return "", fmt.Errorf("create work folder in store %s: %w", s.Dir, err)
	}
	return dir, nil
}

// Sum returns the SHA-256 of a file, in lower-case hex, and its size.
func Sum(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	digest := sha256.New()
	size, err = io.Copy(digest, f)
	return hex.EncodeToString(digest.Sum(nil)), size, err
}
