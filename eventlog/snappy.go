package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
)

// Framing of org.xerial.snappy.SnappyOutputStream: magic and two versions, then blocks,
// each after its length. Another stream may follow, with a header of its own, whose first
// bytes no length has: it would be negative.
const (
	snappyMagic  = "\x82SNAPPY\x00"
	snappyHeader = len(snappyMagic) + 2*4
	snappyMax    = 32 << 20 // of a block; Spark's have 32 KiB (spark.io.compression.snappy.blockSize)
)

// nextSnappy unpacks a block of such a stream.
func nextSnappy(s *blocks) error {
	var size [4]byte
	if _, err := io.ReadFull(s.in, size[:]); err != nil {
		return err // io.EOF and io.ErrUnexpectedEOF, as readers must
	}
	if string(size[:]) == snappyMagic[:4] {
		var header [snappyHeader - 4]byte
		if _, err := io.ReadFull(s.in, header[:]); err != nil {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	packed := binary.BigEndian.Uint32(size[:])
	if packed > snappyMax {
		return fmt.Errorf("snappy: a block of %d bytes, which no writer makes", packed)
	}
	s.packed = resized(s.packed, int(packed))
	if _, err := io.ReadFull(s.in, s.packed); err != nil {
		return io.ErrUnexpectedEOF
	}
	unpacked, err := snappy.DecodedLen(s.packed)
	if err != nil {
		return fmt.Errorf("snappy: %w", err)
	}
	if unpacked > snappyMax {
		return errors.New("snappy: a block larger than any writer makes")
	}
	s.buffer = resized(s.buffer, unpacked)
	if s.rest, err = snappy.Decode(s.buffer, s.packed); err != nil {
		s.rest = nil
		return fmt.Errorf("snappy: %w", err)
	}
	return nil
}
