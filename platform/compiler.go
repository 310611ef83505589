package platform

// CompilerFlags are the flags of Go for all that the project compiles (the
// Makefile exports them), so that what one build has compiled the next finds in
// Go's cache. Debug information takes an eighth of the compiler's time, and -s
// strips it anyway.
func CompilerFlags() []string { return []string{"-trimpath", "-gcflags=all=-dwarf=false"} }

// ControlBinary is the file name of the control node's part of this project for
// an architecture; the Makefile builds it.
func ControlBinary(arch string) string { return Name + "-linux-" + arch }
