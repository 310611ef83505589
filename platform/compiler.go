package platform

// CompilerFlags are the flags of go build for all that the project compiles, so
// that what one build has compiled the next finds in Go's cache. Debug
// information takes an eighth of the compiler's time, and -s strips it anyway.
func CompilerFlags() []string { return []string{"-trimpath", "-gcflags=all=-dwarf=false"} }
