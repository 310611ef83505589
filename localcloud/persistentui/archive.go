package persistentui

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A history server loads its classes from an archive of the JVM's (JEP 350), where it can:
// of the 4.5 s of CPU time until it lists applications, that saves 1.8 s. The archive belongs to
// a tree of applications and a JVM, is kept beside the tree, and is made by the first server
// that is started from them.

// archiveOption returns the JVM's option that reads the archive. Without an archive, which is
// logged, servers start as they do on EMR.
func (s *Service) archiveOption(ctx context.Context) string {
	archive, err := s.archive(ctx)
	if err != nil {
		s.Log.Warn("history servers start without an archive of classes", "error", err)
		return "-Xshare:auto"
	}
	return "-XX:SharedArchiveFile=" + archive
}

// archive returns the archive's path, and makes it if it is missing.
func (s *Service) archive(ctx context.Context) (string, error) {
	release, err := os.ReadFile(filepath.Join(s.JavaHome, "release")) // the build, which alone can read its archives
	if err != nil {
		return "", err
	}
	file := fmt.Sprintf("%s-history-server-%x.jsa", s.Applications, sha256.Sum256(release))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	work, err := os.MkdirTemp(filepath.Dir(file), "archive-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	output, err := os.Create(filepath.Join(work, "log"))
	if err != nil {
		return "", err
	}
	part := filepath.Join(work, "archive.jsa")
	server, port, err := s.launch(work, output, "-XX:ArchiveClassesAtExit="+part)
	if err != nil {
		return "", errors.Join(err, output.Close())
	}
	defer server.stop()
	if err := server.awaitPort(ctx, port); err != nil {
		return "", err
	}
	if err := server.awaitListed(ctx, time.Time{}); err != nil {
		return "", err
	}
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return "", err
	}
	select {
	case <-server.exited:
	case <-ctx.Done():
		return "", fmt.Errorf("the JVM has not written %s: %w", part, ctx.Err())
	}
	return file, os.Rename(part, file) // another process may have made the same
}
