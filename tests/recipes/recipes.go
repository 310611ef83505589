// Package recipes reads the pages of docs/recipes; its tests prove that the pages are complete
// and that every panel, setting and page that they name exists, and that they set nothing that
// is unsafe on EMR. The tests of dashboards and of profiler/lake check the pages' queries.
package recipes

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Folder has the pages.
const Folder = "docs/recipes"

// Page is a page of the project.
type Page struct {
	Name string // its path in the project
	Text string
}

// Pages reads all recipes and guides, from the module's folder.
func Pages(t testing.TB, repository string) []Page {
	t.Helper()
	root := os.DirFS(repository)
	var pages []Page
	require.NoError(t, fs.WalkDir(root, Folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		pages = append(pages, Page{Name: name, Text: string(text)})
		return err
	}))
	require.NotEmpty(t, pages)
	return pages
}

var blocks = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// Blocks returns the blocks of a language, in their order.
func (p Page) Blocks(language string) (found []string) {
	for _, block := range blocks.FindAllStringSubmatch(p.Text, -1) {
		if block[1] == language {
			found = append(found, strings.TrimSpace(block[2]))
		}
	}
	return found
}

// Prose returns the page without its blocks.
func (p Page) Prose() string { return blocks.ReplaceAllString(p.Text, "") }
