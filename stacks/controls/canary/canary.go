// Package canary looks for known secrets in what a run leaves behind: state,
// logs, events, files. It finds a secret also where it was encoded on the way,
// for a kubeconfig holds a key in base64, and basic authentication a password
// within other text.
//
// It knows what it was told, and nothing of what a secret looks like; it does
// not look into encrypted text, which is where secrets belong.
package canary

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Secret is a value that must stand nowhere in clear.
type Secret struct{ Name, Value string }

// Leak is a secret and where it stands.
type Leak struct {
	Secret string // its name, never its value
	Source string
	Form   string // plain, base64, base64 of base64, hex, URL
	Offset int    // in bytes; of the content when it was compressed
}

func (l Leak) String() string {
	return fmt.Sprintf("%s stands in %s at byte %d (%s)", l.Secret, l.Source, l.Offset, l.Form)
}

// shortest is the length below which a piece may stand somewhere by chance.
const shortest = 12

// keyLength is how many first bytes of a needle lead to it.
const keyLength = 8

type needle struct {
	name, form string
	text       []byte
}

// Searcher looks for a set of secrets.
type Searcher struct {
	needles map[uint64][]needle // by their first bytes
}

// New prepares the search. Lines of a secret that stand in one of the public
// texts are not looked for: a private key's file holds the public key as well.
// New refuses a secret of which nothing is left that is long enough to be told
// from chance.
func New(public []string, secrets ...Secret) (*Searcher, error) {
	s := &Searcher{needles: map[uint64][]needle{}}
	for _, secret := range secrets {
		found := slices.DeleteFunc(pieces(secret.Value), func(p string) bool { return containedIn(public, p) })
		if len(found) == 0 {
			return nil, fmt.Errorf("canary %s: no line of %d bytes or more that is not public: cannot be searched for", secret.Name, shortest)
		}
		for _, p := range found {
			for _, f := range forms(p) {
				s.add(needle{secret.Name, f.name, []byte(f.text)})
			}
		}
	}
	return s, nil
}

func (s *Searcher) add(n needle) {
	k := binary.LittleEndian.Uint64(n.text[:keyLength])
	if !slices.ContainsFunc(s.needles[k], func(o needle) bool { return bytes.Equal(o.text, n.text) }) {
		s.needles[k] = append(s.needles[k], n)
	}
}

// pieces are the lines of a text, since its breaks are the first thing that
// changes on the way; the frame of a PEM block is no secret.
func pieces(value string) []string {
	var out []string
	for _, line := range strings.Split(value, "\n") {
		if line = strings.TrimSpace(line); len(line) >= shortest && !strings.HasPrefix(line, "-----") {
			out = append(out, line)
		}
	}
	return out
}

func containedIn(texts []string, piece string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, piece) })
}

type form struct{ name, text string }

func forms(piece string) []form {
	out := []form{{"plain", piece}, {"hex", hex.EncodeToString([]byte(piece))}}
	if e := url.QueryEscape(piece); e != piece {
		out = append(out, form{"URL", e})
	}
	for _, once := range inBase64(piece) {
		out = append(out, form{"base64", once})
		for _, twice := range inBase64(once) {
			out = append(out, form{"base64 of base64", twice})
		}
	}
	return slices.DeleteFunc(out, func(f form) bool { return len(f.text) < shortest })
}

// inBase64 gives what always stands in the base64 of a text with the piece in
// it: base64 takes three bytes at a time, so there are three ways, and the
// characters at either end also depend on the neighbours.
func inBase64(piece string) []string {
	var out []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, before), piece...))
			first := (before*8 + 5) / 6
			last := (before + len(piece)) * 8 / 6
			if text := encoded[first:last]; !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// Search gives every secret in content, each form of it once. Content that is
// compressed by gzip is searched as it was before.
func (s *Searcher) Search(source string, content []byte) []Leak {
	if r, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		if plain, err := io.ReadAll(r); err == nil {
			content, source = plain, source+" (gzip)"
		}
	}
	var out []Leak
	seen := map[string]bool{}
	for i := 0; i+keyLength <= len(content); i++ {
		for _, n := range s.needles[binary.LittleEndian.Uint64(content[i:])] {
			if key := n.name + n.form; !seen[key] && bytes.HasPrefix(content[i:], n.text) {
				seen[key] = true
				out = append(out, Leak{n.name, source, n.form, i})
			}
		}
	}
	return out
}

// SearchTree searches every file below dir, names included, and gives how many
// there were.
func (s *Searcher) SearchTree(dir string) (leaks []Leak, files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		leaks = append(leaks, s.Search("the name of "+name, []byte(name))...)
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		leaks = append(leaks, s.Search(name, content)...)
		return nil
	})
	if err != nil {
		return nil, files, fmt.Errorf("search %s: %w", dir, err)
	}
	return leaks, files, nil
}
