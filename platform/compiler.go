package platform

import (
	_ "embed"
	"fmt"
	"runtime"
	"strings"
)

// compilerFlags are as GOFLAGS takes them, one a line.
//
//go:embed compiler.flags
var compilerFlags string

// CompilerFlags are the flags of Go for all that the project compiles (the
// Makefile exports the same file), so that what one build has compiled the next
// finds in Go's cache. They save time on a machine that has compiled nothing
// yet. Debug information takes an eighth of the compiler's, and -s strips it
// anyway. Inlining takes a fifth, and is left to what is busy when a job runs:
// Go's own packages, the stores' and collectors', gRPC, and what stores compress
// and encode with. A package takes the last pattern that matches it.
func CompilerFlags() []string {
	var flags []string
	for line := range strings.Lines(compilerFlags) {
		flags = append(flags, strings.Trim(strings.TrimSpace(line), "'"))
	}
	return flags
}

// CompilerProcesses bounds the compilers of one of two builds at a time (go
// build's -p): together no more than there are processors, and two at least, so
// that what is left of a build alone has two.
func CompilerProcesses() string { return fmt.Sprintf("-p=%d", max(2, runtime.NumCPU()/2)) }

// CompilerMemory is the environment of Go for compiling alone: a compiler that
// collects its garbage less often takes a quarter less CPU time and up to twice
// the memory, seconds long. What is built must not inherit it.
const CompilerMemory = "GOGC=400"

// ControlBinary is the file name of the control node's part of this project for
// an architecture; the Makefile builds it.
func ControlBinary(arch string) string { return Name + "-linux-" + arch }
