package lake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
)

// spoolMemory is the size in bytes up to which a spool stays in memory.
const spoolMemory = 1 << 20

// spool is a file that is written once and then read: in memory while it is small, else
// on disk but unlinked, so that a killed process leaves nothing behind.
type spool struct {
	limit  int64 // bytes, up to which it is in memory
	memory bytes.Buffer
	file   *os.File
	hash   hash.Hash // nil if nobody asks for the sum
	size   int64
}

func newSpool() *spool { return &spool{limit: spoolMemory, hash: sha256.New()} }

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.size+int64(len(p)) > s.limit {
		file, err := unnamedFile()
		if err != nil {
			return 0, err
		}
		s.file = file
		if _, err := s.file.Write(s.memory.Bytes()); err != nil {
			return 0, fmt.Errorf("write a temporary file: %w", err)
		}
		s.memory = bytes.Buffer{}
	}
	if s.hash != nil {
		s.hash.Write(p)
	}
	s.size += int64(len(p))
	if s.file == nil {
		return s.memory.Write(p) // never fails
	}
	n, err := s.file.Write(p)
	if err != nil {
		return n, fmt.Errorf("write a temporary file: %w", err)
	}
	return n, nil
}

func (s *spool) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// content returns a reader of all that was written.
func (s *spool) content() *io.SectionReader {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, s.size)
	}
	return io.NewSectionReader(bytes.NewReader(s.memory.Bytes()), 0, s.size)
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}

func unnamedFile() (*os.File, error) {
	file, err := os.CreateTemp("", "observatory-lake-")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("unlink a temporary file: %w", err)
	}
	return file, nil
}

// prefetch is how many objects are being fetched or read at a time. Each takes at most
// spoolMemory; larger ones are spooled to disk.
const prefetch = 4

// fetched is a copy of an object, in memory or on disk.
type fetched struct {
	*spool
	key string
}

// result is an object that was fetched, or why it could not be.
type result struct {
	content *fetched
	err     error
}

// fetchAhead yields the objects of keys in order, and prefetches the next ones while one is
// read: most are small, so waiting for S3 takes longer than reading them. An object is valid
// until the next one is requested. A failed fetch is yielded as an error in its place; an
// error of keys comes last.
func fetchAhead(ctx context.Context, store Store, keys iter.Seq2[string, error]) iter.Seq2[*fetched, error] {
	return func(yield func(*fetched, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var pending []<-chan result // in the order of keys
		defer func() {
			stop()
			for _, one := range pending { // no request outlives its reader
				if r := <-one; r.err == nil {
					r.content.close()
				}
			}
		}()
		first := func() (more bool) {
			r := <-pending[0]
			pending = pending[1:]
			if r.err == nil {
				defer r.content.close()
			}
			return yield(r.content, r.err)
		}
		for key, err := range keys {
			one := make(chan result, 1)
			pending = append(pending, one)
			if err != nil {
				one <- result{err: err}
				break
			}
			go func() {
				content, err := fetch(ctx, store, key)
				one <- result{content, err}
			}()
			if len(pending) == prefetch && !first() {
				return
			}
		}
		for len(pending) > 0 && first() {
			continue
		}
	}
}

// fetch copies an object.
func fetch(ctx context.Context, store Store, key string) (*fetched, error) {
	body, err := store.Get(ctx, key)
	if err != nil {
		return nil, err // names the object
	}
	defer body.Close()
	content := newSpool()
	if _, err := io.Copy(content, body); err != nil {
		content.close()
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return &fetched{content, key}, nil
}
