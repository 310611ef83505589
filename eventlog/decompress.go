package eventlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// errCodec is a codec of Spark's that this package does not read.
var errCodec = errors.New("decompress it first, or let Spark write zstd: spark.eventLog.compression.codec=zstd")

// ErrBomb reports implausible compression: real logs are 6 to 30 times as large as their
// zstd.
var ErrBomb = fmt.Errorf("more than %d times as large as its compressed data: not an event log", bombRatio)

// A text that is larger than bombSize, and more than bombRatio times as large as what it
// is made from, is not read on. What it could cost is time: memory does not grow with it.
const (
	bombSize  = 256 << 20
	bombRatio = 500
)

// Windows of zstd. Spark's levels, up to 22, need 128 MiB at most; its default, 1, needs
// 512 KiB. A decoder is faster with twice its window as memory.
const (
	zstdWindow     = 128 << 20
	zstdFastWindow = 16 << 20
)

// stored reads the bytes of a file. It remembers what went wrong, so that a connection
// that breaks is told from data that ends too early.
type stored struct {
	ctx  context.Context
	in   io.Reader
	size int64
	err  error // besides io.EOF
}

func (s *stored) Read(p []byte) (int, error) {
	err := s.ctx.Err()
	n := 0
	if err == nil {
		n, err = s.in.Read(p)
	}
	s.size += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err // io.EOF, as readers must
}

// bounded ends a text that is too large for what it is made from.
type bounded struct {
	in   io.Reader
	from *stored
	size int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.size += int64(n)
	if b.size > bombSize && b.size/bombRatio > b.from.size {
		b.from.err = ErrBomb
		return n, ErrBomb
	}
	return n, err // io.EOF, as readers must
}

// blocks reads a stream of compressed blocks.
type blocks struct {
	in             *bufio.Reader
	packed, buffer []byte
	rest           []byte // of buffer, not yet read
	// next unpacks a block. At the end of the file it returns io.EOF, in the middle of a
	// block io.ErrUnexpectedEOF.
	next func(*blocks) error
}

func (b *blocks) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if err := b.next(b); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// decompress returns the text of a log, by the first bytes of its file: names tell
// little, since people rename and compress what they archive.
func decompress(from *stored) (io.Reader, func(), error) {
	in := bufio.NewReaderSize(from, 64<<10)
	first, err := in.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err // the caller names the file
	}
	starts := func(magic string) bool { return bytes.HasPrefix(first, []byte(magic)) }
	none := func() {}
	switch {
	case starts("\x28\xb5\x2f\xfd"):
		decoder, err := zstdReader(in, first)
		if err != nil {
			return nil, nil, err
		}
		return &bounded{in: decoder, from: from}, decoder.Close, nil
	case starts("\x1f\x8b"):
		decoder, err := gzip.NewReader(in)
		if err != nil { // the header ends too early, or is none
			return errReader{fmt.Errorf("gzip: %w", err)}, none, nil
		}
		return &bounded{in: decoder, from: from}, none, nil
	case starts(lz4Magic):
		return &bounded{in: &blocks{in: in, next: nextLZ4}, from: from}, none, nil
	case starts(snappyMagic):
		return &bounded{in: &blocks{in: in, next: nextSnappy}, from: from}, none, nil
	case starts(ZipMagic), starts(zipEmpty):
		return nil, nil, errZip
	case starts("ZV"):
		return nil, nil, fmt.Errorf("compressed with lzf: %w", errCodec)
	}
	return in, none, nil
}

// Beginnings of zips: with files, and without any.
const (
	ZipMagic = "PK\x03\x04"
	zipEmpty = "PK\x05\x06"
)

// zstdReader reads frames of zstd, one after the other. first has the header of the
// first frame, whose window all have: they come from one writer.
func zstdReader(in io.Reader, first []byte) (*zstd.Decoder, error) {
	var header zstd.Header
	low := header.Decode(first) != nil || header.WindowSize > zstdFastWindow
	window := uint64(zstdFastWindow)
	if low {
		window = zstdWindow
	}
	// One goroutine: a log is read while others decode elsewhere.
	decoder, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(low))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return decoder, nil
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

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
