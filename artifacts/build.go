package artifacts

import "github.com/emr-observatory/emr-observatory/platform"

// Build is a way to compile what is built here with Go. The lock has an entry for
// each; artifacts of other kinds have none.
type Build string

// The builds.
const (
	// Release is fully optimised: nodes on AWS install it.
	Release Build = "release"
	// Development has the flags of servers (decision 7), so that a first
	// `make up` takes minutes less: nodes of the local cloud install it.
	Development Build = "development"
)

// compilerFlags returns Go's flags. Without debug information the code is the same;
// -s would strip it anyway. Both builds omit it, so that the packages that are
// inlined in both are compiled once.
func (b Build) compilerFlags() []string {
	if b == Release {
		return []string{"-trimpath", "-gcflags=all=-dwarf=false"}
	}
	return platform.ServerFlags()
}

// remedy is the command that puts an artifact of this build into the store.
func (b Build) remedy() string {
	if b == Development {
		return "run `make tools`"
	}
	return "run `make artifacts`"
}

// buildsOf returns the builds of a kind, "" for one that does not depend on it.
func buildsOf(kind platform.SourceKind) []Build {
	if kind == platform.SourceCollector {
		return []Build{Release, Development}
	}
	return []Build{""}
}
