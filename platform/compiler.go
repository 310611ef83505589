package platform

import (
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// compilerFlags are as GOFLAGS takes them, one per line.
//
//go:embed compiler.flags
var compilerFlags string

// CompilerFlags returns Go's flags for everything that the project compiles (the
// Makefile exports the same file), so that builds share Go's cache. They save time
// on a machine with an empty cache: debug information takes an eighth of the
// compiler's time, and -s strips it anyway; inlining takes a fifth, and is enabled
// only for what is busy while a job runs: Go's own packages, the stores' and
// collectors', gRPC, compression and encoding. The last pattern that matches a
// package applies.
func CompilerFlags() []string {
	var flags []string
	for line := range strings.Lines(compilerFlags) {
		flags = append(flags, strings.Trim(strings.TrimSpace(line), "'"))
	}
	return flags
}

// ServerFlags returns CompilerFlags without those for packages that servers and collectors
// contain, but only the profiler is busy with. Changing these would compile all servers and
// locked collectors again.
func ServerFlags() []string {
	return slices.DeleteFunc(CompilerFlags(), func(flag string) bool { return strings.Contains(flag, "=github.com/mailru/easyjson/") })
}

// CompilerProcesses returns the flag -p for each of two builds that run at once:
// together as many compilers as processors, and at least two each, so that a build
// that runs alone has two.
func CompilerProcesses() string { return fmt.Sprintf("-p=%d", max(2, runtime.NumCPU()/2)) }

// CompilerMemory is an environment variable for compiling only: a compiler that
// collects garbage less often takes a quarter less CPU time and, for seconds, up to
// twice the memory. The programs that are built must not inherit it.
const CompilerMemory = "GOGC=400"

// Binary is one of the project's own programs on the control node, by its name there.
type Binary string

// The programs.
const (
	BinaryControl  Binary = Name               // cmd/observatory-control
	BinaryProfiler Binary = Name + "-profiler" // cmd/observatory-profiler
)

// Binaries returns all of them.
func Binaries() []Binary { return []Binary{BinaryControl, BinaryProfiler} }

// File returns the program's file name for an architecture; the Makefile builds it.
func (b Binary) File(arch string) string { return string(b) + "-linux-" + arch }
