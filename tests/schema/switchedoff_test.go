package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
)

// offVariable names the rule that is switched off in a build of this test.
const offVariable = "OBSERVATORY_RULE_OFF"

// offSource is added to package violation.
const offSource = `package violation

import "os"

// Off reports whether a rule is switched off.
func Off(rule string) bool { return os.Getenv("` + offVariable + `") == rule }
`

// holdsOff follows the line of package schema that merges its rules.
const (
	mergesRules = "maps.Copy(out, part)\n"
	holdsOff    = `for name, r := range part {
			if holds := r.Holds; holds != nil {
				r.Holds = func(v any) bool { return violation.Off(name) || holds(v) }
				out[name] = r
			}
		}
`
)

// TestSwitchingOffAnyRuleFailsATest switches the rules off, one at a time, and runs the
// tests of refused configurations: one of them must then fail. A rule is a condition in
// the code that checks, or one that a field's tag names. make test-long switches off each,
// an ordinary run one of eight.
func TestSwitchingOffAnyRuleFailsATest(t *testing.T) {
	rules, overlay := switchable(t)
	require.GreaterOrEqual(t, len(rules), 70, "the code has changed: rules are not found any more")
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"test", "-c"}, platform.CompilerFlags(),
		[]string{"-overlay", overlay, "-o", programs + "/", "./schema", "./stacks/config"})...)
	build.Dir = trial.Root(t)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	fails := func(rule, program, folder, only string) bool {
		test := exec.CommandContext(t.Context(), filepath.Join(programs, program), "-test.failfast", "-test.run", only)
		test.Dir, test.Env = filepath.Join(trial.Root(t), folder), append(os.Environ(), offVariable+"="+rule)
		out, err := test.CombinedOutput()
		require.Contains(t, string(out), map[bool]string{true: "PASS", false: "FAIL"}[err == nil], "%s", out)
		return err != nil
	}
	caught := func(rule string) bool {
		return fails(rule, "config.test", "stacks/config", "^TestEveryErrorNamesAllFourParts$/^configuration") ||
			fails(rule, "schema.test", "schema", ".")
	}
	require.False(t, caught("none"), "the tests fail with all rules on")
	var untested []string
	for _, rule := range rules {
		if !testenv.Long() && crc32.ChecksumIEEE([]byte(rule))%8 != 0 {
			continue
		}
		if !caught(rule) {
			untested = append(untested, rule)
		}
	}
	t.Logf("%d rules", len(rules))
	require.Empty(t, untested, "no test fails without these rules")
}

// switchable returns the rules, and an overlay of the code in which each can be switched
// off.
func switchable(t *testing.T) (rules []string, overlay string) {
	t.Helper()
	dir, root := t.TempDir(), trial.Root(t)
	replaced, merges := map[string]string{}, 0
	add := func(file string, text []byte) {
		copied := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		require.NoError(t, os.WriteFile(copied, text, 0o600))
		replaced[filepath.Join(root, file)] = copied
	}
	add("schema/violation/off.go", []byte(offSource))
	files, err := filepath.Glob(filepath.Join(root, "schema/*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := "schema/" + filepath.Base(file)
		changed, found := withSwitches(t, name, text)
		if bytes.Contains(text, []byte(mergesRules)) {
			changed, merges = bytes.Replace(changed, []byte(mergesRules), []byte(mergesRules+holdsOff), 1), merges+1
		}
		rules = append(rules, found...)
		if !bytes.Equal(changed, text) {
			add(name, changed)
		}
	}
	require.Equal(t, 1, merges, "the line that merges rules has changed")
	for _, f := range decode.Fields(schema.Defaults()) {
		if r, named := schema.RuleNamed(f.Rule); named && r.Holds != nil && !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	overlay = filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	return rules, overlay
}

// withSwitches puts a switch before the condition of each requirement and warning.
func withSwitches(t *testing.T, name string, text []byte) (changed []byte, rules []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	var conditions []ast.Expr
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		f, isMethod := call.Fun.(*ast.SelectorExpr)
		if isMethod && slices.Contains([]string{"Require", "require", "Warn"}, f.Sel.Name) && len(call.Args) > 3 {
			conditions = append(conditions, call.Args[0])
		}
		return true
	})
	slices.SortFunc(conditions, func(a, b ast.Expr) int { return int(b.Pos() - a.Pos()) }) // the last first
	changed = slices.Clone(text)
	for _, c := range conditions {
		rule := fmt.Sprintf("%s:%d", name, files.Position(c.Pos()).Line)
		from, to := files.Position(c.Pos()).Offset, files.Position(c.End()).Offset
		with := fmt.Sprintf("violation.Off(%q) || (%s)", rule, text[from:to])
		changed = slices.Concat(changed[:from], []byte(with), changed[to:])
		rules = append(rules, rule)
	}
	return changed, rules
}
