package history

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/profiler/requests"
)

// Archive is a downloaded zip with the event logs of an attempt. It is a file system
// (fs.FS) and is never extracted.
type Archive struct {
	*zip.Reader
	// Size is the size of the download in bytes.
	Size int64

	file *os.File
}

// Close deletes the download.
func (a *Archive) Close() error {
	if err := a.file.Close(); err != nil { // its name is gone already
		return fmt.Errorf("delete downloaded event logs: %w", err)
	}
	return nil
}

// Logs downloads the event logs of the attempt, or of an application without attempts. The
// server sends them as they are and does not replay them. Only history servers have event
// logs: for the UI of a running driver, Logs returns ErrNotFound.
func (u *UI) Logs(ctx context.Context) (*Archive, error) {
	if skip, _ := u.begin(Logs); skip {
		return nil, fmt.Errorf("download event logs of %s: %w", u.path, ErrLeftOut)
	}
	file, err := os.CreateTemp(u.c.o.Folder, "eventlogs-*.zip")
	if err != nil {
		return nil, fmt.Errorf("download event logs: %w", err)
	}
	a := &Archive{file: file}
	if err := os.Remove(file.Name()); err != nil { // a killed process leaves nothing behind
		return nil, errors.Join(fmt.Errorf("unlink downloaded event logs: %w", err), a.Close())
	}
	r := request{path: u.path + "/logs", accept: "application/octet-stream", idle: true}
	err = u.c.do(ctx, r, a.fill(u.c.o.MaxLogs, u.c.o.Spare))
	u.mu.Lock()
	if err != nil && ctx.Err() == nil {
		u.failures[Logs]++
	}
	u.mu.Unlock()
	if err == nil && len(a.File) == 0 {
		err = fmt.Errorf("%w: the server has no event logs of %s", ErrNotFound, u.path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("download event logs of %s: %w", u.path, err), a.Close())
	}
	return a, nil
}

// Downloads leave a share of the disk free, or a number of bytes if that is less. The kubelet
// of the control node evicts pods when less than 5 % are free (eviction-hard in package
// assets/controlnode).
const (
	reserveShare = 0.1
	reserveBytes = 10 << 30
)

// spare implements Options.Spare.
func spare(folder string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, fmt.Errorf("look up the free space of %s: %w", folder, err)
	}
	block := float64(disk.Bsize)
	kept := min(reserveShare*float64(disk.Blocks)*block, reserveBytes)
	return int64(max(0, float64(disk.Bavail)*block-kept)), nil
}

// fill returns a consumer that replaces the content of the file with the body, which may have
// at most limit bytes, and no more than the disk can spare.
func (a *Archive) fill(limit int64, spare func(string) (int64, error)) consumer {
	return func(body io.Reader) error {
		if err := a.file.Truncate(0); err != nil {
			return fmt.Errorf("truncate the download: %w", err)
		}
		if _, err := a.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("rewind the download: %w", err)
		}
		bounded := &boundedReader{from: body, left: limit, limit: limit}
		size, err := io.Copy(a.file, &sparing{from: bounded, folder: filepath.Dir(a.file.Name()), spare: spare})
		if errors.Is(err, syscall.ENOSPC) {
			err = poll.Permanent(fmt.Errorf("%w: %w", ErrNoSpace, err))
		}
		if err != nil {
			return fmt.Errorf("download %d bytes: %w", size, err)
		}
		a.Size = size
		a.Reader, err = eventlog.OpenZip(a.file, size)
		if errors.Is(err, eventlog.ErrBomb) {
			return poll.Permanent(fmt.Errorf("%w: %w", ErrTooLong, err))
		}
		return err // OpenZip names the operation
	}
}

// sparing reads as long as a folder's disk has space to spare. It looks every spareInterval
// bytes, since other downloads use the disk, too.
type sparing struct {
	from   io.Reader
	folder string
	spare  func(string) (int64, error)
	left   int64 // until the next look
}

const spareInterval = 64 << 20

func (s *sparing) Read(p []byte) (int, error) {
	if s.left <= 0 {
		spare, err := s.spare(s.folder)
		if err == nil && spare <= 0 {
			err = fmt.Errorf("%w in %s: downloads leave a tenth of the disk free, 10 GiB at most; set TMPDIR to a larger one", ErrNoSpace, s.folder)
		}
		if err != nil {
			return 0, poll.Permanent(err)
		}
		s.left = min(spareInterval, spare)
	}
	n, err := s.from.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	return n, err
}

// withIdleTimeout returns a context that ends once the body, which the request must read
// through the returned function, has had no data for requests.IdleTimeout. If idle is false, it
// changes nothing.
func withIdleTimeout(ctx context.Context, idle bool) (context.Context, func(io.Reader) io.Reader, context.CancelFunc) {
	if !idle {
		return ctx, func(body io.Reader) io.Reader { return body }, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(requests.IdleTimeout, func() { cancel(fmt.Errorf("no data for %s", requests.IdleTimeout)) })
	alive := func(body io.Reader) io.Reader { return idleReader{body, timer} }
	return ctx, alive, func() { timer.Stop(); cancel(nil) }
}

// idleReader postpones the idle timeout whenever data arrives.
type idleReader struct {
	io.Reader
	timer *time.Timer
}

func (r idleReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.timer.Reset(requests.IdleTimeout)
	}
	return n, err
}
