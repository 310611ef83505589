package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// Framing of net.jpountz.lz4.LZ4BlockOutputStream, which Spark uses instead of LZ4's
// own frames: magic, a byte with the method, then the lengths, compressed and not, and
// a checksum, each in four bytes. An empty block ends a stream; another may follow.
const (
	lz4Magic  = "LZ4Block"
	lz4Header = len(lz4Magic) + 1 + 3*4
	lz4Raw    = 0x10
	lz4Packed = 0x20
	lz4Max    = 32 << 20 // of a block, by the same class
)

// nextLZ4 unpacks a block of such a stream. It does not verify the checksums: the lines
// that follow are parsed.
func nextLZ4(l *blocks) error {
	var header [lz4Header]byte
	if _, err := io.ReadFull(l.in, header[:]); err != nil {
		return err // io.EOF and io.ErrUnexpectedEOF, as readers must
	}
	if string(header[:len(lz4Magic)]) != lz4Magic {
		return errors.New("lz4: no block where one must start")
	}
	method := header[len(lz4Magic)] & 0xf0
	packed := binary.LittleEndian.Uint32(header[len(lz4Magic)+1:])
	size := binary.LittleEndian.Uint32(header[len(lz4Magic)+5:])
	if packed > lz4Max || size > lz4Max {
		return fmt.Errorf("lz4: a block of %d bytes, which no writer makes", max(packed, size))
	}
	if (packed == 0) != (size == 0) {
		return fmt.Errorf("lz4: %d bytes in a block of %d, which no writer makes", size, packed)
	}
	l.packed = resized(l.packed, int(packed))
	if _, err := io.ReadFull(l.in, l.packed); err != nil {
		return io.ErrUnexpectedEOF
	}
	switch method {
	case lz4Raw:
		l.rest = l.packed
	case lz4Packed:
		l.buffer = resized(l.buffer, int(size))
		n, err := lz4.UncompressBlock(l.packed, l.buffer)
		if err != nil {
			return fmt.Errorf("lz4: %w", err)
		}
		l.rest = l.buffer[:n]
	default:
		return fmt.Errorf("lz4: unknown method %#x", method)
	}
	return nil
}

func resized(b []byte, size int) []byte {
	if cap(b) < size {
		return make([]byte, size)
	}
	return b[:size]
}
