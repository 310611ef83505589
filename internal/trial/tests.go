package trial

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// RequireTest fails if a package's folder has no test function of this name,
// which a document cites.
func RequireTest(t testing.TB, folder, name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(t), folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
			f, isFunc := d.(*ast.FuncDecl)
			return isFunc && f.Name.Name == name
		}) {
			return
		}
	}
	require.Failf(t, "no such test", "%s in %s", name, folder)
}
