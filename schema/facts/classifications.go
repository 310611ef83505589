package facts

import (
	_ "embed" // the data files
	"sync"
)

//go:embed classifications.json
var classificationsJSON []byte

// Classifications returns the sorted names of EMR's classifications, those inside others
// left out. A release may have others: EMR publishes them by release.
var Classifications = sync.OnceValue(func() []string {
	return parse[struct {
		Classifications []string `json:"classifications"`
	}]("classifications.json", classificationsJSON).Classifications
})
