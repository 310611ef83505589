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
