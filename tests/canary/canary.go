// Package canary searches for known secrets in what a run leaves behind: state,
// logs, events, files. It also finds encoded secrets: a kubeconfig contains a key as
// base64, and basic authentication a password within other text.
//
// It searches only for the secrets that it is given, and does not decrypt anything.
package canary

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Secret is a value that must not occur in clear.
type Secret struct{ Name, Value string }

// Leak is an occurrence of a secret.
type Leak struct {
	Secret string // its name, never its value
	Source string // where it was found
	Form   string // plain, base64, base64 of base64, hex, URL
	Offset int    // in bytes, after decompression
}

func (l Leak) String() string {
	return fmt.Sprintf("%s is in %s at byte %d (%s)", l.Secret, l.Source, l.Offset, l.Form)
}

// minLength is the length in bytes below which a text may occur by chance.
const minLength = 12

// keyLength is the length in bytes of the prefix by which needles are indexed.
const keyLength = 8

// needle is a text to search for: one form of one line of a secret.
type needle struct {
	name, form string
	text       []byte
}

// Searcher looks for a set of secrets.
type Searcher struct {
	needles map[uint64][]needle // by their first bytes
}

// New prepares the search. It ignores lines of a secret that are also in one of the
// public texts: a private key's file contains the public key too. It returns an error
// for a secret of which no line remains that is long enough.
func New(public []string, secrets ...Secret) (*Searcher, error) {
	s := &Searcher{needles: map[uint64][]needle{}}
	for _, secret := range secrets {
		found := slices.DeleteFunc(linesOf(secret.Value), func(p string) bool { return containedIn(public, p) })
		if len(found) == 0 {
			return nil, fmt.Errorf("canary %s: no line of %d bytes or more that is not public: cannot be searched for", secret.Name, minLength)
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

// linesOf returns the lines of a secret, which are searched for individually, since
// encodings change line breaks. The frame of a PEM block is no secret.
func linesOf(value string) []string {
	var out []string
	for _, line := range strings.Split(value, "\n") {
		if line = strings.TrimSpace(line); len(line) >= minLength && !strings.HasPrefix(line, "-----") {
			out = append(out, line)
		}
	}
	return out
}

func containedIn(texts []string, piece string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, piece) })
}

type form struct{ name, text string }

// forms returns the encodings of a line.
func forms(piece string) []form {
	out := []form{{"plain", piece}, {"hex", hex.EncodeToString([]byte(piece))}}
	if e := url.QueryEscape(piece); e != piece {
		out = append(out, form{"URL", e})
	}
	for _, inner := range base64Forms(piece) {
		out = append(out, form{"base64", inner})
		for _, outer := range base64Forms(inner) {
			out = append(out, form{"base64 of base64", outer})
		}
	}
	return slices.DeleteFunc(out, func(f form) bool { return len(f.text) < minLength })
}

// base64Forms returns texts of which every base64 encoding of data with the piece
// contains one: base64 encodes three bytes at a time, so there are three
// alignments. The characters at both ends are left out, since they depend on the
// neighbouring bytes.
func base64Forms(piece string) []string {
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

// Search returns the leaks in content, each form of a secret once. It decompresses
// gzip.
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

// SearchTree searches every file below dir, including the names, and returns the
// number of files.
func (s *Searcher) SearchTree(dir string) (leaks []Leak, files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // removed meanwhile, as stores do with parts that they have merged
		}
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
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
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
