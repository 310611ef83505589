// Package cited compares pages that tables in tests render with what is committed, and
// finds the tests that such tables cite.
package cited

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Repository is the module's folder, seen from a folder two below it.
const Repository = "../.."

// RequirePage requires a page to be as it is rendered, after writing it if update says so.
func RequirePage(t *testing.T, update bool, file, page string) {
	t.Helper()
	if update {
		require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	}
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, page, string(written), "run `make generate`")
}

// Tests are the functions of test files by folder, read as they are asked for. An empty
// value is ready for use.
type Tests map[string]map[string]bool

// Has reports whether a test file in a folder of the repository declares a function.
func (tests Tests) Has(t *testing.T, folder, function string) bool {
	t.Helper()
	functions, known := tests[folder]
	if !known {
		functions = functionsOf(t, folder)
		tests[folder] = functions
	}
	return functions[function]
}

func functionsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Repository, folder, "*_test.go"))
	require.NoError(t, err)
	functions := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				functions[f.Name.Name] = true
			}
		}
	}
	return functions
}
