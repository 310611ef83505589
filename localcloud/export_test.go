package localcloud

import (
	"maps"
	"slices"
)

// Parts of Coverage, for its test.
var (
	RecordedTypes = recordedTypes
	RecordedParts = recordedParts
)

// HandledTypes lists the types with a handler.
func HandledTypes() []string { return slices.Sorted(maps.Keys(new(cloud).handlers())) }

// EnsureAuthority creates the authority of a state folder, ServerTLS has it sign.
var (
	EnsureAuthority = ensureAuthority
	ServerTLS       = serverTLS
)
