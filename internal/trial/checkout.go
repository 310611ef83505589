package trial

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// CopyCheckout copies the checkout, as a fresh clone would contain it, to a new
// folder, so that make targets write there and not to the checkout.
func CopyCheckout(t testing.TB, to string) {
	t.Helper()
	from := Root(t)
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch relative {
		case ".git", "bin", ".state", "bench.json":
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, info.Mode().Perm())
	})
	require.NoError(t, err, "copy the checkout")
}
