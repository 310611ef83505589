package eventlog

import (
	"bytes"
	"strconv"
)

// text copies what is between quotes, cut to limit bytes. It returns the bytes copied.
func (s *skimmer) text(limit int) (int, bool) {
	from := len(s.out)
	for t := (text{}); ; {
		part, done := t.part(s.piece[s.at:])
		if room := limit + 1 - (len(s.out) - from); room > 0 {
			s.out = append(s.out, part[:min(len(part), room)]...)
		}
		s.at += len(part)
		if done {
			s.at++
			break
		}
		if !s.more() {
			return 0, false
		}
	}
	if len(s.out)-from > limit {
		s.out = s.out[:from+wholeCharacters(s.out[from:from+limit])]
	}
	return len(s.out) - from, true
}

// characters writes how many characters are between quotes.
func (s *skimmer) characters() (is found, ok bool) {
	var c characters
	for t := (text{}); ; {
		part, done := t.part(s.piece[s.at:])
		c.count(part)
		s.at += len(part)
		if done {
			s.at++
			s.out = strconv.AppendInt(s.out, c.n, 10)
			return zeroIf(c.n == 0), true
		}
		if !s.more() {
			return nothing, false
		}
	}
}

// text finds the end of a string whose pieces come one after the other.
type text struct{ escaped bool } // an escape has begun: the next byte is part of it

// part returns what of b is before the closing quote, and whether that is there.
func (t *text) part(b []byte) ([]byte, bool) {
	for i := 0; ; {
		if t.escaped {
			if i == len(b) {
				return b, false
			}
			i++
			t.escaped = false
		}
		quote := bytes.IndexByte(b[i:], '"')
		end := len(b)
		if quote >= 0 {
			end = i + quote
		}
		backslashes := 0
		for end-backslashes > i && b[end-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return b[:end], quote >= 0
		}
		t.escaped = true
		i = end
	}
}

// wholeCharacters returns how many of the bytes of a cut JSON string are whole
// characters and escapes, pairs of surrogates included.
func wholeCharacters(b []byte) int {
	whole := 0
	for i := 0; i < len(b); {
		size := 1
		switch c := b[i]; {
		case c == '\\' && i+1 < len(b) && b[i+1] == 'u':
			size = 6
			if i+3 < len(b) && isHighSurrogate(b[i+2:]) {
				size = 12
			}
		case c == '\\':
			size = 2
		case c >= 0xf0:
			size = 4
		case c >= 0xe0:
			size = 3
		case c >= 0xc0:
			size = 2
		}
		if i += size; i <= len(b) {
			whole = i
		}
	}
	return whole
}

// isHighSurrogate reports whether the hexadecimal digits begin with D8 to DB.
func isHighSurrogate(digits []byte) bool {
	return digits[0]|0x20 == 'd' && (digits[1] == '8' || digits[1] == '9' || digits[1]|0x20 == 'a' || digits[1]|0x20 == 'b')
}

func isLowSurrogate(digits []byte) bool {
	return digits[0]|0x20 == 'd' && (digits[1]|0x20 >= 'c' && digits[1]|0x20 <= 'f')
}

// characters counts code points of a JSON string whose pieces come one after the other.
type characters struct {
	n      int64
	escape []byte // that has begun
}

func (c *characters) count(b []byte) {
	for _, char := range b {
		if len(c.escape) > 0 {
			c.escape = append(c.escape, char)
			if c.escape[1] != 'u' || len(c.escape) == 6 {
				if c.escape[1] != 'u' || !isLowSurrogate(c.escape[2:]) {
					c.n++
				}
				c.escape = c.escape[:0]
			}
			continue
		}
		if char == '\\' {
			c.escape = append(c.escape, char)
		} else if char&0xc0 != 0x80 {
			c.n++
		}
	}
}

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
