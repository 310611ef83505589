package recipes_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/tests/recipes"
)

const repository = "../.."

// A recipe says how the problem looks, what causes it, how to cure it, and how to see that it
// is cured: with queries for what runs and for what has ended. It fits on two screens.
func TestRecipesAreComplete(t *testing.T) {
	pages := recipes.Pages(t, repository)
	for _, recipe := range rules.Recipes() {
		i := slices.IndexFunc(pages, func(p recipes.Page) bool { return p.Name == recipe.Path() })
		require.GreaterOrEqual(t, i, 0, recipe.Path())
		page := pages[i]
		require.Equal(t, []string{"Symptom", "Which cause", "Limits and settings", "Cure", "Proof"}, sections(page)[:5], page.Name)
		_, proof, _ := strings.Cut(page.Text, "\n## Proof\n")
		require.Contains(t, proof, "```sql\n", page.Name)
		require.NotEmpty(t, page.Blocks("promql"), page.Name)
		require.GreaterOrEqual(t, len(page.Blocks("sql")), 2, page.Name)
		require.NotEmpty(t, submissions(page), "%s shows no setting to paste", page.Name)
		for _, rule := range rules.All() {
			if rule.Recipe == recipe {
				named := strings.Contains(unrendered(page), "`"+string(rule.ID)+"`")
				require.Truef(t, named, "%s does not say what to do about the finding %s", page.Name, rule.ID)
			}
		}
	}
	for _, page := range pages {
		require.LessOrEqual(t, strings.Count(page.Text, "\n"), 130, page.Name)
	}
}

var rendered = regexp.MustCompile("(?s)<!-- rendered from package rules -->.*<!-- end -->")

// unrendered returns what people wrote.
func unrendered(p recipes.Page) string { return rendered.ReplaceAllString(p.Text, "") }

// sections returns the headings of the second level.
func sections(p recipes.Page) (all []string) {
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(p.Text, -1) {
		all = append(all, heading[1])
	}
	return all
}

// What stands in quotation marks is the title of a dashboard, a row or a panel.
func TestRecipesNamePanelsThatExist(t *testing.T) {
	var titles []string
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	for _, d := range suite {
		var board struct {
			Panels []struct{ Title string }
		}
		require.NoError(t, json.Unmarshal(d.JSON, &board))
		titles = append(titles, d.Title)
		for _, p := range board.Panels {
			titles = append(titles, p.Title)
		}
	}
	code := regexp.MustCompile("`[^`\n]+`")
	for _, page := range recipes.Pages(t, repository) {
		found := regexp.MustCompile(`"([^"\n]*)"`).FindAllStringSubmatch(code.ReplaceAllString(page.Prose(), ""), -1)
		require.NotEmpty(t, found, "%s leads to no panel", page.Name)
		for _, title := range found {
			require.Truef(t, slices.Contains(titles, title[1]), "%s: no dashboard, row or panel has the title %q", page.Name, title[1])
		}
	}
}

// submissions returns the spark-submit lines of a page.
func submissions(p recipes.Page) (lines []string) {
	for _, block := range p.Blocks("sh") {
		for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", "")) {
			if strings.HasPrefix(line, "spark-submit ") {
				command, _, _ := strings.Cut(line, " #")
				lines = append(lines, strings.TrimSpace(command))
			}
		}
	}
	return lines
}

// avoided maps settings that no page sets to the reason.
func avoided() map[string]string {
	return map[string]string{
		"spark.speculation":                  "copies of tasks that write to S3 can duplicate or lose output",
		"spark.hadoop.fs.s3a.committer.name": "EMR sets its committers itself",
		"fs.s3a.committer.name":              "EMR sets its committers itself",
		"spark.task.maxFailures":             "it hides the cause and repeats the work",
		"spark.memory.fraction":              "it takes from the objects of the tasks what it gives to their buffers",
		"spark.memory.storageFraction":       "the same",
		"spark.executor.extraJavaOptions":    "a job's value replaces the cluster's",
		"spark.driver.extraJavaOptions":      "a job's value replaces the cluster's",
		"spark.sql.adaptive.enabled":         "it is on; off loses every repair of adaptive execution",
	}
}

// Spark has every setting of a spark-submit line and takes its value, and EMR has the
// classifications of the configurations, with their properties.
func TestSettingsOfRecipesExist(t *testing.T) {
	for _, page := range recipes.Pages(t, repository) {
		for _, line := range submissions(page) {
			require.Regexp(t, `^spark-submit( --conf \S+=\S+)+ job\.py$`, line, page.Name)
			for _, conf := range regexp.MustCompile(`--conf (\S+?)=(\S+)`).FindAllStringSubmatch(line, -1) {
				checkSetting(t, page.Name, "spark-defaults", conf[1], conf[2])
			}
		}
		for _, block := range page.Blocks("json") {
			var configurations []struct {
				Classification string
				Properties     map[string]string
			}
			require.NoError(t, json.Unmarshal([]byte(block), &configurations), "%s: %s", page.Name, block)
			for _, c := range configurations {
				known := slices.Contains(facts.Classifications(), c.Classification)
				require.Truef(t, known, "%s: EMR has no classification %s", page.Name, c.Classification)
				for property, value := range c.Properties {
					checkSetting(t, page.Name, c.Classification, property, value)
				}
			}
		}
	}
}

// beside lists properties that exist beside those of the files of facts.
func beside() []string {
	return []string{
		"spark.default.parallelism",  // Spark reads it without a ConfigEntry
		"fs.s3a.aimd.enabled",        // EMR's own: its guide from EMRFS to S3A (emr-s3a-migrate, 2026-11-28)
		"spark.shuffle.io.retryWait", // of Spark's network library, which has no registry of settings
	}
}

func checkSetting(t *testing.T, page, classification, property, value string) {
	t.Helper()
	require.NotEmpty(t, value, "%s: %s", page, property)
	require.NotContains(t, avoided(), property, page)
	known := facts.PropertiesOf(classification)
	exists := known == nil || slices.Contains(known, property) || slices.Contains(beside(), property)
	require.Truef(t, exists, "%s: %s has no property %s", page, classification, property)
}

// Examples in Python are valid.
func TestPythonOfRecipesCompiles(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python")
	var all []string
	for _, page := range recipes.Pages(t, repository) {
		all = append(all, page.Blocks("python")...)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", "import ast, sys; ast.parse(sys.stdin.read())")
	cmd.Stdin = strings.NewReader(strings.Join(all, "\n"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// Links between the project's pages lead to a file, and to a heading of it.
func TestLinksBetweenPagesResolve(t *testing.T) {
	root, texts, checked := os.DirFS(repository), map[string]string{}, 0
	require.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || name == "bin"):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			text, err := fs.ReadFile(root, name)
			texts[name] = string(text)
			return err
		}
		return nil
	}))
	require.Contains(t, texts, "docs/recipes/troubleshoot/slow-spark-jobs.md")
	for name, text := range texts {
		prose := recipes.Page{Text: text}.Prose()
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(prose, -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			_, err := fs.Stat(root, file)
			require.NoError(t, err, "%s links to %s", name, link[1])
			if anchor != "" {
				require.Truef(t, slices.Contains(anchors(texts[file]), anchor), "%s links to %s: no such heading", name, link[1])
			}
		}
	}
	require.Greater(t, checked, 300)
}

// anchors returns the names under which a page is scrolled to its headings.
func anchors(text string) (all []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1]))
	}
	return all
}
