package s3files

import (
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// object is an open object. It can also be read at offsets, as a zip must be.
type object struct {
	bucket  *Bucket
	key     string
	version *string // ETag, which a further request asks for
	info    info

	mu   sync.Mutex
	body io.ReadCloser // of the last answer
	at   int64         // offset of its next byte
}

// Stat implements fs.File.
func (o *object) Stat() (fs.FileInfo, error) { return o.info, nil }

// Read implements fs.File.
func (o *object) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.body.Read(p)
	o.at += int64(n)
	return n, err // io.EOF, as readers must
}

// Close implements fs.File.
func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.body.Close() // names the connection
}

// maxSkip is how many bytes are read and dropped rather than asked for with a new request.
const maxSkip = 64 << 10

// ReadAt implements io.ReaderAt. Reads in the order of their offsets share an answer. It moves
// what Read returns next.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if off >= o.info.size {
		return 0, io.EOF
	}
	if err := o.seek(off); err != nil {
		return 0, fmt.Errorf("read s3://%s/%s from byte %d: %w", o.bucket.name, o.key, off, err)
	}
	n, err := io.ReadFull(o.body, p[:min(int64(len(p)), o.info.size-off)])
	o.at += int64(n)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err // io.EOF, as readers must
}

// seek makes body begin at an offset.
func (o *object) seek(off int64) error {
	if skip := off - o.at; skip >= 0 && skip <= maxSkip {
		n, err := io.CopyN(io.Discard, o.body, skip)
		o.at += n
		return err // ReadAt names the operation
	}
	out, err := o.bucket.client.GetObject(o.bucket.ctx, &s3.GetObjectInput{
		Bucket: aws.String(o.bucket.name), Key: aws.String(o.key), IfMatch: o.version, Range: aws.String(fmt.Sprintf("bytes=%d-", off)),
	})
	if err != nil {
		return err // ReadAt names the operation
	}
	old := o.body
	o.body, o.at = out.Body, off
	return old.Close() // ends the rest of the earlier answer
}
