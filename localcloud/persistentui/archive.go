package persistentui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// archiveTimeout bounds the making of the archive, some 10 s of CPU time.
const archiveTimeout = 2 * time.Minute

// archiveOption returns the option with which the JVM of a history server loads its classes from an
// archive: of the 4.5 s of CPU time until it lists applications, that saves 1.8 s. The first server
// makes it. Without one, which is logged, servers start as they do on EMR.
func (s *Service) archiveOption(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	archive, err := applications.Archive(ctx, s.Applications, s.JavaHome, "history-server", s.archiveClasses)
	if err != nil {
		s.Log.Warn("history servers start without an archive of classes", "error", err)
		return "-Xshare:auto"
	}
	return "-XX:SharedArchiveFile=" + archive
}

// archiveClasses makes the JVM of a history server write its classes to a file.
func (s *Service) archiveClasses(ctx context.Context, file string) error {
	work, err := os.MkdirTemp(filepath.Dir(file), "archive-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	output, err := os.Create(filepath.Join(work, "log"))
	if err != nil {
		return err
	}
	server, port, err := s.launch(work, output, "-XX:ArchiveClassesAtExit="+file)
	if err != nil {
		return errors.Join(err, output.Close())
	}
	defer server.stop()
	if err := server.awaitPort(ctx, port); err != nil {
		return err
	}
	if err := server.awaitListed(ctx, time.Time{}); err != nil {
		return err
	}
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-server.exited:
	case <-ctx.Done():
		return fmt.Errorf("the JVM has not written %s: %w", file, ctx.Err())
	}
	return nil
}
