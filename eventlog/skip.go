package eventlog

import (
	"bytes"
	"strconv"
)

// ends marks the bytes that end a number or a word of JSON.
var ends = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true, '"': true, '{': true, '[': true, ':': true}

// skip takes a value that nobody reads. It returns false at the end of the line.
func (s *skimmer) skip() bool {
	switch s.peek() {
	case 0:
		return false
	case '"':
		s.at++
		return s.skipText()
	case '[':
		if size := flatArray(s.piece[s.at:]); size > 0 {
			s.at += size
			return true
		}
		return s.skipNested()
	case '{':
		return s.skipNested()
	case '}', ']', ',', ':':
		return false
	}
	for {
		for ; s.at < len(s.piece); s.at++ {
			if ends[s.piece[s.at]] {
				return true
			}
		}
		if !s.more() {
			return false
		}
	}
}

// flatArray returns the length of an array that contains no other one, if that can be
// told without looking at each byte: there is no escape in it, and its end is within no
// string since the quotes before it are in pairs. Accumulables of tasks are like this,
// and most of a log.
func flatArray(b []byte) int {
	end := bytes.IndexByte(b, ']')
	if end < 0 {
		return 0
	}
	array := b[:end+1]
	if bytes.IndexByte(array[1:], '[') >= 0 || bytes.IndexByte(array, '\\') >= 0 || bytes.Count(array, []byte{'"'})%2 != 0 {
		return 0
	}
	return len(array)
}

// skipNested takes an object or an array. Only brackets of its own kind count: the others
// are in pairs between them, in JSON. It so finds the same end as flatArray in any text.
func (s *skimmer) skipNested() bool {
	opening := s.piece[s.at]
	closing := opening + 2 // in ASCII, of both kinds
	for depth := 0; ; {
		piece, at := s.piece, s.at // in registers: most bytes of a line about jobs and stages pass here
		for at < len(piece) {
			c := piece[at]
			at++
			switch c {
			case '"':
				s.at = at
				if !s.skipText() {
					return false
				}
				piece, at = s.piece, s.at // the text may end in a later piece
			case opening:
				depth++
			case closing:
				if depth--; depth == 0 {
					s.at = at
					return true
				}
			}
		}
		s.at = at
		if !s.more() {
			return false
		}
	}
}

// skipText takes what is left of a string, and its closing quote.
func (s *skimmer) skipText() bool {
	for t := (text{}); ; {
		part, done := t.part(s.piece[s.at:])
		s.at += len(part)
		if done {
			s.at++
			return true
		}
		if !s.more() {
			return false
		}
	}
}

// isInteger reports whether a text is an integer of 64 bits, as JSON writes it.
func isInteger(b []byte) bool {
	digits := bytes.TrimPrefix(b, []byte("-"))
	if len(digits) == 0 || digits[0] == '+' || digits[0] == '0' && len(digits) > 1 {
		return false
	}
	_, err := strconv.ParseInt(string(b), 10, 64)
	return err == nil
}
