// Package remotefile implements an open file of a server that sends files from any byte on, as S3 and
// Databricks' volumes do: an fs.File that can also be read at offsets, as a zip must be. It
// knows no protocol.
package remotefile

import (
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"
)

// File is an open file. Its methods may be called by several goroutines.
type File struct {
	name string // in errors
	info fs.FileInfo
	from func(off int64) (io.ReadCloser, error)

	mu   sync.Mutex
	body io.ReadCloser // of the last answer
	at   int64         // offset of its next byte
}

// New returns the file whose content is body, which it closes. from asks the server for the same
// content from an offset on; name is the file's in errors.
func New(name string, info fs.FileInfo, body io.ReadCloser, from func(off int64) (io.ReadCloser, error)) *File {
	return &File{name: name, info: info, body: body, from: from}
}

// Stat implements fs.File.
func (f *File) Stat() (fs.FileInfo, error) { return f.info, nil }

// Read implements fs.File.
func (f *File) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.body.Read(p)
	f.at += int64(n)
	return n, err // io.EOF, as readers must
}

// Close implements fs.File.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.body.Close() // names the connection
}

// maxSkip is how many bytes are read and dropped rather than asked for with a new request.
const maxSkip = 64 << 10

// ReadAt implements io.ReaderAt. Reads in the order of their offsets share an answer. It moves
// what Read returns next.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := f.info.Size()
	if off >= size {
		return 0, io.EOF
	}
	if err := f.seek(off); err != nil {
		return 0, fmt.Errorf("read %s from byte %d: %w", f.name, off, err)
	}
	n, err := io.ReadFull(f.body, p[:min(int64(len(p)), size-off)])
	f.at += int64(n)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err // io.EOF, as readers must
}

// seek makes body begin at an offset.
func (f *File) seek(off int64) error {
	if skip := off - f.at; skip >= 0 && skip <= maxSkip {
		n, err := io.CopyN(io.Discard, f.body, skip)
		f.at += n
		return err // ReadAt names the operation
	}
	body, err := f.from(off)
	if err != nil {
		return err // ReadAt names the operation
	}
	old := f.body
	f.body, f.at = body, off
	return old.Close() // ends the rest of the earlier answer
}

// Info is what is known of a file or folder before it is opened. It is an fs.FileInfo.
type Info struct {
	Base   string // of its name
	Bytes  int64
	Time   time.Time // of the last change; zero if unknown
	Folder bool
}

// Name implements fs.FileInfo, as do the other methods.
func (i Info) Name() string { return i.Base }

// Size returns the length in bytes.
func (i Info) Size() int64 { return i.Bytes }

// Mode says that nobody writes it.
func (i Info) Mode() fs.FileMode {
	if i.Folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime returns the time of the last change.
func (i Info) ModTime() time.Time { return i.Time }

// IsDir reports whether it is a folder.
func (i Info) IsDir() bool { return i.Folder }

// Sys returns nil.
func (Info) Sys() any { return nil }
