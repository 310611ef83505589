// Package sparktest gives tests that run Spark on this machine a JAVA_HOME with which its JVMs start
// in half the CPU time. It starts no Spark but once for the archive that this takes.
package sparktest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// WriteJavaHome writes a JAVA_HOME to a folder: that of the javac on PATH, which loads the classes of
// the Spark in the tree (package applications) from an archive. The first call on a machine makes
// the archive.
func WriteJavaHome(ctx context.Context, tree, home string) error {
	java, err := exec.LookPath("javac") // the JDK's
	if err != nil {
		return err
	}
	if java, err = filepath.EvalSymlinks(java); err != nil {
		return err
	}
	own := filepath.Dir(filepath.Dir(java))
	spark := filepath.Join(tree, "spark")
	archive, err := applications.Archive(ctx, tree, own, applications.SparkArchive, func(ctx context.Context, file string) error {
		work, err := os.MkdirTemp("", "archive-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(work)
		if err := os.WriteFile(filepath.Join(work, "job.py"), applications.ArchivedJob, 0o600); err != nil {
			return err
		}
		argv, env := applications.DumpSpark(spark, own, work, file)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = work, os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("archive Spark's classes: %w", err)
	}
	return applications.Java{Home: own, OnHost: own, Spark: spark, Archive: archive}.Write(home)
}
