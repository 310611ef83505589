package eventlog

// words keeps one copy of texts that many events share: ids of executors, hosts,
// localities, outcomes.
type words map[string]string

// of returns the kept copy of a text.
func (w words) of(text string) string {
	if known, ok := w[text]; ok {
		return known
	}
	if len(w) < maxWords && len(text) < maxWord {
		w[text] = text
	}
	return text
}

// ofBytes is like of, for bytes that are used again.
func (w words) ofBytes(text []byte) string {
	if known, ok := w[string(text)]; ok { // allocates nothing
		return known
	}
	return w.of(string(text))
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
