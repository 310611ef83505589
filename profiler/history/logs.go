package history

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/internal/poll"
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
	spare, err := u.c.o.Spare(filepath.Dir(file.Name()))
	if err == nil {
		r := request{path: u.path + "/logs", accept: "application/octet-stream", idle: true}
		err = u.c.do(ctx, r, a.fill(u.c.o.MaxLogs, spare))
	}
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

// reserve is the share of a disk that downloads leave free. The kubelet of the control node
// evicts pods when less than 5 % are free (eviction-hard in package assets/controlnode).
const reserve = 0.1

// spare implements Options.Spare.
func spare(folder string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, fmt.Errorf("look up the free space of %s: %w", folder, err)
	}
	kept := uint64(reserve * float64(disk.Blocks))
	if disk.Bavail <= kept {
		return 0, nil
	}
	return int64(min(disk.Bavail-kept, math.MaxInt64/uint64(disk.Bsize))) * int64(disk.Bsize), nil //nolint:gosec // bounded above
}

// fill returns a consumer that replaces the content of the file with the body. The body may
// have limit bytes, and no more than the disk can spare.
func (a *Archive) fill(limit, spare int64) consumer {
	return func(body io.Reader) error {
		if err := a.file.Truncate(0); err != nil {
			return fmt.Errorf("truncate the download: %w", err)
		}
		if _, err := a.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("rewind the download: %w", err)
		}
		size, err := io.Copy(a.file, &boundedReader{from: body, left: min(limit, spare), limit: min(limit, spare)})
		if errors.Is(err, ErrTooLong) && spare < limit {
			// It may have more space next time, so this is no ErrTooLong.
			return poll.Permanent(fmt.Errorf("the disk of %s can spare only %d bytes, which are not enough", filepath.Dir(a.file.Name()), spare))
		}
		if err != nil {
			return fmt.Errorf("download %d bytes: %w", size, err)
		}
		a.Size = size
		a.Reader, err = zip.NewReader(a.file, size)
		if err != nil {
			return fmt.Errorf("read the zip: %w", err)
		}
		return a.plausible()
	}
}

// maxInflated is the largest plausible ratio of a zip's content to its size. The text of an
// event log is 10 to 30 times as large, and is mostly compressed before it gets here.
const maxInflated = 500

// plausible returns an error if the zip is a bomb. archive/zip reads no more of a file than
// the directory says.
func (a *Archive) plausible() error {
	inflated := uint64(0)
	for _, f := range a.File {
		if inflated += min(f.UncompressedSize64, math.MaxInt64); inflated/maxInflated > uint64(a.Size) {
			return poll.Permanent(fmt.Errorf("a zip of %d bytes would inflate to more than %d times as many: %w", a.Size, maxInflated, ErrTooLong))
		}
	}
	return nil
}

// withIdleTimeout returns a context that ends once the body, which the request must read
// through the returned function, has had no data for idleTimeout. If idle is false, it
// changes nothing.
func withIdleTimeout(ctx context.Context, idle bool) (context.Context, func(io.Reader) io.Reader, context.CancelFunc) {
	if !idle {
		return ctx, func(body io.Reader) io.Reader { return body }, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idleTimeout, func() { cancel(fmt.Errorf("no data for %s", idleTimeout)) })
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
		r.timer.Reset(idleTimeout)
	}
	return n, err
}
