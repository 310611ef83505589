package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// source is one Go file.
type source struct {
	path   string // below the repository
	syntax *ast.File
	lines  *token.FileSet
}

func (s source) folder() string { return path.Dir(s.path) }

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) position(node ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.lines.Position(node.Pos()).Line)
}

// sources parses the module's Go files: all that `./...` matches.
func sources(repository fs.FS) ([]source, error) {
	var found []source
	lines := token.NewFileSet()
	err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && isSkipped(repository, name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(lines, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		found = append(found, source{path: name, syntax: syntax, lines: lines})
		return nil
	})
	return found, err
}

// isSkipped reports whether `./...` excludes the folder.
func isSkipped(repository fs.FS, folder string) bool {
	base := path.Base(folder)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" {
		return true
	}
	_, err := fs.Stat(repository, folder+"/go.mod")
	return err == nil
}
