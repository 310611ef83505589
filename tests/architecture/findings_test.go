package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// assignedGlobals lists assignments to package variables: these may be read-only
// tables, but no state. Tests may assign to them.
func assignedGlobals(files []source) []string {
	globals := map[string]map[string]bool{} // by folder
	for _, file := range files {
		for _, declaration := range file.syntax.Decls {
			d, ok := declaration.(*ast.GenDecl)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				for _, name := range valueNames(spec) {
					if globals[file.folder()] == nil {
						globals[file.folder()] = map[string]bool{}
					}
					globals[file.folder()][name] = true
				}
			}
		}
	}
	var violations []string
	for _, file := range files {
		if file.isTest() {
			continue
		}
		for _, declaration := range file.syntax.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
				violations = append(violations, assignments(file, function, globals[file.folder()])...)
			}
		}
	}
	return violations
}

// valueNames returns the names that a var declaration declares.
func valueNames(spec ast.Spec) []string {
	v, ok := spec.(*ast.ValueSpec)
	if !ok {
		return nil
	}
	var names []string
	for _, name := range v.Names {
		if name.Name != "_" { // holds nothing
			names = append(names, name.Name)
		}
	}
	return names
}

// assignments lists a function's assignments to globals that no local name shadows.
func assignments(file source, function *ast.FuncDecl, globals map[string]bool) []string {
	local := map[string]bool{}
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					local[root(left)] = true
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				local[root(n.Key)], local[root(n.Value)] = true, true
			}
		}
		return true
	})
	var violations []string
	note := func(target ast.Expr) {
		if name := root(target); globals[name] && !local[name] {
			violations = append(violations, fmt.Sprintf("%s assigns to the package variable %s", file.position(target), name))
		}
	}
	ast.Inspect(function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					note(left)
				}
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	})
	return violations
}

// root returns the variable in `x`, `x.field`, `x[i]` and `*x`.
func root(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return ""
}

// nolints lists the //nolint comments.
func nolints(files []source) []string {
	var found []string
	for _, file := range files {
		for _, group := range file.syntax.Comments {
			for _, comment := range group.List {
				if strings.HasPrefix(comment.Text, "//nolint") {
					found = append(found, file.position(comment)+" "+comment.Text)
				}
			}
		}
	}
	return found
}

// citation matches "decision 6", "decisions/0006-…" and the like.
var citation = regexp.MustCompile(`(?i)\bdecision (\d+)\b|decisions/(\d{4}-[a-z0-9-]+\.md)`)

// badCitations lists citations of decision records that do not exist.
func badCitations(repository fs.FS, files []string) ([]string, error) {
	records, err := decisionRecords(repository)
	if err != nil {
		return nil, err
	}
	var violations []string
	for _, name := range files {
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return nil, err
		}
		for _, match := range citation.FindAllStringSubmatch(string(text), -1) {
			number, err := strconv.Atoi(match[1])
			known := err == nil && number >= 1 && number <= len(records) || slices.Contains(records, match[2])
			if !known {
				violations = append(violations, fmt.Sprintf("%s cites %q: no such record", name, match[0]))
			}
		}
	}
	return violations, nil
}

// decisionRecords lists docs/decisions without its index, in order.
func decisionRecords(repository fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(repository, "docs/decisions")
	if err != nil {
		return nil, err
	}
	var records []string
	for _, entry := range entries {
		if path.Ext(entry.Name()) == ".md" && entry.Name() != "README.md" {
			records = append(records, entry.Name())
		}
	}
	return records, nil
}
