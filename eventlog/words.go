package eventlog

import "strings"

// words keeps one copy of texts that many events share: ids of executors, hosts,
// localities, outcomes.
type words map[string]string

// of returns the kept copy of a text, or else a copy of it.
func (w words) of(text string) string {
	if known, ok := w[text]; ok {
		return known
	}
	return w.keep(strings.Clone(text))
}

// ofBytes is like of.
func (w words) ofBytes(text []byte) string {
	if known, ok := w[string(text)]; ok { // allocates nothing
		return known
	}
	return w.keep(string(text))
}

func (w words) keep(text string) string {
	if len(w) < maxWords && len(text) < maxWord {
		w[text] = text
	}
	return text
}

// Bounds of words; an application has fewer executors, and hosts have shorter names.
const (
	maxWords = 1 << 15
	maxWord  = 256 // bytes
)

// Most bytes of a text that is kept, as JSON writes it: an escape of a line break is two.
const (
	maxText  = 16 << 10
	maxValue = 64 << 10 // of a property: class paths are long
)
