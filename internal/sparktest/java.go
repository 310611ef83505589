// Package sparktest gives tests that run Spark on this machine a JAVA_HOME with which Spark's JVMs
// start in two thirds of the CPU time, and the jars of Spark 4. It runs Spark only once, to make the
// archive of classes.
package sparktest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// dumpTimeout bounds the making of the archive, some 20 s of CPU time.
const dumpTimeout = 5 * time.Minute

// WriteJavaHome writes a JAVA_HOME to a folder: that of the local cloud, whose JVMs load the classes
// of the Spark in the tree (package applications) from an archive. The first call on a machine makes
// the archive. Where that fails, which is printed, JVMs start without. behind are entries of class
// paths that have no class of Spark's.
func WriteJavaHome(ctx context.Context, tree, home string, behind ...string) error {
	jdk, err := doctor.JDK()
	if err != nil {
		return err
	}
	java := applications.Java{Home: jdk, OnHost: jdk, Spark: filepath.Join(tree, "spark"), Behind: behind}
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	java.Archive, err = applications.Archive(ctx, tree, jdk, applications.SparkArchive, func(ctx context.Context, file string) error {
		return dump(ctx, java, file)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "Spark starts without an archive of its classes: %v\n", err)
	}
	return java.Write(home)
}

// dump runs the job that makes the archive. Of this process's environment it needs programs and
// folders only; the rest may be a developer's.
func dump(ctx context.Context, java applications.Java, file string) error {
	work, err := os.MkdirTemp("", "archive-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "job.py"), applications.ArchivedJob, 0o600); err != nil {
		return err
	}
	argv, env := applications.DumpSpark(java.Spark, java.Home, work, file)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, "LC_ALL=C.UTF-8"}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
