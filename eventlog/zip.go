package eventlog

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
)

// OpenZip reads the directory of a zip of event logs, such as history servers send. Nothing
// is ever unpacked by the names in it. A zip whose files would be implausibly large is
// refused with ErrBomb: archive/zip reads no more of a file than the directory says.
func OpenZip(from io.ReaderAt, size int64) (*zip.Reader, error) {
	found, err := zip.NewReader(from, size)
	if err != nil {
		return nil, fmt.Errorf("read the zip's directory, at its end, which a copy that was cut off lacks: %w", err)
	}
	inflated := uint64(0)
	for _, f := range found.File {
		if inflated += min(f.UncompressedSize64, math.MaxInt64); inflated/bombRatio > uint64(size) {
			return nil, fmt.Errorf("a zip of %d bytes: %w", size, ErrBomb)
		}
	}
	return found, nil
}

// maxZipped is how many files a zip in a folder of logs may have: its directory is read
// again for each. A rolled log of so many files has half a terabyte
// (spark.eventLog.rolling.maxFileSize is 128 MB).
const maxZipped = 4096

// errZip is of a zip where a log must be: see zipped.
var errZip = errors.New("a zip: unpack it, and name the log in it")

// zipped shows a zip as a folder that has the zip's name. It opens the zip for each of its
// files, so that none stays open, and streams what it reads of it.
type zipped struct {
	files fs.FS
	name  string
}

// Open implements fs.FS.
func (z zipped) Open(name string) (fs.File, error) {
	directory, from, err := z.directory()
	if err != nil {
		return nil, err
	}
	file, err := directory.Open(z.within(name))
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return zippedFile{file, from}, nil
}

// ReadDir implements fs.ReadDirFS.
func (z zipped) ReadDir(name string) ([]fs.DirEntry, error) {
	directory, from, err := z.directory()
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(directory, z.within(name))
	return entries, errors.Join(err, from.Close())
}

func (z zipped) within(name string) string {
	if name == z.name {
		return "."
	}
	return strings.TrimPrefix(name, z.name+"/")
}

// directory opens the zip.
func (z zipped) directory() (*zip.Reader, fs.File, error) {
	from, err := z.files.Open(z.name)
	if err != nil {
		return nil, nil, err // the caller names the file
	}
	directory, err := directoryOf(from)
	if err != nil {
		return nil, nil, errors.Join(err, from.Close()) // the caller names the file
	}
	return directory, from, nil
}

func directoryOf(from fs.File) (*zip.Reader, error) {
	at, is := from.(io.ReaderAt)
	if !is {
		return nil, errors.New("a zip within a zip is not read: unpack the outer one")
	}
	info, err := from.Stat()
	if err != nil {
		return nil, err // names the file
	}
	directory, err := OpenZip(at, info.Size())
	if err == nil && len(directory.File) > maxZipped {
		err = fmt.Errorf("a zip of %d files: at most %d are read from a zip: unpack it", len(directory.File), maxZipped)
	}
	return directory, err
}

// zippedFile closes the zip with the file.
type zippedFile struct {
	fs.File
	from fs.File
}

func (z zippedFile) Close() error { return errors.Join(z.File.Close(), z.from.Close()) }
