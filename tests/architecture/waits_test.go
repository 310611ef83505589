package architecture

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"time"
)

// longestLiteral is the longest duration that a test may write out for time.After or
// context.WithTimeout: up to here it is a pause, or a timeout that the test lets expire.
const longestLiteral = 10 * time.Second

// literalLimits lists the waits of tests whose limit does not come from internal/testenv,
// which scales limits by the load of the machine: those of testify, those of
// internal/poll with a timeout, and long durations given to time.After or
// context.WithTimeout. Tests in a bubble of testing/synctest have a clock of their own.
func literalLimits(files []source) []string {
	var violations []string
	for _, file := range files {
		if !file.isTest() || file.folder() == "internal/poll" || file.imports("testing/synctest") {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if reason := limitOf(n); reason != "" {
				violations = append(violations, file.position(n)+" "+reason)
			}
			return true
		})
	}
	return violations
}

// limitOf says what is wrong with a wait, or returns "".
func limitOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		switch called := selected(n.Fun); {
		case strings.HasPrefix(called, "require.Eventually"), strings.HasPrefix(called, "assert.Eventually"):
			return "waits with testify: use testenv.Eventually"
		case called == "time.After" && literalDuration(n.Args[0]) >= longestLiteral,
			called == "context.WithTimeout" && literalDuration(n.Args[1]) >= longestLiteral:
			return "has a literal limit: take one of testenv's"
		}
	case *ast.CompositeLit:
		if selected(n.Type) == "poll.Options" && slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
			field, ok := e.(*ast.KeyValueExpr)
			return ok && root(field.Key) == "Timeout" && literalDuration(field.Value) > 0
		}) {
			return "polls with a literal limit: use testenv.Poll"
		}
	}
	return ""
}

func (s source) imports(path string) bool {
	return slices.ContainsFunc(s.syntax.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(path) })
}

// selected returns "package.Name" of a selector, or "".
func selected(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if of, ok := s.X.(*ast.Ident); ok {
			return of.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// units are the durations that tests write out.
var units = map[string]time.Duration{
	"time.Millisecond": time.Millisecond, "time.Second": time.Second, "time.Minute": time.Minute, "time.Hour": time.Hour,
}

// literalDuration returns the value of `time.Minute` and `2 * time.Minute`, or 0.
func literalDuration(e ast.Expr) time.Duration {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return units[selected(e)]
	case *ast.BinaryExpr:
		if count, ok := e.X.(*ast.BasicLit); ok && e.Op == token.MUL {
			n, err := strconv.ParseInt(count.Value, 10, 64)
			if err == nil {
				return time.Duration(n) * literalDuration(e.Y)
			}
		}
	}
	return 0
}
