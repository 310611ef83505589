package emr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// hostJava is where a node sees the host's JAVA_HOME.
const hostJava = "/.host/java"

// nodeArchive is the name of the archive of Spark's classes for nodes, where the jars are elsewhere
// than on the host.
const nodeArchive = "node-" + applications.SparkArchive

// writeJava writes EMR's JAVA_HOME: that of the host, but for the command java. It compiles with C1
// alone, while EMR's uses C2, too: most jobs of the local cloud end before the code that C2 compiles
// pays off. On two busy cores, orders.py with 400,000 rows took 92 instead of 151 s of CPU time.
// And it loads Spark's classes from an archive.
func (s *Service) writeJava(root string) error {
	java := applications.Java{
		Home: hostJava, OnHost: s.JavaHome, Options: []string{hadoop.C1Only}, Spark: platform.EMRSparkHome,
	}
	if archive, err := applications.ArchiveName(s.Applications, s.JavaHome, nodeArchive); err != nil {
		s.Log.Warn(withoutArchive, "error", err)
	} else {
		java.Archive = path.Join(applications.Mount, archive)
	}
	// /usr/lib/jvm links to the host's; a node has one of its own with EMR's name.
	home := filepath.Join(root, hadoop.JavaHome)
	if err := os.RemoveAll(filepath.Dir(home)); err != nil {
		return err
	}
	return java.Write(home)
}

const (
	withoutArchive = "Spark starts without an archive of its classes, as on EMR"
	// archiveTimeout bounds the making of the archive, some 20 s of CPU time.
	archiveTimeout = 3 * time.Minute
)

// archiveClasses makes the archive of Spark's classes on a node, unless there is one or this process
// has tried before. Without one, which is logged, JVMs start as they do on EMR.
func (s *Service) archiveClasses(ctx context.Context, n *node) {
	s.archived.Do(func() { s.makeArchive(ctx, n) })
}

func (s *Service) makeArchive(ctx context.Context, n *node) {
	ctx, cancel := context.WithTimeout(ctx, archiveTimeout)
	defer cancel()
	_, err := applications.Archive(ctx, s.Applications, s.JavaHome, nodeArchive, func(ctx context.Context, file string) error {
		s.Log.Info("making the archive of Spark's classes", "node", n.Host)
		const work = "/mnt/tmp/archive"
		if err := n.write(work+"/job.py", string(applications.ArchivedJob), 0o644); err != nil {
			return err
		}
		defer os.RemoveAll(filepath.Join(n.machine.Root, work))
		argv, env := applications.DumpSpark(platform.EMRSparkHome, hadoop.JavaHome, work, work+"/classes")
		if err := n.machine.Must(ctx, machine.Exec{Argv: argv, Env: env, Dir: work}); err != nil {
			return err
		}
		return copyFile(filepath.Join(n.machine.Root, work, "classes"), file)
	})
	if err != nil {
		s.Log.Warn(withoutArchive, "node", n.Host, "error", err)
	}
}

// copyFile copies a file, which may be on another file system.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(target, source); err != nil {
		err = fmt.Errorf("copy %s: %w", from, err)
	}
	return errors.Join(err, target.Close())
}
