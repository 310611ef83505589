package facts

import (
	_ "embed" // the data files
	"sync"
)

//go:embed classifications.json
var classificationsJSON []byte

// Classifications returns the sorted names of the classifications of EMR's releases since
// 6.15.0, those inside others left out. No release has them all, and one may have others:
// the file names the releases whose pages were read.
var Classifications = sync.OnceValue(func() []string {
	return parse[struct {
		Classifications []string `json:"classifications"`
	}]("classifications.json", classificationsJSON).Classifications
})
