// Package mutants_test puts twelve faults into the program, each in another package, and
// finds which tests of an ordinary run catch them.
//
// They are drawn without regard to the tests. testdata/before.json keeps them, and what the
// longer tests of an earlier version did with them: what those caught must be caught. With
// OBSERVATORY_MUTANTS_TREE=/another/checkout that version's tests run, on it and the same
// faults, and -update writes the file. OBSERVATORY_MUTANTS_WITHOUT is a pattern of folders
// whose tests do not run: what no other test catches is then undecided. A fault may fill
// caches wrongly: set XDG_CACHE_HOME to a copy, and GOCACHE to where it was.
package mutants_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/tests/times"
)

var update = flag.Bool("update", false, "write what OBSERVATORY_MUTANTS_TREE does with the faults to testdata/before.json")

const (
	module     = "github.com/emr-observatory/emr-observatory"
	repository = "../.."
	recorded   = "testdata/before.json"
	seed       = 30
	faults     = 12
)

var (
	// excluded are the folders of tests, of what only tests use, and of what is not the program.
	excluded = regexp.MustCompile(
		`^(tests|examples|toolchain/lint|simulator/property|internal/(bench|browser|keptlogs|recorder|testenv|trial))(/|$)|test$`)
	// late are the folders whose tests run after all others: they start clouds, clusters and JVMs.
	late = regexp.MustCompile(`^(tests/(cloud|phases|history)|assets(/.*)?|profiler/run|localcloud/emr)$`)
	// failing finds the test that failed, or that ran when the time was up.
	failing = regexp.MustCompile(`(?m)^(?:--- FAIL: |\s+running tests:\s+)([^\s/]+)`)
	// neighbours are what operators become: their negation, and what differs at the boundary.
	neighbours = map[token.Token][]token.Token{
		token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
		token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
		token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	}
)

// tree is a checkout: its packages by folder, and all places for faults.
type tree struct {
	root, flags string
	packages    map[string]*build.Package
	sites       []site
}

// site is a place in a version of the program, and a change there.
type site struct {
	file     string
	what     string // the function's declaration, the line and the change: the same in other versions
	line     int
	from, to int    // offsets of what is replaced
	with     string // the replacement
}

func (s site) id() string     { return s.file + ": " + s.what }
func (s site) folder() string { return path.Dir(s.file) }

// sitesOf returns the sites of a file by their offsets; none of a generated file.
func sitesOf(t *testing.T, name, text string) (sites []site) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	if ast.IsGenerated(syntax) {
		return nil
	}
	file, function, same := set.File(syntax.FileStart), "", map[string]int{}
	between := func(from, to token.Pos) string { return text[file.Offset(from):file.Offset(to)] }
	add := func(from, to token.Pos, with, change string) {
		s := site{file: name, line: file.Line(from), from: file.Offset(from), to: file.Offset(to), with: with}
		shown, _, _ := strings.Cut(text[file.Offset(file.LineStart(s.line)):], "\n")
		s.what = fmt.Sprintf("%s: `%s` %s", function, strings.TrimSpace(shown), change)
		if same[s.what]++; same[s.what] > 1 {
			s.what += fmt.Sprintf(", place %d", same[s.what])
		}
		sites = append(sites, s)
	}
	for _, declaration := range syntax.Decls {
		function = ""
		if f, ok := declaration.(*ast.FuncDecl); ok {
			function = between(f.Pos(), f.Name.End())
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ArrayType: // its length is part of a type
				return false
			case *ast.GenDecl: // constants by iota are names, not quantities
				return n.Tok != token.CONST || !strings.Contains(between(n.Pos(), n.End()), "iota")
			case *ast.BinaryExpr:
				for _, operator := range neighbours[n.Op] {
					add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), operator.String(), n.Op.String()+" becomes "+operator.String())
				}
			case *ast.BasicLit:
				if value, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
					add(n.Pos(), n.End(), strconv.FormatInt(value+1, 10), n.Value+" is one more")
				}
			case *ast.IfStmt:
				if len(n.Body.List) == 1 {
					switch n.Body.List[0].(type) {
					case *ast.ReturnStmt, *ast.BranchStmt, *ast.AssignStmt:
						add(n.Cond.Pos(), n.Cond.End(), "false", "never holds")
					}
				}
			case *ast.ExprStmt, *ast.AssignStmt:
				add(n.Pos(), n.End(), "", "is not done")
			}
			return true
		})
	}
	return sites
}

// load reads a checkout. `go list` would read all modules that it uses, too.
func load(t *testing.T, root string) *tree {
	root, err := filepath.Abs(root)
	require.NoError(t, err)
	flags, err := os.ReadFile(filepath.Join(root, "platform", "compiler.flags"))
	require.NoError(t, err)
	tr := &tree{root: root, flags: strings.ReplaceAll(string(flags), "\n", " "), packages: map[string]*build.Package{}}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		_, otherModule := os.Stat(filepath.Join(root, folder, "go.mod"))
		if folder != "." && (otherModule == nil || strings.ContainsAny(entry.Name()[:1], "._") || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		p, err := build.ImportDir(filepath.Join(root, folder), 0)
		if none := new(build.NoGoError); errors.As(err, &none) {
			return nil
		}
		tr.packages[folder] = p
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(root, folder, file))
			require.NoError(t, err)
			if !excluded.MatchString(folder) {
				tr.sites = append(tr.sites, sitesOf(t, filepath.Join(folder, file), string(text))...)
			}
		}
		return err
	}))
	slices.SortStableFunc(tr.sites, func(a, b site) int { return cmp.Or(strings.Compare(a.file, b.file), a.from-b.from) })
	return tr
}

// command returns a call of go that sees the program with a fault, as do the builds that
// tests start. Without a fault it differs in nothing else.
func (tr *tree) command(t *testing.T, fault site, arguments ...string) *exec.Cmd {
	dir, overlay := t.TempDir(), `{"Replace": {}}`
	if fault.file != "" {
		original, changed := filepath.Join(tr.root, fault.file), filepath.Join(dir, "changed.go")
		text, err := os.ReadFile(original)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(changed, slices.Concat(text[:fault.from], []byte(fault.with), text[fault.to:]), 0o644))
		overlay = fmt.Sprintf(`{"Replace": {%q: %q}}`, original, changed)
	}
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, []byte(overlay), 0o644))
	cmd := exec.CommandContext(t.Context(), "go", arguments...)
	cmd.Dir = tr.root
	cmd.Env = append(cmd.Environ(), "OBSERVATORY_LONG=", "CGO_ENABLED=0", "GOFLAGS="+tr.flags+" -overlay="+path)
	return cmd
}

func (tr *tree) compiles(t *testing.T, fault site) bool {
	return tr.command(t, fault, "build", "-o", os.DevNull, "./"+fault.folder()).Run() == nil
}

// draw returns the recorded faults that are still possible, and draws others until there
// are enough, each in a package of its own.
func (tr *tree) draw(t *testing.T, known map[string]string) (drawn []site) {
	taken := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if s, ok := tr.find(id); ok {
			drawn, taken[s.folder()] = append(drawn, s), true
		}
	}
	shuffled := slices.Clone(tr.sites)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for _, s := range shuffled {
		if len(drawn) < faults && !taken[s.folder()] && tr.compiles(t, s) {
			drawn, taken[s.folder()] = append(drawn, s), true
		}
	}
	return drawn
}

// testers lists the folders whose tests contain a package: its own, then by what they took
// when that was recorded, and by the number of imports between.
func (tr *tree) testers(folder string, seconds map[string]float64) (folders []string) {
	distance, rank := map[string]int{path.Join(module, folder): 0}, map[string][]float64{}
	for from, found := 0, 1; found > 0; from++ {
		found = 0
		nearer := func(imported string) bool { d, ok := distance[imported]; return ok && d == from }
		for name, p := range tr.packages {
			own := path.Join(module, name)
			if _, seen := distance[own]; !seen && slices.ContainsFunc(p.Imports, nearer) {
				distance[own] = from + 1
				found++
			}
			imported := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			tests := len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 && rank[name] == nil
			if tests && (name == folder || slices.ContainsFunc(imported, nearer)) {
				group := slices.Index([]bool{name == folder, !late.MatchString(name), true}, true)
				folders, rank[name] = append(folders, name), []float64{float64(group), seconds[name], float64(from)}
			}
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Or(slices.Compare(rank[a], rank[b]), strings.Compare(a, b)) })
	return folders
}

// find finds the site of another version: in the same file or, if its function has moved,
// the only one elsewhere that is the same.
func (tr *tree) find(id string) (found site, ok bool) {
	moved := 0
	_, what, _ := strings.Cut(id, ": ")
	for _, s := range tr.sites {
		switch {
		case s.id() == id:
			return s, true
		case s.what == what && strings.HasPrefix(what, "func "):
			found, moved = s, moved+1
		}
	}
	return found, moved == 1
}

// run returns the first test of a folder that fails with the fault and passes without it,
// or "", and whether it ran all of them: those that fail without it too are left out.
func (tr *tree) run(t *testing.T, fault site, folder string, broken ...string) (test string, whole bool) {
	limit := map[bool]testenv.Limit{false: testenv.Cloud, true: 3 * testenv.Cloud}[late.MatchString(folder)]
	arguments := []string{"test", "-vet=off", "-count=1", "-failfast", "-timeout=" + limit.Scaled().String(), "./" + folder}
	out, err := tr.command(t, fault, append(arguments, "-skip=^("+strings.Join(broken, "|")+")$")...).CombinedOutput()
	t.Logf("%s", out[max(0, len(out)-3000):])
	if err == nil {
		return "", len(broken) == 0
	}
	if found := failing.FindSubmatch(out); found != nil {
		test = string(found[1])
	} // else it does not compile or start
	switch err := tr.command(t, site{}, append(arguments, "-run=^"+test+"$")...).Run(); {
	case err == nil:
		return cmp.Or(test, "(build or start)"), true
	case test == "":
		return "", false
	}
	return tr.run(t, fault, folder, append(broken, test)...)
}

// try runs tests until one catches the fault.
func (tr *tree) try(t *testing.T, id string, seconds map[string]float64) string {
	s, ok := tr.find(id)
	if !ok || !tr.compiles(t, s) {
		return "not there"
	}
	without := regexp.MustCompile(cmp.Or(os.Getenv("OBSERVATORY_MUTANTS_WITHOUT"), "^$"))
	var open []string
	for _, folder := range tr.testers(s.folder(), seconds) {
		test, whole := "", false
		if !without.MatchString(folder) {
			test, whole = tr.run(t, s, folder)
		}
		if test != "" {
			return "caught by " + folder + " " + test
		}
		if !whole {
			open = append(open, folder)
		}
	}
	if len(open) > 0 {
		return "undecided without " + strings.Join(open, ", ")
	}
	return "missed"
}

func TestMutants(t *testing.T) {
	testenv.RequireLong(t, "OBSERVATORY_LONG=1 go test -timeout=0 -v ./tests/mutants takes hours; TestSites covers how faults are made")
	var before map[string]string
	var past times.Times
	for path, into := range map[string]any{recorded: &before, repository + "/tests/times/times.json": &past} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, into))
	}
	here := load(t, repository)
	drawn, tested, other := here.draw(t, before), here, os.Getenv("OBSERVATORY_MUTANTS_TREE")
	if other != "" {
		tested = load(t, other)
	}
	var table strings.Builder
	for _, s := range drawn {
		t.Run(fmt.Sprintf("%s:%d", s.file, s.line), func(t *testing.T) {
			began, outcome := time.Now(), tested.try(t, s.id(), past.Test.Packages)
			fmt.Fprintf(&table, "%d %s: %s, %.0f s\n", s.line, s.id(), outcome, time.Since(began).Seconds())
			if other == "" {
				require.False(t, outcome == "missed" && strings.HasPrefix(before[s.id()], "caught by "), "before, it was %s", before[s.id()])
			} else if *update {
				before[s.id()] = outcome
				text, err := json.MarshalIndent(before, "", "  ")
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(recorded, append(text, '\n'), 0o644))
			}
		})
	}
	t.Log("\n" + table.String())
}

func TestSites(t *testing.T) {
	const text = "package p\n\nconst a = iota + 1\n\nvar sizes = [3]int{7}\n\n" +
		"func (r *T) f(x, y int) bool {\n\tif x < y {\n\t\treturn x == 1 && y == 1\n\t}\n\tg(x)\n\treturn false\n}\n"
	sites := sitesOf(t, "p/p.go", text)
	var changed []string
	for _, s := range sites {
		changed = append(changed, strings.TrimSpace(strings.Split(text[:s.from]+s.with+text[s.to:], "\n")[s.line-1]))
	}
	require.Equal(t, []string{
		"var sizes = [3]int{8}", "if false {", "if x <= y {", "if x >= y {", "return x == 1 || y == 1", "return x != 1 && y == 1",
		"return x == 2 && y == 1", "return x == 1 && y != 1", "return x == 1 && y == 2", "",
	}, changed)
	require.Equal(t, "p/p.go: func (r *T) f: `return x == 1 && y == 1` 1 is one more, place 2", sites[8].id())
	moved := &tree{sites: sitesOf(t, "q/q.go", "package q\n\nvar x = 1 == 1\n"+strings.TrimPrefix(text, "package p"))}
	for _, s := range sites {
		found, ok := moved.find(s.id())
		require.True(t, ok && found.line == s.line+3 || s.line == 5, "only what is in a function is found in another file")
	}
	require.Empty(t, sitesOf(t, "p/p.go", "// Code generated by x. DO NOT EDIT.\n\n"+text))
}
