package dashboards_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
)

// Limits come from rules, and so do the numbers in the texts beside them: one that is
// written by hand becomes wrong when the limit changes.
func TestLimitsAndTextsComeFromRules(t *testing.T) {
	review := review{ids: ruleConstants(t, "../rules")}
	require.Len(t, review.ids, len(rules.All()))
	require.NoError(t, review.folder(os.DirFS(".")))
	require.Empty(t, review.violations)
	require.Greater(t, review.judged, 20, "panels with a rule")
}

func TestReportsNumbersBesideRules(t *testing.T) {
	const text = `package planted
var _ = panel.Spec{Unit: panel.UnitShare, Limits: panel.StepsOf(rules.GC), Bad: "10 % or more."}
var _ = panel.Spec{Unit: panel.UnitShare, Limits: panel.StepsOf(rules.GC), Bad: panel.Bad(rules.GC, "{warn} or more" + ", or 3.")}
var _ = panel.Spec{Unit: panel.UnitShare, Limits: panel.StepsOf(rules.GC), Bad: panel.Bad(rules.Heap, "{warn} or more.")}
var _ = panel.Spec{Unit: panel.UnitSeconds, Limits: panel.StepsOf(rules.MasterDelay), Bad: "Slow."}
var _ = panel.Spec{Limits: scaled(0.1), Bad: "10 % or more."}
var _ = panel.Column{Limits: []panel.Limit{{Value: limit, Color: panel.Red}}}
func change(spec panel.Spec) { spec.Width, spec.Limits = 6, scaled(2) }

var _ = panel.Spec{Unit: panel.UnitShare, Limits: panel.StepsOf(rules.GC), Bad: panel.Bad(rules.GC, "{warn} or more.")}
var _ = panel.Spec{Unit: panel.UnitShare, Limits: panel.StepsOf(rules.GC), Bad: "It lasts."}
var _ = panel.Spec{Width: 4, Limits: panel.Any(panel.Red), Bad: "Any in 10 minutes."}
func width(spec panel.Spec) { spec.Width, spec.Limits = 6, panel.Any(panel.Red) }
`
	review := review{ids: ruleConstants(t, "../rules")}
	require.NoError(t, review.folder(fstest.MapFS{
		"overview/planted.go": {Data: []byte(text)}, "overview/planted_test.go": {Data: []byte(text)}, "panel/planted.go": {Data: []byte(text)},
	}))
	require.Equal(t, []string{
		`overview/planted.go:2 repeats a limit in "10 % or more.": write panel.Bad with {warn} and {critical}`,
		`overview/planted.go:3 repeats a limit in ", or 3.": write panel.Bad with {warn} and {critical}`,
		"overview/planted.go:4 is coloured by rules.GC and its text is of rules.Heap",
		"overview/planted.go:5 shows UnitSeconds, and rules.MasterDelay is in ms",
		"overview/planted.go:6 has the limit 0.1: take it from a rule",
		"overview/planted.go:7 makes a limit: take it from a rule",
		"overview/planted.go:8 has the limit 2: take it from a rule",
	}, review.violations)
	require.Equal(t, 6, review.judged)
}

// ruleConstants returns the rules' ids by the names of their constants.
func ruleConstants(t *testing.T, folder string) map[string]rules.ID {
	t.Helper()
	ids := map[string]rules.ID{}
	files, err := fs.Glob(os.DirFS(folder), "*.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(folder, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && named(v.Type, "", "ID") && len(v.Values) == 1 {
				ids[v.Names[0].Name] = rules.ID(unquoted(v.Values[0]))
			}
			return true
		})
	}
	return ids
}

// review finds the panels whose limits or texts are not made of rules.
type review struct {
	ids        map[string]rules.ID // by the name of the constant
	judged     int                 // panels with a rule
	violations []string
	position   func(ast.Node) string
}

// folder reads the files that define panels: all but the tests and package panel.
func (r *review) folder(files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || path.Dir(name) == "panel" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		lines := token.NewFileSet()
		file, err := parser.ParseFile(lines, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		r.position = func(n ast.Node) string { return fmt.Sprintf("%s:%d", name, lines.Position(n.Pos()).Line) }
		ast.Inspect(file, func(n ast.Node) bool { r.node(n); return true })
		return nil
	})
}

func (r *review) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		element := n.Type
		if list, ok := element.(*ast.ArrayType); ok {
			element = list.Elt
		}
		switch {
		case named(element, "panel", "Limit"):
			r.report(n, "makes a limit: take it from a rule")
		case named(element, "panel", "Spec"), named(element, "panel", "Column"):
			r.panel(n)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && field.Sel.Name == "Limits" && len(n.Rhs) == len(n.Lhs) {
				r.limits(n.Rhs[i])
			}
		}
	}
}

// panel judges the literal of a panel or of a table's column.
func (r *review) panel(literal *ast.CompositeLit) {
	fields := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			fields[pair.Key.(*ast.Ident).Name] = pair.Value
		}
	}
	limits := fields["Limits"]
	if limits == nil {
		return
	}
	r.limits(limits)
	name := argument(limits, "StepsOf")
	if name == "" {
		return
	}
	r.judged++
	if bad := fields["Bad"]; bad != nil {
		if other := argument(bad, "Bad"); other != "" && other != name {
			r.report(literal, "is coloured by rules.%s and its text is of rules.%s", name, other)
		}
		for _, text := range basics(bad, token.STRING) {
			if strings.ContainsAny(text.Value, "0123456789") {
				r.report(literal, "repeats a limit in %s: write panel.Bad with {warn} and {critical}", text.Value)
			}
		}
	}
	if unit, ok := fields["Unit"].(*ast.SelectorExpr); ok {
		if want := rules.Get(r.ids[name]).Running().Unit; !slices.Contains(units()[want], unit.Sel.Name) {
			r.report(literal, "shows %s, and rules.%s is in %s", unit.Sel.Name, name, want)
		}
	}
}

// units are the panels' units in which a rule's limit is what it says.
func units() map[rules.Unit][]string {
	return map[rules.Unit][]string{
		rules.Share: {"UnitShare"}, rules.Times: {"UnitTimes", "UnitCount"}, rules.Count: {"UnitCount"},
		rules.Seconds: {"UnitSeconds"}, rules.Milliseconds: {"UnitMilliseconds"}, rules.Bytes: {"UnitBytes"},
	}
}

func (r *review) limits(limits ast.Expr) {
	for _, number := range append(basics(limits, token.INT), basics(limits, token.FLOAT)...) {
		r.report(limits, "has the limit %s: take it from a rule", number.Value)
	}
}

func (r *review) report(n ast.Node, format string, args ...any) {
	r.violations = append(r.violations, r.position(n)+" "+fmt.Sprintf(format, args...))
}

// named reports whether a type is that of a package, or of its own one.
func named(expr ast.Expr, pkg, name string) bool {
	switch expr := expr.(type) {
	case *ast.Ident:
		return pkg == "" && expr.Name == name
	case *ast.SelectorExpr:
		owner, ok := expr.X.(*ast.Ident)
		return ok && owner.Name == pkg && expr.Sel.Name == name
	}
	return false
}

// argument returns the X of a call panel.function(rules.X, …), or "".
func argument(expr ast.Expr, function string) string {
	call, ok := expr.(*ast.CallExpr)
	if !ok || !named(call.Fun, "panel", function) {
		return ""
	}
	if rule, ok := call.Args[0].(*ast.SelectorExpr); ok {
		return rule.Sel.Name
	}
	return ""
}

// basics returns the literals of a kind within an expression.
func basics(expr ast.Expr, kind token.Token) []*ast.BasicLit {
	var found []*ast.BasicLit
	ast.Inspect(expr, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == kind {
			found = append(found, literal)
		}
		return true
	})
	return found
}

func unquoted(expr ast.Expr) string {
	literal, ok := expr.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}
