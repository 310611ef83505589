package eventlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errCodec is a codec of Spark's that this package does not read.
var errCodec = errors.New("decompress it first, or let Spark write zstd: spark.eventLog.compression.codec=zstd")

// zstdWindow bounds the memory of a decoder. Spark's levels, up to 22, need 128 MiB at most.
const zstdWindow = 128 << 20

// decompress returns the text of a log, by the first bytes of its file: names tell
// little, since people rename and compress what they archive.
func decompress(r io.Reader) (io.Reader, func(), error) {
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	starts := func(magic string) bool { return bytes.HasPrefix(first, []byte(magic)) }
	none := func() {}
	switch {
	case starts("\x28\xb5\x2f\xfd"):
		// One goroutine: a log is read while others decode elsewhere.
		decoder, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return decoder, decoder.Close, nil
	case starts("\x1f\x8b"):
		decoder, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		return decoder, none, nil
	case starts(lz4Magic):
		return &lz4Blocks{in: in}, none, nil
	case starts("\x82SNAPPY\x00"):
		return nil, nil, fmt.Errorf("compressed with snappy: %w", errCodec)
	case starts("ZV"):
		return nil, nil, fmt.Errorf("compressed with lzf: %w", errCodec)
	}
	return in, none, nil
}
