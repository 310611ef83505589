// Package facts holds what AWS and the applications say about themselves, as dated
// data files: instance types, releases, names of properties. Each file names its
// source, its date and what refreshes it; `make facts` rewrites those that a package
// registry has.
//
// The package decides nothing: package schema has the rules. It asks nobody: a file
// says what was true on its date.
package facts
