package eventlog

import "strings"

// words keeps one copy of texts that many events share: ids of executors, hosts,
// localities, outcomes.
type words map[string]string

// maxWords bounds the memory of words; an application has fewer executors.
const maxWords = 1 << 16

func (w words) of(text string) string {
	if known, ok := w[text]; ok {
		return known
	}
	text = strings.Clone(text)
	if len(w) < maxWords {
		w[text] = text
	}
	return text
}

// Most bytes of a text that is kept.
const (
	maxText  = 4 << 10
	maxValue = 64 << 10 // of a property: class paths are long
)

// cut returns the first bytes of a text, whole characters of it.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && text[size]&0xc0 == 0x80 {
		size--
	}
	return strings.Clone(text[:size])
}
