package lake

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
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
