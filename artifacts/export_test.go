package artifacts

import "github.com/emr-observatory/emr-observatory/platform"

// RelockParts is Relock for other parts than the platform's own.
var RelockParts = relockParts

// CheckLock compares the committed lock with the records of parts.
func CheckLock(parts []platform.NodePart) error {
	_, err := committedLock(parts)
	return err
}

// CompilerFlags are a build's flags.
func CompilerFlags(b Build) []string { return b.compilerFlags() }

// Named returns the entries of the platform's parts that a name stands for.
func Named(name string) ([]Artifact, error) {
	return pick(entriesOf(platform.NodeParts()), []string{name})
}

// ApplyPatches changes a module as its patches say.
var ApplyPatches = applyPatches
