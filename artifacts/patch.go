package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// patchFile is the name of a patch's description, in a folder of the collector's sources
// whose other files are added to the patched module.
const patchFile = "patch.json"

// patch changes a module that the collector links: From becomes To in one file. The
// module's version is the one that go.mod selects and go.sum verifies.
type patch struct {
	Module string `json:"module"` // import path
	File   string `json:"file"`   // path in the module
	From   string `json:"from"`   // occurs once
	To     string `json:"to"`
}

// applyPatches applies the patches in the folders of a module, whose go.mod then replaces
// each patched module by that folder. It fails for a patch that no longer fits.
func applyPatches(ctx context.Context, dir string, environment []string) error {
	described, err := filepath.Glob(filepath.Join(dir, "*", patchFile))
	if err != nil {
		return err
	}
	for _, file := range described {
		var p patch
		content, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(content, &p)
		}
		if err == nil {
			err = p.apply(ctx, filepath.Dir(file), environment)
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", patchFile, filepath.Base(filepath.Dir(file)), err)
		}
	}
	return nil
}

// apply completes a folder with the module's files, of which one is changed.
func (p patch) apply(ctx context.Context, folder string, environment []string) error {
	dir := filepath.Dir(folder)
	download, err := command(ctx, dir, environment, "go", "mod", "download", "-json", p.Module)
	if err != nil {
		return err
	}
	var said strings.Builder
	download.Stderr = &said
	answer, failed := download.Output()
	var original struct{ Dir, Error string }
	if err := json.Unmarshal(answer, &original); err != nil || failed != nil {
		return fmt.Errorf("go mod download %s: %w: %s%s", p.Module, cmp.Or(failed, err), original.Error, tail([]byte(said.String())))
	}
	if err := copyModule(original.Dir, folder); err != nil {
		return err
	}
	changed := filepath.Join(folder, filepath.FromSlash(p.File))
	content, err := os.ReadFile(changed)
	if err != nil {
		return err
	}
	if n := strings.Count(string(content), p.From); n != 1 {
		return fmt.Errorf("%s: %q occurs %d times: it must occur once: see what this version of the module has there, and change %s",
			p.File, p.From, n, patchFile)
	}
	if err := os.WriteFile(changed, []byte(strings.Replace(string(content), p.From, p.To, 1)), 0o644); err != nil {
		return err
	}
	return run(ctx, dir, environment, "go", "mod", "edit", "-replace="+p.Module+"=./"+filepath.Base(folder))
}

// copyModule copies what a program compiles of a module. It replaces no file.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		name := entry.Name()
		if entry.IsDir() || name != "go.mod" && (filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go")) {
			return nil
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		created, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = created.Write(content)
		return errors.Join(err, created.Close())
	})
}
