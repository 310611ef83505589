package eventlog

import "bytes"

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
// whatever the line's length. Values whose shape has a target are stored there, and not
// copied. Only decoding shows whether the others are as expected.
type skimmer struct {
	*input
	words    words
	out      []byte
	name     []byte // of a member that is spread over pieces
	depth    int
	elements int // of arrays and maps

	shortened bool // elements of the line were left out
}

// found is what a skimmer found where a value is expected.
type found uint8

const (
	something found = iota
	zero            // a value that an absent one is read as
	nothing         // nothing is copied
)

// zeroIf classifies a value that was read: zero if it is what an absent value is read as.
func zeroIf(isZero bool) found {
	if isZero {
		return zero
	}
	return something
}

// skim returns what is kept of the line, in memory that the next call overwrites. It
// returns false if the line is no JSON object.
func (s *skimmer) skim(of *shape) ([]byte, bool) {
	s.out, s.depth, s.elements, s.shortened = s.out[:0], 0, 0, false
	if s.peek() != '{' {
		return nil, false
	}
	if _, ok := s.object(of); !ok {
		return nil, false
	}
	return s.out, s.peek() == 0
}

// object copies an object. One of which nothing is kept is zero.
func (s *skimmer) object(of *shape) (is found, ok bool) {
	s.at++
	s.out = append(s.out, '{')
	next := 0 // member, if they come in the order of the shape
	for empty := true; ; {
		c := s.here()
		if c <= ' ' {
			c = s.peek()
		}
		switch c {
		case '}':
			s.at++
			s.out = append(s.out, '}')
			return zeroIf(empty), true
		case ',':
			s.at++
			continue
		case '"':
		default:
			return nothing, false
		}
		m := s.expected(of, &next)
		if m != nil && (m.number != nil && s.storeInteger(m.number) || m.word != nil && s.storeWord(m.shape)) {
			continue
		}
		mark := len(s.out)
		if !empty {
			s.out = append(s.out, ',')
		}
		is, ok := s.memberShape(of, m, &next)
		if !ok {
			return nothing, false
		}
		kept, ok := s.memberValue(is, of.kind == kindMap)
		if !ok {
			return nothing, false
		}
		if kept {
			empty = false
		} else {
			s.out = s.out[:mark]
		}
	}
}

// expected takes the name of a member, and its colon, if it is the one whose place in the
// shape is next; nil if it is another. Spark writes members in one order, which is that
// of the fields of the types here: most names cost one comparison.
func (s *skimmer) expected(of *shape, next *int) *member {
	if *next >= len(of.members) {
		return nil
	}
	m := &of.members[*next]
	size := len(m.quoted)
	if len(s.piece)-s.at <= size || string(s.piece[s.at:s.at+size]) != m.quoted {
		return nil
	}
	s.at += size
	*next++
	return m
}

// memberShape returns the shape of a member, and copies its name and colon; nil if the
// member is skipped. m is what expected returned. If it is nil, the name is still to be
// taken, and next is set to the place after the member.
func (s *skimmer) memberShape(of *shape, m *member, next *int) (is *shape, ok bool) {
	if m != nil {
		s.out = append(s.out, m.quoted...)
		return m.shape, true
	}
	name, ok := s.memberName()
	if !ok {
		return nil, false
	}
	switch i := of.index(name); {
	case of.kind == kindMap:
		is = of.element
		s.elements++
		if s.full() || len(name) > maxName {
			is, s.shortened = nil, true
		}
	case i >= 0:
		is = of.members[i].shape
		*next = i + 1
	}
	if is != nil {
		s.out = append(s.out, '"')
		s.out = append(s.out, name...)
		s.out = append(s.out, '"', ':')
	}
	if s.peek() != ':' {
		return nil, false
	}
	s.at++
	return is, true
}

// memberValue copies the value of a member. It reports whether there is anything to keep.
func (s *skimmer) memberValue(is *shape, keepZero bool) (kept, ok bool) {
	if is == nil {
		return false, s.skip()
	}
	value, ok := s.value(is)
	return value == something || value == zero && (keepZero || is.keepZero), ok
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

// value copies a value.
func (s *skimmer) value(of *shape) (is found, ok bool) {
	c := s.here()
	if c <= ' ' {
		c = s.peek()
	}
	switch c {
	case 0:
		return nothing, false
	case '"':
		return s.string(of)
	case '{', '[':
		return s.nested(of, c)
	case '0': // most numbers of a task are
		if end := s.at + 1; of.kind == kindNumber && end < len(s.piece) && ends[s.piece[end]] {
			s.out = append(s.out, '0')
			s.at = end
			return zero, true
		}
	}
	return s.literal(of)
}

// nested copies an object or an array.
func (s *skimmer) nested(of *shape, c byte) (is found, ok bool) {
	if s.depth >= maxDepth || of.kind == kindInteger {
		return nothing, s.skip()
	}
	s.depth++
	defer func() { s.depth-- }()
	switch {
	case c == '{' && (of.kind == kindObject || of.kind == kindMap):
		if of.begin != nil {
			of.begin()
		}
		return s.object(of)
	case c == '[' && of.kind == kindArray:
		return s.array(of)
	}
	s.out = append(s.out, c, c+2) // an empty one: decoding says what is wrong
	return something, s.skip()
}

// array copies an array. An empty one is zero.
func (s *skimmer) array(of *shape) (is found, ok bool) {
	s.at++
	s.out = append(s.out, '[')
	for empty := true; ; {
		switch c := s.peek(); {
		case c == 0:
			return nothing, false
		case c == ']':
			s.at++
			s.out = append(s.out, ']')
			return zeroIf(empty), true
		case c == ',':
			s.at++
			continue
		case s.full():
			s.shortened = true
			if !s.skip() {
				return nothing, false
			}
			continue
		}
		mark := len(s.out)
		if !empty {
			s.out = append(s.out, ',')
		}
		s.elements++
		element, ok := s.value(of.element)
		if !ok {
			return nothing, false
		}
		if element == nothing {
			s.out = s.out[:mark]
		} else {
			empty = false
		}
	}
}

// full reports whether no more elements are kept.
func (s *skimmer) full() bool { return len(s.out)+s.elements*perElement > maxLine }

// literal copies a number, true, false or null.
func (s *skimmer) literal(of *shape) (is found, ok bool) {
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
	switch {
	case len(word) == 0 || len(word) > maxNumber:
		return nothing, false
	case string(word) == "null":
		return nothing, true
	case of.kind == kindNumber && string(word) == "0":
		return zero, true
	case s.storeCopied(of, from):
		return nothing, true
	case of.kind == kindInteger && !isInteger(word):
		return nothing, true
	case of.kind == kindBool:
		return zeroIf(string(word) == "false"), true
	}
	return something, true
}

// string copies a string, or what its shape asks of it.
func (s *skimmer) string(of *shape) (is found, ok bool) {
	s.at++
	switch of.kind {
	case kindLength:
		return s.characters()
	case kindInteger:
		from := len(s.out)
		if _, ok := s.text(maxNumber); !ok {
			return nothing, false
		}
		if !isInteger(s.out[from:]) {
			return nothing, true
		}
		return something, true
	}
	limit := maxNumber // of one that should be none
	if of.kind == kindText {
		limit = of.max
	}
	from := len(s.out)
	s.out = append(s.out, '"')
	size, ok := s.text(limit)
	s.out = append(s.out, '"')
	if ok && s.storeCopied(of, from) {
		return nothing, true
	}
	return zeroIf(size == 0 && of.kind == kindText), ok
}
