package times_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longForm is how a test asks whether it runs in its long form.
var longForm = regexp.MustCompile(`\btestenv\.(RequireLong|Repeats|Long)\(`)

// A folder that no part of `make test-long` names has long forms that never run.
func TestPartsHaveEveryLongForm(t *testing.T) {
	makefile, err := os.ReadFile(path.Join(repository, "Makefile"))
	require.NoError(t, err)
	_, definition, found := strings.Cut(string(makefile), "\nPARTS =")
	require.True(t, found, "PARTS in the Makefile")
	definition, _, _ = strings.Cut(definition, "\n.PHONY")
	var patterns []string
	for _, part := range regexp.MustCompile(`'[^']+'`).FindAllString(definition, -1) {
		patterns = append(patterns, strings.Fields(strings.Trim(part, "'"))...)
	}
	named := func(folder string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			tree, all := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return folder == tree || all && strings.HasPrefix(folder, tree+"/")
		})
	}
	const byItself = "tests/mutants"
	missing := map[string]bool{}
	require.NoError(t, fs.WalkDir(os.DirFS(repository), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") || path.Dir(name) == byItself {
			return err
		}
		text, err := os.ReadFile(path.Join(repository, name))
		if longForm.Match(text) && !named(path.Dir(name)) {
			missing[path.Dir(name)] = true
		}
		return err
	}))
	require.Empty(t, missing, "folders with long forms that no part of `make test-long` runs")
}
