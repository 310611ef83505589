// Command unusedexports lists exported identifiers of this module that nothing
// but tests uses: functions, methods, types, constants, variables and fields, and
// fields of Args that nothing but tests sets. golangci-lint checks one package at a
// time and considers all of these used.
//
// Usage: unusedexports EXCEPTIONS, in the module's folder. EXCEPTIONS has one
// identifier (or a prefix and *) and a reason per line. A line that matches nothing
// is an error too.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(exceptionsFile string) error {
	excused, err := readExceptions(exceptionsFile)
	if err != nil {
		return err
	}
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedImports | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Mode: mode}, "./...")
	if err != nil {
		return err
	}
	if packages.PrintErrors(loaded) > 0 {
		return errors.New("packages do not compile")
	}
	u := newUsage(loaded)
	var problems []string
	for _, p := range loaded {
		for _, finding := range u.unused(p) {
			if pattern := excused.match(finding.name); pattern != "" {
				excused[pattern]++
			} else {
				problems = append(problems, fmt.Sprintf("%s: %s %s", finding.position, finding.name, finding.what))
			}
		}
	}
	for pattern, matches := range excused {
		if matches == 0 {
			problems = append(problems, fmt.Sprintf("%s: %s is used, or gone: delete the line", exceptionsFile, pattern))
		}
	}
	slices.Sort(problems)
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// exceptions are identifiers, or prefixes that end in *, with how many findings they match.
type exceptions map[string]int

// match returns the exception that covers a name: the name itself, or else the longest
// prefix; "" if there is none.
func (e exceptions) match(name string) string {
	if _, listed := e[name]; listed {
		return name
	}
	longest := ""
	for pattern := range e {
		prefix, wildcard := strings.CutSuffix(pattern, "*")
		if wildcard && strings.HasPrefix(name, prefix) && len(pattern) > len(longest) {
			longest = pattern
		}
	}
	return longest
}

// readExceptions reads the file of exceptions.
func readExceptions(file string) (exceptions, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	excused := exceptions{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, reason, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %s lacks a reason", file, name)
		}
		excused[name] = 0
	}
	return excused, nil
}

// usage is what the sources other than tests use. Objects are compared by objectKey:
// an imported package has other objects than its own sources.
type usage struct {
	mentioned map[string]bool
	set       map[string]bool // fields, by a literal or an assignment
	called    map[string]bool // names of methods in interfaces
}

func newUsage(loaded []*packages.Package) *usage {
	u := &usage{mentioned: map[string]bool{}, set: map[string]bool{}, called: map[string]bool{}}
	for _, p := range loaded {
		for _, object := range p.TypesInfo.Uses {
			u.mentioned[objectKey(object)] = true
		}
		for _, selection := range p.TypesInfo.Selections {
			u.mentioned[objectKey(selection.Obj())] = true
		}
		for _, file := range p.Syntax {
			u.recordSetFields(p.TypesInfo, file)
		}
		u.recordInterfaces(p.Types)
		for _, imported := range p.Types.Imports() {
			u.recordInterfaces(imported)
		}
	}
	return u
}

// recordSetFields records which fields a file sets, by literals with and without keys.
func (u *usage) recordSetFields(info *types.Info, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			structure, ok := types.Unalias(info.TypeOf(n)).Underlying().(*types.Struct)
			if !ok {
				break
			}
			for i, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					if name, ok := pair.Key.(*ast.Ident); ok {
						u.set[objectKey(info.Uses[name])] = true
					}
				} else if i < structure.NumFields() {
					u.set[objectKey(structure.Field(i))] = true
					u.mentioned[objectKey(structure.Field(i))] = true
				}
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				u.recordTarget(info, left)
			}
		case *ast.UnaryExpr: // an address that something writes to
			u.recordTarget(info, n.X)
		case *ast.IncDecStmt:
			u.recordTarget(info, n.X)
		}
		return true
	})
}

// recordTarget records the fields in an assignment's target as set.
func (u *usage) recordTarget(info *types.Info, target ast.Expr) {
	switch target := target.(type) {
	case *ast.SelectorExpr:
		u.set[objectKey(info.Uses[target.Sel])] = true
		u.recordTarget(info, target.X)
	case *ast.IndexExpr:
		u.recordTarget(info, target.X)
	}
}

// recordInterfaces records the methods of a package's interfaces: a type may have
// them only to implement the interface.
func (u *usage) recordInterfaces(p *types.Package) {
	for _, name := range p.Scope().Names() {
		declared, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if i, ok := declared.Type().Underlying().(*types.Interface); ok {
			for method := range i.Methods() {
				u.called[method.Name()] = true
			}
		}
	}
}

type finding struct{ name, what, position string }

// unused lists the exported identifiers of p that nothing but tests uses.
func (u *usage) unused(p *packages.Package) []finding {
	var found []finding
	path := strings.TrimPrefix(p.PkgPath, "github.com/emr-observatory/emr-observatory/")
	report := func(object types.Object, name, what string) {
		found = append(found, finding{path + "." + name, what, p.Fset.Position(object.Pos()).String()})
	}
	if p.Name == "main" {
		return nil // golangci-lint's linter unused finds these
	}
	for _, name := range p.Types.Scope().Names() {
		object := p.Types.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		if !u.mentioned[objectKey(object)] {
			report(object, name, "is used by nothing but tests")
		}
		declared, ok := object.(*types.TypeName)
		if !ok || declared.IsAlias() {
			continue
		}
		u.checkMethods(declared, report)
		u.checkFields(declared, report)
	}
	return found
}

// checkMethods reports the unused methods of a type.
func (u *usage) checkMethods(declared *types.TypeName, report func(types.Object, string, string)) {
	named, ok := declared.Type().(*types.Named)
	if !ok {
		return
	}
	for method := range named.Methods() {
		if method.Exported() && !u.mentioned[objectKey(method)] && !u.called[method.Name()] && !isWellKnown(method.Name()) {
			report(method, declared.Name()+"."+method.Name(), "is used by nothing but tests")
		}
	}
}

// isWellKnown reports whether libraries call a method by reflection or through an
// unnamed interface.
func isWellKnown(method string) bool {
	return slices.Contains([]string{"Error", "String", "Unwrap", "Is", "As", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText",
		"MarshalYAML", "UnmarshalYAML", "ElementType"}, method)
}

// checkFields reports the unused fields of a struct type.
func (u *usage) checkFields(declared *types.TypeName, report func(types.Object, string, string)) {
	structure, ok := declared.Type().Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := range structure.NumFields() {
		field := structure.Field(i)
		if !field.Exported() || field.Embedded() || structure.Tag(i) != "" {
			continue // a tag: an encoder sets or reads it
		}
		name := declared.Name() + "." + field.Name()
		switch {
		case !u.mentioned[objectKey(field)]:
			report(field, name, "is used by nothing but tests")
		case strings.HasSuffix(declared.Name(), "Args") && !u.set[objectKey(field)]:
			report(field, name, "is set by nothing but tests")
		}
	}
}

// objectKey identifies an object by its package, name and position.
func objectKey(object types.Object) string {
	if object == nil || object.Pkg() == nil {
		return ""
	}
	if f, ok := object.(*types.Func); ok {
		object = f.Origin()
	}
	if v, ok := object.(*types.Var); ok {
		object = v.Origin()
	}
	return fmt.Sprintf("%s %s %d", object.Pkg().Path(), object.Name(), object.Pos())
}
