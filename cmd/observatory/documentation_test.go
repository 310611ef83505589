package main_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/tests/recipes"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// TestDocumentedCommands executes every command of README.md, of the guides and of the recipes,
// except those that need an account, Pulumi Cloud, or this test itself.
func TestDocumentedCommands(t *testing.T) {
	known, used := examples(), map[string]bool{}
	checkout := filepath.Join(t.TempDir(), "checkout")
	trial.CopyCheckout(t, checkout)
	execute(t, checkout, "make build") // documents run bin/observatory without building it
	for _, document := range documents(t) {
		for _, command := range commands(t, document) {
			t.Run(filepath.Base(document)+"/"+command, func(t *testing.T) {
				if strings.HasPrefix(command, "pulumi ") {
					used[checkPulumiCommand(t, command)] = true
					return
				}
				if strings.HasPrefix(command, "spark-submit ") { // an example of settings, for a job of the reader's
					trial.RequireTest(t, "tests/recipes", "TestSettingsOfRecipesExist")
					return
				}
				e, listed := known[command]
				require.True(t, listed, "%s: nothing executes this command; add it to examples", document)
				if !used[command] {
					used[command] = true
					e.check(t, checkout, command)
				}
			})
		}
	}
	for command := range known {
		require.True(t, used[command], "no document has %q any more: remove it", command)
	}
	for command := range pulumiCommands() {
		require.True(t, used[command], "no document has %q any more: remove it", command)
	}
}

// checkPulumiCommand checks a command line of Pulumi, without the file that its
// output goes to or its input comes from, and, if it is piped into `bin/observatory`,
// that command too. It returns the key in pulumiCommands.
func checkPulumiCommand(t *testing.T, command string) (name string) {
	t.Helper()
	for _, inner := range preRun.FindAllStringSubmatch(command, -1) {
		checkPulumiCommand(t, inner[1])
	}
	pulumiPart, observatoryPart, piped := strings.Cut(command, " | bin/observatory ")
	if strings.Count(pulumiPart, `"`)%2 == 1 || strings.Count(pulumiPart, `'`)%2 == 1 { // the pipe is part of an argument
		return requirePulumiKnows(t, command)
	}
	if piped {
		o := observatory(t, root, nil, append(strings.Fields(observatoryPart), "--help")...)
		require.Zero(t, o.code, o.stderr)
	}
	pulumiPart, _, _ = strings.Cut(pulumiPart, " > ")
	pulumiPart, _, _ = strings.Cut(pulumiPart, " < ")
	return requirePulumiKnows(t, pulumiPart)
}

// preRun finds the commands of Pulumi that a deployment runs before its operation.
var preRun = regexp.MustCompile(`--pre-run-command '[^']*\|\| (pulumi [^']+)'`)

// Documents refresh the clusters by the target that the program's messages name, and never
// everything in the course of an update or a preview: see platform.ClustersTarget.
func TestDocumentsRefreshTheClustersAlone(t *testing.T) {
	everything, clusters := regexp.MustCompile("pulumi (up|preview) [^`\n]*--refresh"), regexp.MustCompile(`--target "(\*\*::[^"]+)"`)
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		require.NotRegexp(t, everything, string(text), document)
		targets := clusters.FindAllStringSubmatch(string(text), -1)
		for _, found := range targets {
			require.Equal(t, platform.ClustersTarget, found[1], document)
		}
		if slices.Contains([]string{"README.md", "deployments.md", "control-node.md"}, filepath.Base(document)) {
			require.NotEmpty(t, targets, document)
		}
	}
}

// check executes the command, or requires the reason why it need not.
func (e example) check(t *testing.T, checkout, command string) {
	t.Helper()
	switch {
	case e.long && !testenv.Long():
		t.Logf("%s is executed by make test-long", command)
	case e.executed:
		execute(t, checkout, command)
	case e.by.test != "":
		trial.RequireTest(t, e.by.folder, e.by.test)
		text, err := os.ReadFile(filepath.Join(root, e.by.folder, e.by.file))
		require.NoError(t, err)
		require.Contains(t, string(text), e.by.line, "%s executes it", e.by.test)
	default:
		require.NotEmpty(t, e.excluded)
		t.Logf("%s is not executed here: it %s", command, e.excluded)
	}
}

func execute(t *testing.T, checkout, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = checkout
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, out)
}

// recipe returns the commands that a make target would run.
func recipe(t *testing.T, target string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "--dry-run", target)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// requirePulumiKnows fails if the pinned CLI does not know a command or a flag. It
// adds --help: the CLI refuses unknown flags, and for an unknown command prints its
// parent's usage. It returns the key in pulumiCommands.
func requirePulumiKnows(t *testing.T, command string) string {
	t.Helper()
	engine, err := servers.Find(t.Context(), servers.Pulumi)
	require.NoError(t, err)
	var name string
	for part := range pulumiCommands() {
		if strings.HasPrefix(command+" ", part+" ") && len(part) > len(name) {
			name = part
		}
	}
	require.NotEmpty(t, name, "%q is not listed: add it to pulumiCommands", command)
	if test := pulumiCommands()[name]; test != nil {
		requireTest(t, test)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec "+engine+" "+strings.TrimPrefix(command, "pulumi ")+" --help")
	cmd.Env = append(os.Environ(), "PULUMI_HOME="+t.TempDir(), "PULUMI_SKIP_UPDATE_CHECK=true")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, isHelpOf(string(out), name), "the CLI has no command %q", name)
	return name
}

// isHelpOf reports whether help is that of the command, by its name or an alias,
// and not that of its parent.
func isHelpOf(help, name string) bool {
	cut := strings.LastIndex(name, " ")
	usage := regexp.MustCompile(`Usage:\n  ` + regexp.QuoteMeta(name[:cut]) + ` ([\w-]+)`).FindStringSubmatch(help)
	if usage == nil {
		return false
	}
	aliases := regexp.MustCompile(`Aliases:\n  (.*)`).FindStringSubmatch(help)
	return usage[1] == name[cut+1:] || aliases != nil && slices.Contains(strings.Split(aliases[1], ", "), name[cut+1:])
}

func TestUnknownPulumiCommandsAreDetected(t *testing.T) {
	const help = "About\n\nUsage:\n  pulumi stack new [name] [flags]\n\nAliases:\n  new, init, create\n"
	require.True(t, isHelpOf(help, "pulumi stack new"))
	require.True(t, isHelpOf(help, "pulumi stack init"))
	require.False(t, isHelpOf(help, "pulumi stack start"))
	require.False(t, isHelpOf("Usage:\n  pulumi stack [flags]\n", "pulumi stack start"))
}

// documents returns the paths of README.md, the guides and the recipes.
func documents(t *testing.T) []string {
	t.Helper()
	guides, err := filepath.Glob(filepath.Join(root, "docs", "guides", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, guides)
	all := append([]string{filepath.Join(root, "README.md")}, guides...)
	for _, page := range recipes.Pages(t, root) {
		all = append(all, filepath.Join(root, page.Name))
	}
	return all
}

// commands returns the lines of a document's sh blocks, with continued lines joined
// and without comments. Every block must name its language, so that no sh block is
// overlooked.
func commands(t *testing.T, document string) []string {
	t.Helper()
	f, err := os.Open(document)
	require.NoError(t, err)
	defer f.Close()
	var out []string
	inside, language, joined := false, "", ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if rest, fence := strings.CutPrefix(line, "```"); fence {
			if inside = !inside; inside {
				language = rest
				require.Contains(t, []string{"sh", "json", "yaml", "python", "sql", "promql", "mermaid", "text"}, language,
					"%s: the block after %q names no known language", document, joined)
			}
			continue
		}
		if !inside || language != "sh" {
			continue
		}
		line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
		if rest, more := strings.CutSuffix(line, `\`); more {
			joined += rest
			continue
		}
		if line = joined + line; line != "" {
			out = append(out, line)
		}
		joined = ""
	}
	if !strings.Contains(document, recipes.Folder) { // not all of these have one
		require.NotEmpty(t, out, "%s has no command", document)
	}
	return out
}

var comment = regexp.MustCompile(`(^|\s)#\s.*$`)

func requireTest(t *testing.T, test []string) {
	t.Helper()
	require.Len(t, test, 2)
	trial.RequireTest(t, test[0], test[1])
}

// TestCI checks the workflow: pinned actions, read-only permissions, and only
// commands that this repository has.
func TestCI(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "ci.yml"))
	require.NoError(t, err)
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Timeout int `yaml:"timeout-minutes"`
			Steps   []struct{ Uses, Run string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &workflow))
	require.Equal(t, map[string]string{"contents": "read"}, workflow.Permissions)
	ran := map[string]bool{}
	for name, job := range workflow.Jobs {
		require.Positive(t, job.Timeout, name)
		for _, step := range job.Steps {
			if step.Uses != "" {
				require.Regexp(t, `^[\w.-]+/[\w.-]+@[0-9a-f]{40}$`, step.Uses, "pin the action to a commit")
				require.Regexp(t, regexp.QuoteMeta(step.Uses)+` # v\d`, string(text), "and say which release that is")
				continue
			}
			ran[step.Run] = true
			if target, isMake := strings.CutPrefix(step.Run, "make "); isMake {
				require.NotEmpty(t, recipe(t, target))
			}
		}
	}
	for _, command := range []string{"make build", "make rehearse", ".ci/run"} {
		require.True(t, ran[command], "CI does not run %s", command)
	}
	for _, name := range []string{"run", "unprivileged"} {
		info, err := os.Stat(filepath.Join(root, ".ci", name))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&0o111, ".ci/%s is not executable", name)
	}
}

// The tests that CI runs by name exist: go test passes where none matches.
func TestCINamesExistingTests(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci", "unprivileged"))
	require.NoError(t, err)
	selected := regexp.MustCompile(`PACKAGES=\./(\S+) RUN='\^\(([\w|]+)\)\$'`).FindAllStringSubmatch(string(script), -1)
	require.NotEmpty(t, selected)
	require.Len(t, selected, strings.Count(string(script), "RUN="))
	for _, s := range selected {
		for _, name := range strings.Split(s[2], "|") {
			trial.RequireTest(t, s[1], name)
		}
	}
}
