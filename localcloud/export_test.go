package localcloud

import (
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// Parts of Coverage, for its test.
var (
	RecordedTypes = recordedTypes
	RecordedParts = recordedParts
)

// HandledTypes lists the types with a handler.
func HandledTypes() []string { return slices.Sorted(maps.Keys(new(cloud).handlers())) }

// EMRHandlers returns the handlers of EMR's resources over an API.
func EMRHandlers(resources emr.Resources) map[string]simulator.Handler {
	return (&cloud{emr: resources}).emrResources()
}
