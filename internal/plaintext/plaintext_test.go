package plaintext_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/plaintext"
)

func TestTextHasNothingThatATerminalObeys(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"job\torders\n":                   "job\torders\n",
		"größer · 30 % — ✓ 日本":            "größer · 30 % — ✓ 日本",
		"\x1b[2J\x1b]0;root\x07":          "\uFFFD[2J\uFFFD]0;root\uFFFD",
		"\u009b31mred":                    "\uFFFD31mred", // CSI in one character
		"done\rfailed":                    "done\uFFFDfailed",
		"a\x00b\x7fc":                     "a\uFFFDb\uFFFDc",
		"gpj.\u202eexe":                   "gpj.\uFFFDexe", // shown as exe.jpg
		"\u2066hidden\u2069":              "\uFFFDhidden\uFFFD",
		"\x9b31m":                         "\uFFFD31m", // CSI of a terminal that expects Latin-1
		"é" + string([]byte{0xc3}) + "\n": "é\uFFFD\n",
	} {
		require.Equal(t, want, string(plaintext.Text([]byte(text))), "%q", text)
	}
}

// However a text is cut into writes, it is written as a whole one is; what follows an incomplete
// character is not held back with it.
func FuzzWriter(f *testing.F) {
	f.Add("größer \x1b[0m\u202e日本\xc3", uint8(3))
	f.Add("\xe2\x80", uint8(1))
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		var out bytes.Buffer
		w := plaintext.New(&out)
		cut := min(int(at), len(text))
		for _, part := range []string{text[:cut], text[cut:], "\n"} {
			n, err := w.Write([]byte(part))
			require.NoError(t, err)
			require.Equal(t, len(part), n)
		}
		require.Equal(t, string(plaintext.Text([]byte(text+"\n"))), out.String())
		require.True(t, utf8.Valid(out.Bytes()))
		require.Negative(t, strings.IndexFunc(out.String(), func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}))
	})
}

func TestOnlyATerminalIsSpared(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()
	require.Same(t, file, plaintext.ForTerminal(file), "a program may read it")
	require.Same(t, file, plaintext.Unwrap(plaintext.New(file)))

	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo terminals:", err)
	}
	defer terminal.Close()
	require.IsType(t, &plaintext.Writer{}, plaintext.ForTerminal(terminal))
}
