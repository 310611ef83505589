// Package plaintext keeps what a terminal would obey out of what is written to it. Names, errors
// and logs of jobs reach terminals, and anybody's job chooses them: an escape sequence in one
// clears the screen, changes the window's title, or shows another text than the one that is there.
package plaintext

import (
	"io"
	"os"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Replacement stands for each character that a terminal would obey.
const Replacement = '\uFFFD'

// Text returns text with Replacement for each control character, except line feed and tab, and
// for those that change the direction of text (Unicode's property Bidi_Control).
func Text(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			r = Replacement
		}
		out = utf8.AppendRune(out, r) // what is not UTF-8 decodes to Replacement
		text = text[size:]
	}
	return out
}

// Writer writes Text of what is written to it. It may be used by several goroutines.
type Writer struct {
	to io.Writer

	mu      sync.Mutex
	partial []byte // the beginning of a character whose end has not been written yet
}

// New returns a writer to another one.
func New(to io.Writer) *Writer { return &Writer{to: to} }

// ForTerminal returns a writer to a file: a Writer if it is a terminal, and the file itself if
// not, since programs read what is written to it.
func ForTerminal(file *os.File) io.Writer {
	if term.IsTerminal(int(file.Fd())) {
		return New(file)
	}
	return file
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := append(slices.Clone(w.partial), b...)
	end := len(whole)
	for at := max(0, end-utf8.UTFMax+1); at < end; at++ {
		if utf8.RuneStart(whole[at]) && !utf8.FullRune(whole[at:]) {
			end = at
		}
	}
	w.partial = slices.Clone(whole[end:])
	if _, err := w.to.Write(Text(whole[:end])); err != nil {
		return 0, err //nolint:wrapcheck // a writer's own error is its caller's
	}
	return len(b), nil
}

// Unwrap returns where a writer writes to, for what draws on a terminal itself.
func Unwrap(w io.Writer) io.Writer {
	if plain, ok := w.(*Writer); ok {
		return plain.to
	}
	return w
}
