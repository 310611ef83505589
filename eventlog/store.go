package eventlog

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// targets are where a skimmer stores a value itself instead of copying its text to be
// decoded. The end of a task has some forty numbers, and such events are most of a log.
type targets struct {
	number *int64
	word   *string // a text that many events share: the skimmer keeps one copy of each
	last   string  // that word was set to: the next one is mostly the same
	// begin, of an object behind a pointer, clears the memory of the object and sets the
	// pointer to it, if the pointer is nil.
	begin func()
}

// bind returns a copy of the shape of v's type with the targets in v: its integers and
// words, also those of structs within. v must stay where it is. All else is copied, and
// decoded into v afterwards.
func bind(of *shape, v reflect.Value) *shape {
	bound := *of
	bound.members = nil
	for i, field := range memberFields(v.Type()) {
		m := of.members[i]
		value := bindValue(m.shape, v.FieldByIndex(field.Index), field.Tag.Get("skim") == "word")
		bound.members = append(bound.members, member{m.name, m.quoted, value})
	}
	return &bound
}

func bindValue(of *shape, v reflect.Value, isWord bool) *shape {
	bound := *of
	switch into := v.Addr().Interface().(type) {
	case *int64:
		bound.number = into
	case *string:
		if isWord {
			bound.word = into
		}
	}
	switch {
	case of.kind != kindObject:
	case v.Kind() == reflect.Struct:
		return bind(of, v)
	case v.Kind() == reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		bound = *bind(of, target.Elem())
		bound.keepZero = false
		bound.begin = func() {
			if v.IsNil() {
				target.Elem().SetZero()
				v.Set(target)
			}
		}
	}
	return &bound
}

// maxDigits is a number of digits that always fits an int64.
const maxDigits = 18

// storeInteger takes a plain integer that is wholly in this piece, and sets its target. If
// it returns false, it has taken nothing.
func (s *skimmer) storeInteger(into *int64) bool {
	rest := s.piece[s.at:]
	digits := 0
	var n int64
	for digits < len(rest) && rest[digits]-'0' <= 9 {
		n = n*10 + int64(rest[digits]-'0')
		if digits++; digits > maxDigits {
			return false
		}
	}
	if digits == 0 || digits == len(rest) || !ends[rest[digits]] || rest[0] == '0' && digits > 1 {
		return false
	}
	if n != 0 { // a zero is dropped, as in copying: it does not replace an earlier duplicate
		*into = n
	}
	s.at += digits
	return true
}

// storeWord takes a text without escapes that is wholly in this piece, and sets its target.
// If it returns false, it has taken nothing.
func (s *skimmer) storeWord(of *shape) bool {
	rest := s.piece[s.at:]
	if rest[0] != '"' {
		return false
	}
	if size := len(of.last); size > 0 && len(rest) > size+1 && rest[1+size] == '"' && string(rest[1:1+size]) == of.last {
		*of.word = of.last
		s.at += size + 2
		return true
	}
	size := bytes.IndexByte(rest[1:], '"')
	if size < 0 || size > of.max {
		return false
	}
	text := rest[1 : 1+size]
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		return false
	}
	if size > 0 {
		of.last = s.words.ofBytes(text)
		*of.word = of.last
	}
	s.at += size + 2
	return true
}

// storeCopied sets the target of a value from its copy, s.out[from:], where storeInteger and
// storeWord did not: the member is out of order, or the value is split over pieces, negative,
// long, or has escapes. If it returns false, the copy is to be decoded.
func (s *skimmer) storeCopied(of *shape, from int) bool {
	copied := s.out[from:]
	switch {
	case of.number != nil && isInteger(copied):
		*of.number, _ = strconv.ParseInt(string(copied), 10, 64)
		return true
	case of.word != nil && len(copied) > len(`""`) && copied[0] == '"':
		var text string
		if json.Unmarshal(bytes.ToValidUTF8(copied, []byte("\ufffd")), &text) != nil {
			return false
		}
		*of.word = s.words.of(text)
		return true
	}
	return false
}

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
