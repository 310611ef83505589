package main_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/emr-observatory/emr-observatory/localcloud/servers"
)

// proof says why a documented command works.
type proof struct {
	run  bool     // here, as it stands
	make string   // what the make target runs, to be found in its recipe
	test []string // package folder and test that does what the command does
	why  string   // needed where run is false
}

// proofs are the documented commands of this project's own. Commands of the
// engine's stand in engineCommands.
func proofs() map[string]proof {
	life := []string{"cmd/observatory", "TestLife"}
	rehearsal := []string{"cmd/observatory", "TestRehearse"}
	return map[string]proof{
		"make up":                              {make: "bin/observatory up", test: life, why: "takes minutes; the test runs the same command"},
		"make down":                            {make: "bin/observatory down", test: life, why: "ends what the test of up began"},
		"make doctor":                          {make: "bin/observatory doctor", test: []string{"cmd/observatory", "TestDoctorFindsThisMachineFit"}, why: "the target builds into the checkout"},
		"make preview":                         {make: "bin/observatory preview --stack dev", test: []string{"cmd/observatory", "TestPreviewShowsWhatThereWillBe"}, why: "the target builds into the checkout"},
		"make rehearse":                        {make: "bin/observatory rehearse --stack", test: rehearsal, why: "the target builds into the checkout"},
		"make artifacts":                       {make: "bin/observatory artifacts", test: rehearsal, why: "the rehearsal fulfils the lock before it starts"},
		"make bench":                           {make: "go run ./internal/bench", test: []string{"internal/bench", "TestWhatIsMeasuredIsWrittenThoughAPartFails"}, why: "takes half an hour"},
		"make test":                            {make: "go test -p 2 -timeout 60m ./...", test: []string{"cmd/observatory", "TestDocumentedCommands"}, why: "runs this test"},
		"bin/observatory --help":               {run: true},
		"bin/observatory rehearse --stack dev": {test: rehearsal, why: "the test runs it for every stack"},
		"bin/observatory rehearse --stack pr":  {test: rehearsal, why: "the test runs it for every stack"},
	}
}

// engineCommands are the parts of the engine's command line that documents
// use, and what in this repository shows that the program suits them. They need
// an account or Pulumi Cloud, so the pinned CLI is asked whether it knows the
// command and each of its flags.
func engineCommands() map[string][]string {
	rehearsal := []string{"cmd/observatory", "TestRehearse"}
	none := []string(nil) // about the account or Pulumi Cloud alone
	return map[string][]string{
		"pulumi up":                          rehearsal,
		"pulumi preview":                     {"stacks/changes", "TestTheCommandLineSaysTheSame"},
		"pulumi destroy":                     rehearsal,
		"pulumi state unprotect":             rehearsal,
		"pulumi refresh":                     {"cmd/observatory", "TestLife"}, // up refreshes what a killed cloud left
		"pulumi stack init":                  none,
		"pulumi stack schedule new":          none,
		"pulumi deployment settings edit":    none,
		"pulumi config env add":              {"stacks/config", "TestEnvironmentsOfAStackFileAreNamed"},
		"pulumi env provider aws-login oidc": none,
	}
}

// TestDocumentedCommands holds every command of README.md and of the guides:
// each is run here, or a test is named that does what it does.
func TestDocumentedCommands(t *testing.T) {
	known, used := proofs(), map[string]bool{}
	for _, document := range documents(t) {
		for _, command := range commands(t, document) {
			t.Run(filepath.Base(document)+"/"+command, func(t *testing.T) {
				if strings.HasPrefix(command, "pulumi ") {
					ofEngine, ours, piped := strings.Cut(command, " | bin/observatory ")
					if strings.Count(ofEngine, `"`)%2 == 1 { // it is part of an argument
						ofEngine, piped = command, false
					}
					used[engineKnows(t, ofEngine)] = true
					if piped {
						o := observatory(t, root, nil, append(strings.Fields(ours), "--help")...)
						require.Zero(t, o.code, o.stderr)
					}
					return
				}
				p, listed := known[command]
				require.True(t, listed, "%s: nothing shows that this works; add a proof", document)
				used[command] = true
				p.hold(t, command)
			})
		}
	}
	for command := range known {
		require.True(t, used[command], "no document has %q any more: remove its proof", command)
	}
	for command := range engineCommands() {
		require.True(t, used[command], "no document has %q any more: remove it", command)
	}
}

func (p proof) hold(t *testing.T, command string) {
	t.Helper()
	if p.run {
		words := strings.Fields(command)
		o := observatory(t, root, nil, words[1:]...)
		require.Zero(t, o.code, o.stderr)
		return
	}
	require.NotEmpty(t, p.why)
	testExists(t, p.test)
	if target, isMake := strings.CutPrefix(command, "make "); isMake {
		require.Contains(t, recipe(t, target), p.make)
	}
}

// recipe is what a make target would run, without what it depends on being
// there.
func recipe(t *testing.T, target string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "--dry-run", target)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.ReplaceAll(string(out), "${stack%.yaml}", "")
}

// engineKnows asks the CLI for help on the whole command: unknown flags are
// errors, and an unknown command shows its parent's usage.
func engineKnows(t *testing.T, command string) string {
	t.Helper()
	engine, err := servers.Find(t.Context(), servers.Pulumi)
	require.NoError(t, err)
	var name string
	for part := range engineCommands() {
		if strings.HasPrefix(command+" ", part+" ") && len(part) > len(name) {
			name = part
		}
	}
	require.NotEmpty(t, name, "nothing shows that %q works; add the command", command)
	if test := engineCommands()[name]; test != nil {
		testExists(t, test)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec "+engine+" "+strings.TrimPrefix(command, "pulumi ")+" --help")
	cmd.Env = append(os.Environ(), "PULUMI_HOME="+t.TempDir(), "PULUMI_SKIP_UPDATE_CHECK=true")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.True(t, isHelpOf(string(out), name), "the CLI has no command %q", name)
	return name
}

// isHelpOf tells whether help is that of the command, by its name or an alias,
// and not of a parent, which the CLI shows for what it does not know.
func isHelpOf(help, name string) bool {
	cut := strings.LastIndex(name, " ")
	usage := regexp.MustCompile(`Usage:\n  ` + regexp.QuoteMeta(name[:cut]) + ` ([\w-]+)`).FindStringSubmatch(help)
	if usage == nil {
		return false
	}
	aliases := regexp.MustCompile(`Aliases:\n  (.*)`).FindStringSubmatch(help)
	return usage[1] == name[cut+1:] || aliases != nil && slices.Contains(strings.Split(aliases[1], ", "), name[cut+1:])
}

func TestUnknownCommandsOfTheEngineAreSeen(t *testing.T) {
	const help = "About\n\nUsage:\n  pulumi stack new [name] [flags]\n\nAliases:\n  new, init, create\n"
	require.True(t, isHelpOf(help, "pulumi stack new"))
	require.True(t, isHelpOf(help, "pulumi stack init"))
	require.False(t, isHelpOf(help, "pulumi stack start"))
	require.False(t, isHelpOf("Usage:\n  pulumi stack [flags]\n", "pulumi stack start"))
}

func documents(t *testing.T) []string {
	t.Helper()
	guides, err := filepath.Glob(filepath.Join(root, "docs", "guides", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, guides)
	return append([]string{filepath.Join(root, "README.md")}, guides...)
}

// commands are the lines of a document's sh blocks, continued lines joined and
// comments dropped. Every block must name its language, so that none escapes.
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
				require.Contains(t, []string{"sh", "json", "yaml", "python", "mermaid", "text"}, language, "%s: the block after %q names no known language", document, joined)
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
	require.NotEmpty(t, out, "%s has no command", document)
	return out
}

var comment = regexp.MustCompile(`(^|\s)#\s.*$`)

// testExists finds a test function by its package's folder and name.
func testExists(t *testing.T, test []string) {
	t.Helper()
	require.Len(t, test, 2)
	files, err := filepath.Glob(filepath.Join(root, test[0], "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if slices.ContainsFunc(parsed.Decls, func(d ast.Decl) bool {
			f, isFunc := d.(*ast.FuncDecl)
			return isFunc && f.Name.Name == test[1]
		}) {
			return
		}
	}
	require.Failf(t, "no such test", "%s in %s", test[1], test[0])
}

// TestCI holds the workflow: pinned actions, no rights beyond reading, and
// only commands that this repository has.
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
	info, err := os.Stat(filepath.Join(root, ".ci", "run"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&0o111, ".ci/run is not executable")
}
