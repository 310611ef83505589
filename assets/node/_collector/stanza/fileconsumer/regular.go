//go:build linux

package fileconsumer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// errNotRead is why a file is not opened. It is a permission error, which the caller logs
// once per file (for 10,000 files), not at every poll.
var errNotRead = fmt.Errorf("not read: %w", fs.ErrPermission)

// openRegular opens a file for reading if it is a regular one, at its own path.
//
// The collector reads every file of a node, and the jobs of a cluster write to the folders
// whose logs it reads. A job must neither have it read another file (by a link), nor stop it
// (by a FIFO, whose opening waits for a writer, or by a lease), nor touch a device. The
// kernel keeps jobs from making hard links to files of others (fs.protected_hardlinks,
// which systemd sets).
func openRegular(path string) (*os.File, error) {
	// Opening with O_PATH has no effect on what is opened.
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(at) }()
	opened := "/proc/self/fd/" + strconv.Itoa(at)
	if err := checkRegular(at, path, opened); err != nil {
		return nil, err
	}
	// Without O_NONBLOCK, whoever holds a lease of the file would make this wait.
	fd, err := unix.Open(opened, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w: somebody holds a lease of it", path, errNotRead)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// checkRegular requires that what is open is a regular file, and is where the path leads
// without links that others than root may have placed.
func checkRegular(fd int, path, opened string) error {
	is, err := os.Readlink(opened)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("%s: %w: it is not a regular file", path, errNotRead)
	}
	folder, err := folders.of(filepath.Dir(path))
	if err != nil {
		return err
	}
	switch want := filepath.Join(folder, filepath.Base(path)); {
	case is == want:
		return nil
	case stat.Nlink == 0:
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	default: // a link leads elsewhere, or the file was renamed and has its new name at the next poll
		return fmt.Errorf("%s: %w: it is %s, not %s", path, errNotRead, is, want)
	}
}

// resolved remembers where folders are. It may, since only root can change that.
type resolved struct {
	mu    sync.Mutex
	known map[string]string
}

var folders resolved

const maxKnown = 10_000

// of returns a folder's path without links.
func (r *resolved) of(folder string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if is, ok := r.known[folder]; ok {
		return is, nil
	}
	is, err := resolve(folder)
	if err != nil {
		return "", err
	}
	if r.known == nil || len(r.known) >= maxKnown {
		r.known = map[string]string{}
	}
	r.known[folder] = is
	return is, nil
}

// maxLinks is the kernel's limit of links in a path (path_resolution(7)).
const maxLinks = 40

// resolve follows links only as far as nobody but root may write, such as EMR's from /var/log
// to /mnt/var/log. What it has passed until then, nobody else can exchange meanwhile.
func resolve(path string) (string, error) {
	folder, rest, links, rootOnly := "/", names(path), 0, true
	for len(rest) > 0 {
		next := filepath.Join(folder, rest[0]) // of .., the folder above
		rest = rest[1:]
		var stat unix.Stat_t
		if err := unix.Lstat(next, &stat); err != nil {
			return "", &fs.PathError{Op: "stat", Path: next, Err: err}
		}
		if stat.Mode&unix.S_IFMT != unix.S_IFLNK {
			folder = next
			rootOnly = rootOnly && stat.Uid == 0 && stat.Mode&(unix.S_IWGRP|unix.S_IWOTH) == 0
			continue
		}
		if !rootOnly {
			return "", fmt.Errorf("%s: %w: %s is a link, and others than root may write to %s", path, errNotRead, next, folder)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		if filepath.IsAbs(target) {
			folder = "/"
		}
		rest = append(names(target), rest...)
	}
	return folder, nil
}

// names splits a path into the names of its folders.
func names(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}
