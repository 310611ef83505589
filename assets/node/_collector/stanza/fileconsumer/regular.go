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

	"golang.org/x/sys/unix"
)

// errNotRead is why a file is not opened. It is a permission error, which the caller logs
// once per file, not at every poll.
var errNotRead = fmt.Errorf("not read: %w", fs.ErrPermission)

// openRegular opens a file for reading if it is a regular one, at its own path.
//
// The collector reads every file of a node, and the jobs of a cluster write to the folders
// whose logs it reads. A job must neither have it read another file (by a link), nor stop it
// (by a FIFO, whose opening waits for a writer, or by a lease), nor touch a device.
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
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// checkRegular requires that what is open is a regular file, and is where the path leads
// without links that others than root may have placed.
func checkRegular(fd int, path, opened string) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("%s: %w: it is not a regular file", path, errNotRead)
	}
	is, err := os.Readlink(opened)
	if err != nil {
		return err
	}
	folder, err := folderOf(path)
	if err != nil {
		return err
	}
	if want := filepath.Join(folder, filepath.Base(path)); is != want {
		return fmt.Errorf("%s: %w: it is %s, not %s", path, errNotRead, is, want)
	}
	return nil
}

// maxLinks is the kernel's limit of links in a path (path_resolution(7)).
const maxLinks = 40

// folderOf returns the folder of a file, without links. It follows a link only in a folder
// where nobody but root may place one, such as EMR's from /var/log to /mnt/var/log.
func folderOf(path string) (string, error) {
	absolute, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	folder, rest, links := "/", names(absolute), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(folder, name) // of .., the folder above
		target, err := os.Readlink(next)
		if errors.Is(err, unix.EINVAL) { // not a link
			folder = next
			continue
		}
		if err != nil {
			return "", err
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		if err := ownedByRoot(folder); err != nil {
			return "", fmt.Errorf("%s: %w: %s is a link, and %w", path, errNotRead, next, err)
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

// ownedByRoot requires that nobody but root may create files in a folder.
func ownedByRoot(folder string) error {
	var stat unix.Stat_t
	if err := unix.Stat(folder, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: folder, Err: err}
	}
	if stat.Uid != 0 || stat.Mode&(unix.S_IWGRP|unix.S_IWOTH) != 0 {
		return fmt.Errorf("others than root may write to %s", folder)
	}
	return nil
}
