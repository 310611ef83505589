package architecture

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestPackageVariablesAreNeverAssigned(t *testing.T) {
	files, err := sources(os.DirFS(repository))
	require.NoError(t, err)
	require.Empty(t, assignedGlobals(files))
}

func TestReportsAssignmentsToGlobals(t *testing.T) {
	const text = `package planted
var table, count, _ = map[string]int{}, 0, 0
func write() { table["x"] = 1; count++; _ = 1 }
func read(table map[string]int) { table["x"] = 1; count := 0; count++ }
`
	files, err := sources(fstest.MapFS{"planted.go": {Data: []byte(text)}, "planted_test.go": {Data: []byte(text)}})
	require.NoError(t, err)
	require.Equal(t, []string{
		"planted.go:3 assigns to the package variable table",
		"planted.go:3 assigns to the package variable count",
	}, assignedGlobals(files))
}

func TestFewLintFindingsAreExcused(t *testing.T) {
	files, err := sources(os.DirFS(repository))
	require.NoError(t, err)
	const most = 40
	found := nolints(files)
	require.LessOrEqual(t, len(found), most,
		"fix one instead, or exclude the rule with a reason in .golangci.yml:\n%s", strings.Join(found, "\n"))
}

func TestDecisionsAreNumberedAndIndexed(t *testing.T) {
	records, err := decisionRecords(os.DirFS(repository))
	require.NoError(t, err)
	require.NotEmpty(t, records)
	index, err := os.ReadFile(repository + "/docs/decisions/README.md")
	require.NoError(t, err)
	for i, record := range records {
		require.Equal(t, fmt.Sprintf("%04d-", i+1), record[:5], "records are numbered without gaps")
		require.Contains(t, string(index), fmt.Sprintf("[%d](%s)", i+1, record))
		text, err := os.ReadFile(repository + "/docs/decisions/" + record)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), fmt.Sprintf("# %d. ", i+1)), "title of %s", record)
	}
}

func TestCitedDecisionsExist(t *testing.T) {
	root := os.DirFS(repository)
	var files []string
	require.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(path.Base(name), ".") && name != "." || name == "bin" || name == "tests/architecture" {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".sh", ".flags"}, path.Ext(name)) || name == "Makefile" {
			files = append(files, name)
		}
		return nil
	}))
	require.Contains(t, files, "platform/images.go")
	violations, err := badCitations(root, files)
	require.NoError(t, err)
	require.Empty(t, violations)
}

func TestReportsCitationsOfMissingDecisions(t *testing.T) {
	source := "// see (decision 1), (decision 2), docs/decisions/0001-first.md and decisions/0002-gone.md\n"
	planted := fstest.MapFS{
		"docs/decisions/README.md":     {},
		"docs/decisions/0001-first.md": {},
		"a.go":                         {Data: []byte(source)},
	}
	violations, err := badCitations(planted, []string{"a.go"})
	require.NoError(t, err)
	require.Equal(t, []string{`a.go cites "decision 2": no such record`, `a.go cites "decisions/0002-gone.md": no such record`}, violations)
}
