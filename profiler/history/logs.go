package history

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Archive is the downloaded event logs of an attempt, a folder of files (fs.FS) that is
// never extracted.
type Archive struct {
	*zip.Reader
	// Size is the number of bytes downloaded.
	Size int64

	file *os.File
}

// Close removes the download.
func (a *Archive) Close() error {
	err := errors.Join(a.file.Close(), os.Remove(a.file.Name()))
	if err != nil {
		return fmt.Errorf("remove downloaded event logs: %w", err)
	}
	return nil
}

// Logs downloads the event logs of the attempt as the server has them, without replaying
// them; of an application without attempts, that of the application. Only history
// servers have them: the UI of a running driver gives ErrNotFound.
func (u *UI) Logs(ctx context.Context) (*Archive, error) {
	if left, _ := u.begin(Logs); left {
		return nil, fmt.Errorf("download event logs of %s: %w", u.path, ErrLeftOut)
	}
	file, err := os.CreateTemp(u.c.o.Folder, "eventlogs-*.zip")
	if err != nil {
		return nil, fmt.Errorf("download event logs: %w", err)
	}
	a := &Archive{file: file}
	r := request{path: u.path + "/logs", accept: "application/octet-stream", idle: true}
	err = u.c.do(ctx, r, a.fill(u.c.o.MaxLogs))
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

// fill writes the file from its beginning.
func (a *Archive) fill(limit int64) take {
	return func(body io.Reader) error {
		if err := a.file.Truncate(0); err != nil {
			return fmt.Errorf("empty the download: %w", err)
		}
		if _, err := a.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("rewind the download: %w", err)
		}
		size, err := io.Copy(a.file, &boundedReader{from: body, left: limit, limit: limit})
		if err != nil {
			return fmt.Errorf("download %d bytes: %w", size, err)
		}
		a.Size = size
		a.Reader, err = zip.NewReader(a.file, size)
		if err != nil {
			return fmt.Errorf("read the zip: %w", err)
		}
		return nil
	}
}

// attend returns a context that ends once nothing came from the body for idleTimeout, if
// a request is one that takes as long as it takes.
func attend(ctx context.Context, idle bool) (context.Context, func(io.Reader) io.Reader, context.CancelFunc) {
	if !idle {
		return ctx, func(body io.Reader) io.Reader { return body }, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idleTimeout, func() { cancel(fmt.Errorf("nothing came for %s", idleTimeout)) })
	alive := func(body io.Reader) io.Reader { return attended{body, timer} }
	return ctx, alive, func() { timer.Stop(); cancel(nil) }
}

// attended puts the end of a request off while bytes come.
type attended struct {
	io.Reader
	timer *time.Timer
}

func (a attended) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.timer.Reset(idleTimeout)
	}
	return n, err
}
