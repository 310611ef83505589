// Package keptlogs copies the logs of a failed test out of its folders, which are
// deleted when it ends.
package keptlogs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// DirEnv is the environment variable with the folder for the logs of failed
// tests. If it is not set, that is observatory-failed-tests in the folder for
// temporary files.
const DirEnv = "OBSERVATORY_FAILED_TESTS"

// Copy copies every *.log file below root if the test has failed.
func Copy(t testing.TB, root string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	base := os.Getenv(DirEnv)
	if base == "" {
		base = filepath.Join(os.TempDir(), "observatory-failed-tests")
	}
	to := filepath.Join(base, strings.ReplaceAll(t.Name(), "/", "_")+time.Now().Format("-20060102T150405"))
	copied := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".log" {
			return nil //nolint:nilerr // a folder may be another account's, or gone
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Logf("keep log: %v", err)
			return nil
		}
		target := filepath.Join(to, relative)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		copied++
		return os.WriteFile(target, body, 0o600)
	})
	if err != nil {
		t.Logf("keep logs of %s: %v", root, err)
	}
	t.Logf("%d logs kept in %s", copied, to)
}
