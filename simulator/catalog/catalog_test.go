package catalog_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
)

// The SDK's source must register each token with the type that the catalog has
// for it: another type would check the wrong shape.
func TestTokensMatchSDKSource(t *testing.T) {
	sources := map[string]string{}
	for name, p := range catalog.Packages() {
		require.NotEmpty(t, p.Resources, name)
		require.Equal(t, "providerArgs", p.Config.Name(), name)
		for token, typ := range p.Resources {
			src := source(t, sources, typ.Args)
			resource := capitalize(strings.TrimSuffix(typ.Args.Name(), "Args"))
			_, after, found := strings.Cut(src, "\nfunc New"+resource+"(")
			require.True(t, found, token)
			body, _, _ := strings.Cut(after, "\n}\n")
			require.Contains(t, body, `RegisterResource("`+token+`"`, token)
			for _, r := range typ.Required {
				require.Contains(t, catalog.Fields(typ.Args), r, token)
			}
			if typ.State != nil {
				require.Equal(t, strings.TrimSuffix(typ.Args.Name(), "Args"), strings.TrimSuffix(typ.State.Name(), "State"), token)
			}
		}
		for token, f := range p.Functions {
			src := source(t, sources, f.Result)
			before, _, found := strings.Cut(src, `ctx.Invoke("`+token+`"`)
			require.True(t, found, token)
			require.Contains(t, before[strings.LastIndex(before, "\nfunc "):], "*"+f.Result.Name(), token)
		}
	}
}

// source returns the source of the package that declares typ.
func source(t *testing.T, cache map[string]string, typ reflect.Type) string {
	t.Helper()
	path := typ.PkgPath()
	if s, ok := cache[path]; ok {
		return s
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", path).Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		b.Write(text)
	}
	cache[path] = b.String()
	return cache[path]
}

func capitalize(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func TestVersionsMatchGoMod(t *testing.T) {
	for name, p := range catalog.Packages() {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", p.Module).Output()
		require.NoError(t, err, name)
		require.Equal(t, strings.TrimSpace(string(out)), "v"+p.Version, name)
	}
}
