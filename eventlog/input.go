package eventlog

import (
	"bytes"
	"io"
)

// bufferSize is how much of a log is in memory. A longer line is read in pieces.
const bufferSize = 256 << 10

// input reads a text line by line. Of a line that exceeds the buffer it shows one piece
// after the other.
type input struct {
	in         io.Reader
	buffer     []byte
	start, end int   // of what is read and not yet part of a line
	err        error // that ended the reading

	piece []byte // of the line
	at    int    // in piece, of the next byte to take
	whole bool   // the piece is the line's last
	last  bool   // no line break ends the line
	size  int64  // of all lines so far, bytes
}

func newInput(in io.Reader, buffer []byte) *input {
	return &input{in: in, buffer: buffer, whole: true}
}

// next begins the next line. It returns false at the end of the text.
func (n *input) next() bool {
	n.skipRest()
	for searched := n.start; ; {
		if n.cutLine(searched) {
			return true
		}
		searched = n.end
		if n.err != nil {
			if n.start == n.end {
				return false
			}
			n.takePiece(n.end, true)
			n.last = true
			return true
		}
		if n.start > 0 {
			copy(n.buffer, n.buffer[n.start:n.end])
			searched, n.end, n.start = searched-n.start, n.end-n.start, 0
		}
		if n.end == len(n.buffer) {
			n.takePiece(n.end, false)
			return true
		}
		n.fill()
	}
}

// cutLine ends the piece at the line's end, if that is in the buffer.
func (n *input) cutLine(searched int) bool {
	i := bytes.IndexByte(n.buffer[searched:n.end], '\n')
	if i < 0 {
		return false
	}
	n.takePiece(searched+i, true)
	n.start++
	n.size++
	return true
}

func (n *input) takePiece(end int, whole bool) {
	n.piece, n.at, n.whole = n.buffer[n.start:end], 0, whole
	n.size += int64(end - n.start)
	n.start = end
}

func (n *input) fill() {
	for range 100 {
		got, err := n.in.Read(n.buffer[n.end:])
		n.end += got
		n.err = err
		if got > 0 || err != nil {
			return
		}
	}
	n.err = io.ErrNoProgress
}

// more shows the next piece of a line. It returns false at the line's end.
func (n *input) more() bool {
	for !n.whole {
		n.start, n.end = 0, 0
		for n.end == 0 && n.err == nil {
			n.fill()
		}
		if !n.cutLine(0) {
			n.takePiece(n.end, n.err != nil)
			n.last = n.whole
		}
		if len(n.piece) > 0 {
			return true
		}
	}
	return false
}

// skipRest takes the rest of the line.
func (n *input) skipRest() {
	for n.more() {
	}
	n.piece, n.at = nil, 0
}

// here returns the next byte of the line; 0 if it is in a further piece. It may be white
// space, which Spark does not write between values: unlike peek, here is inlined.
func (n *input) here() byte {
	if n.at < len(n.piece) {
		return n.piece[n.at]
	}
	return 0
}

// peek returns the next byte of the line that is not white space; 0 at the line's end.
func (n *input) peek() byte {
	for {
		for ; n.at < len(n.piece); n.at++ {
			if c := n.piece[n.at]; c > ' ' {
				return c
			}
		}
		if !n.more() {
			return 0
		}
	}
}
