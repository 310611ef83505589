package decode

import (
	"strings"

	"github.com/agext/levenshtein"
)

// MostEdits is how many characters somebody misspells in a long name: two are one pair that
// changed places.
const MostEdits = 2

// Nearest returns the known name that somebody has likely misspelt, or "": one in which only
// case and separators differ, or at most so many characters.
func Nearest(name string, known []string, edits int) string {
	best, distance := "", edits+1
	for _, k := range known {
		if bare(k) == bare(name) {
			return k
		}
		if longer := len(k) - len(name); longer > edits || longer < -edits {
			continue
		}
		if d := levenshtein.Distance(name, k, nil); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// editsOf returns how many characters of a key may differ from the one that is meant. Of a
// short key, a few edits make any other.
func editsOf(key string) int { return max(0, min(MostEdits, (len(key)-MostEdits)/2)) }

var separators = strings.NewReplacer(".", "", "-", "", "_", "")

// bare drops what people confuse.
func bare(name string) string { return strings.ToLower(separators.Replace(name)) }
