package redelivery

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// encodingZstd is how the collector compresses requests: it needs less CPU time than gzip.
	encodingZstd = "zstd"
	// encodingGzip is how a collector of an earlier version does, until it is replaced.
	encodingGzip = "gzip"

	// maxUnpackedBytes bounds a request without compression. The collector sends less (max_size of its
	// queues' batches).
	maxUnpackedBytes = 64 << 20
)

// packing compresses and decompresses bodies; several goroutines may use one.
type packing struct {
	decoder *zstd.Decoder
	encoder *zstd.Encoder
	buffers sync.Pool // *[]byte, of unpack

	// turns bounds how many requests are unpacked at a time: each is larger than what is buffered of it.
	turns chan struct{}
}

// atOnce is for two processors, as a control node has at least.
const atOnce = 2

func newPacking() *packing {
	p := &packing{buffers: sync.Pool{New: func() any { return new([]byte) }}, turns: make(chan struct{}, atOnce)}
	// Both fail only for options that do not exist.
	p.decoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpackedBytes))
	p.encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return p
}

// pack compresses a body with encodingZstd.
func (p *packing) pack(body []byte) []byte { return p.encoder.EncodeAll(body, nil) }

// unpack passes a request's body, without its content encoding, to read, which must not keep it.
func (p *packing) unpack(header http.Header, body []byte, read func([]byte)) error {
	p.turns <- struct{}{}
	defer func() { <-p.turns }()
	switch encoding := header.Get("Content-Encoding"); encoding {
	case "":
		read(body)
	case encodingZstd:
		buffer, _ := p.buffers.Get().(*[]byte) // nothing else is in there
		defer p.buffers.Put(buffer)
		unpacked, err := p.decoder.DecodeAll(body, (*buffer)[:0])
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		*buffer = unpacked
		read(unpacked)
	case encodingGzip:
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		unpacked, err := io.ReadAll(io.LimitReader(r, maxUnpackedBytes))
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		read(unpacked)
	default:
		return fmt.Errorf("content encoding %q: must be none, %s or %s", encoding, encodingZstd, encodingGzip)
	}
	return nil
}
