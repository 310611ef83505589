package coverage_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/tests/cited"
)

var update = flag.Bool("update", false, "regenerate the reference")

const (
	pages     = "docs/reference" // the page's folder, from which its links are
	reference = cited.Repository + "/" + pages + "/coverage.md"
)

// state says what became of a sentence.
type state string

const (
	done      state = "done"
	corrected state = "corrected"
	refused   state = "refused"
)

// states lists the states in the order of the page's head.
func states() []state { return []state{done, corrected, refused} }

// at lists what a row cites, each in one of these forms:
//
//	docs/guides/phases.md#a-slow-job     a file or folder of the repository, or a section
//	phases TestGoldenLogs                a test
//	EMR Overview: Heap usage, top 10     a dashboard's panel
type at []string

// row answers one sentence, criterion, line of a table, or part of a picture.
type row struct {
	says  string // what the document says
	state state
	why   string // what is wrong or missing, or where it is otherwise
	where at
}

// section is a part of a document.
type section struct {
	title string
	rows  []row
}

// document is what users wrote, with its answers.
type document struct {
	title    string // its subject
	about    string
	sections []section
}

func documents() []document {
	return []document{platformDocument(), tracingDocument(), profilerDocument(), historyDocument(), architecturesDocument()}
}

// count counts the rows of a document in each state.
func (d document) count() map[state]int {
	counts := map[state]int{}
	for _, s := range d.sections {
		for _, r := range s.rows {
			counts[r.state]++
		}
	}
	return counts
}

func TestReference(t *testing.T) {
	citations := newCitations(t)
	var page strings.Builder
	page.WriteString("# Coverage\n\nFive documents in which users wrote what they want, answered sentence by sentence. " +
		"Generated from `tests/coverage` by `make generate`; a test fails\nif a file, section, panel or test that a row cites is gone.\n\n" +
		"| state | meaning |\n|---|---|\n" +
		"| done | It is so. |\n" +
		"| corrected | It is done otherwise, because the document is wrong there or another way is better. |\n" +
		"| refused | It will not be done; the row says what to use instead. |\n\n")
	head(&page)
	for _, d := range documents() {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", d.title, d.about)
		number, said := 0, map[string]bool{}
		for _, s := range d.sections {
			fmt.Fprintf(&page, "\n### %s\n\n| # | the document says | state | where, or why |\n|---|---|---|---|\n", s.title)
			for _, r := range s.rows {
				number++
				require.False(t, said[r.says], "%s: %q is answered twice", d.title, r.says)
				said[r.says] = true
				fmt.Fprintf(&page, "| %d | %s | %s | %s |\n", number, cell(r.says), r.state, cell(citations.answer(r)))
			}
		}
	}
	cited.RequirePage(t, *update, reference, page.String())
}

// head writes the table of how many rows each document has in each state.
func head(page *strings.Builder) {
	page.WriteString("| document | rows |")
	for _, s := range states() {
		fmt.Fprintf(page, " %s |", s)
	}
	page.WriteString("\n|---|---|---|---|---|\n")
	all, total := map[state]int{}, 0
	line := func(title string, counts map[state]int, rows int) {
		fmt.Fprintf(page, "| %s | %d |", title, rows)
		for _, s := range states() {
			fmt.Fprintf(page, " %d |", counts[s])
		}
		page.WriteString("\n")
	}
	for _, d := range documents() {
		counts, rows := d.count(), 0
		for s, n := range counts {
			all[s] += n
			rows += n
		}
		total += rows
		line(fmt.Sprintf("[%s](#%s)", d.title, anchor(d.title)), counts, rows)
	}
	line("all", all, total)
}

// cell escapes a text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// anchor returns the name under which a page is scrolled to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// citations knows what a row may cite.
type citations struct {
	t      *testing.T
	tests  cited.Tests
	panels map[string]map[string]bool // titles by the dashboard's
}

func newCitations(t *testing.T) citations {
	t.Helper()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	panels := map[string]map[string]bool{}
	for _, d := range suite {
		var board struct {
			Panels []struct{ Type, Title string }
		}
		require.NoError(t, json.Unmarshal(d.JSON, &board))
		panels[d.Title] = map[string]bool{}
		for _, p := range board.Panels {
			panels[d.Title][p.Title] = p.Type != "row"
		}
	}
	return citations{t, cited.Tests{}, panels}
}

// answer renders the last cell of a row, after checking that the row has what its state
// asks for.
func (c citations) answer(r row) string {
	c.t.Helper()
	require.NotEmpty(c.t, r.says)
	require.Contains(c.t, states(), r.state, r.says)
	if r.state == done || r.state == corrected {
		require.NotEmpty(c.t, r.where, "%q is %s: where?", r.says, r.state)
	}
	if r.state != done {
		require.NotEmpty(c.t, r.why, "%q is %s: why?", r.says, r.state)
	}
	var parts []string
	if r.why != "" {
		require.Regexp(c.t, `[.?]$`, r.why, r.says)
		parts = append(parts, r.why)
	}
	rendered := make([]string, len(r.where))
	for i, name := range r.where {
		rendered[i] = c.render(r.says, name)
	}
	return strings.TrimSpace(strings.Join(append(parts, strings.Join(rendered, ", ")), " "))
}

func (c citations) render(says, name string) string {
	c.t.Helper()
	if board, panel, ok := strings.Cut(name, ": "); ok {
		require.Truef(c.t, c.panels[board][panel], "%q: dashboard %q has no panel %q", says, board, panel)
		return fmt.Sprintf("[%s: %s](dashboards.md#%s)", board, panel, anchor(board))
	}
	if folder, function, ok := strings.Cut(name, " "); ok {
		known := strings.HasPrefix(function, "Test") && c.tests.Has(c.t, folder, function)
		require.Truef(c.t, known, "%q: %s has no test %s", says, folder, function)
		return "`" + name + "`"
	}
	file, heading, inside := strings.Cut(name, "#")
	target, err := filepath.Rel(pages, file)
	require.NoError(c.t, err)
	if inside {
		text, err := os.ReadFile(filepath.Join(cited.Repository, file))
		require.NoError(c.t, err, says)
		require.Containsf(c.t, anchors(string(text)), heading, "%q: %s has no such section", says, file)
		target += "#" + heading
	}
	_, err = os.Stat(filepath.Join(cited.Repository, file))
	require.NoError(c.t, err, says)
	return fmt.Sprintf("[%s](%s)", strings.TrimPrefix(name, pages+"/"), target)
}

var headings = regexp.MustCompile(`(?m)^#+ (.+)$`)

// anchors lists the anchors of a page's headings.
func anchors(page string) []string {
	var all []string
	for _, heading := range headings.FindAllStringSubmatch(page, -1) {
		all = append(all, anchor(heading[1]))
	}
	return all
}
