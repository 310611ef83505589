package eventlog

import (
	"bytes"
	"strconv"
)

// Bounds of what a skimmer keeps of a line.
const (
	maxLine    = 8 << 20 // bytes; elements of arrays and maps beyond are left out
	perElement = 100     // bytes more that an element is counted for: what it is decoded into
	maxDepth   = 1000    // of values within values
	maxName    = 1 << 10 // bytes of a member's name
	maxNumber  = 40      // bytes
)

// skimmer copies of a line of JSON what its shape has: members that are not read are
// skipped, as are zeros, and long texts are cut. What it makes is JSON, and short
// whatever the line's length. Only decoding tells whether the values are as expected.
type skimmer struct {
	*input
	out      []byte
	name     []byte // of a member that is spread over pieces
	depth    int
	elements int // of arrays and maps
}

// skim returns what is kept of the line, in memory that the next call overwrites. It
// returns false if the line is no JSON object.
func (s *skimmer) skim(of *shape) ([]byte, bool) {
	s.out, s.depth, s.elements = s.out[:0], 0, 0
	if c, ok := s.peek(); !ok || c != '{' {
		return nil, false
	}
	if _, ok := s.object(of); !ok {
		return nil, false
	}
	_, rest := s.peek()
	return s.out, !rest
}

// object copies an object. It tells whether nothing of it was kept.
func (s *skimmer) object(of *shape) (empty, ok bool) {
	s.at++
	s.out = append(s.out, '{')
	for empty = true; ; {
		c, ok := s.peek()
		switch {
		case !ok:
			return false, false
		case c == '}':
			s.at++
			s.out = append(s.out, '}')
			return empty, true
		case c == ',':
			s.at++
			continue
		case c != '"':
			return false, false
		}
		mark := len(s.out)
		kept, ok := s.member(of, empty)
		if !ok {
			return false, false
		}
		if kept {
			empty = false
		} else {
			s.out = s.out[:mark]
		}
	}
}

// member copies a member of an object. It tells whether there is anything to keep.
func (s *skimmer) member(of *shape, first bool) (kept, ok bool) {
	name, ok := s.memberName()
	if !ok {
		return false, false
	}
	is := of.member(name)
	if of.kind == kindMap {
		s.elements++
		if s.full() || len(name) > maxName {
			is = nil
		}
	}
	if is != nil {
		if !first {
			s.out = append(s.out, ',')
		}
		s.out = append(s.out, '"')
		s.out = append(s.out, name...)
		s.out = append(s.out, '"', ':')
	}
	if c, ok := s.peek(); !ok || c != ':' {
		return false, false
	}
	s.at++
	if is == nil {
		return false, s.skip()
	}
	zero, ok := s.value(is)
	return !zero || is.keepZero || of.kind == kindMap, ok
}

// memberName returns a name between quotes, as it is written. It is valid until the
// next piece.
func (s *skimmer) memberName() ([]byte, bool) {
	s.at++
	if i := bytes.IndexByte(s.piece[s.at:], '"'); i > 0 && s.piece[s.at+i-1] != '\\' {
		name := s.piece[s.at : s.at+i]
		s.at += i + 1
		return name, true
	}
	s.name = s.name[:0]
	var t text
	for {
		part, done := t.part(s.piece[s.at:])
		if len(s.name) <= maxName {
			s.name = append(s.name, part[:min(len(part), maxName+1)]...)
		}
		s.at += len(part)
		if done {
			s.at++
			return s.name, true
		}
		if !s.more() {
			return nil, false
		}
	}
}

// value copies a value. It tells whether it is that of an absent one.
func (s *skimmer) value(is *shape) (zero, ok bool) {
	c, ok := s.peek()
	if !ok {
		return false, false
	}
	switch c {
	case '"':
		return s.string(is)
	case '{', '[':
		if s.depth < maxDepth && (c == '{') == (is.kind == kindObject || is.kind == kindMap) && (c == '[') == (is.kind == kindArray) {
			s.depth++
			if c == '{' {
				zero, ok = s.object(is)
			} else {
				zero, ok = s.array(is)
			}
			s.depth--
			return zero, ok
		}
		if s.depth < maxDepth && is.kind != kindInteger {
			s.out = append(s.out, c, c+2) // an empty one: decoding says what is wrong
		}
		return s.depth >= maxDepth || is.kind == kindInteger, s.skip()
	}
	return s.literal(is)
}

// array copies an array.
func (s *skimmer) array(is *shape) (empty, ok bool) {
	s.at++
	s.out = append(s.out, '[')
	for empty = true; ; {
		c, ok := s.peek()
		switch {
		case !ok:
			return false, false
		case c == ']':
			s.at++
			s.out = append(s.out, ']')
			return empty, true
		case c == ',':
			s.at++
			continue
		case s.full() || s.depth >= maxDepth && (c == '{' || c == '['):
			if !s.skip() {
				return false, false
			}
			continue
		}
		if !empty {
			s.out = append(s.out, ',')
		}
		s.elements++
		if _, ok := s.value(is.element); !ok {
			return false, false
		}
		empty = false
	}
}

// full tells whether no more elements are kept.
func (s *skimmer) full() bool { return len(s.out)+s.elements*perElement > maxLine }

// literal copies a number, true, false or null.
func (s *skimmer) literal(is *shape) (zero, ok bool) {
	from := len(s.out)
	for {
		i := s.at
		for i < len(s.piece) && !ends[s.piece[i]] {
			i++
		}
		s.out = append(s.out, s.piece[s.at:i]...)
		s.at = i
		if i < len(s.piece) || len(s.out)-from > maxNumber || !s.more() {
			break
		}
	}
	word := s.out[from:]
	if len(word) == 0 || len(word) > maxNumber {
		return false, false
	}
	switch {
	case string(word) == "null":
		return true, true
	case is.kind == kindInteger:
		return !isInteger(word), true
	case is.kind == kindNumber:
		return string(word) == "0", true
	case is.kind == kindBool:
		return string(word) == "false", true
	}
	return false, true
}

// string copies a string, or what its shape asks of it.
func (s *skimmer) string(is *shape) (zero, ok bool) {
	s.at++
	switch is.kind {
	case kindLength:
		return s.characters()
	case kindInteger:
		from := len(s.out)
		if _, ok := s.text(maxNumber); !ok {
			return false, false
		}
		if !isInteger(s.out[from:]) {
			s.out = s.out[:from]
			return true, true
		}
		return false, true
	}
	s.out = append(s.out, '"')
	size, ok := s.text(max(is.max, maxNumber))
	s.out = append(s.out, '"')
	return size == 0 && is.kind == kindText, ok
}

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
func (s *skimmer) characters() (zero, ok bool) {
	var c characters
	for t := (text{}); ; {
		part, done := t.part(s.piece[s.at:])
		c.count(part)
		s.at += len(part)
		if done {
			s.at++
			s.out = strconv.AppendInt(s.out, c.n, 10)
			return c.n == 0, true
		}
		if !s.more() {
			return false, false
		}
	}
}
