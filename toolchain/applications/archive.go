package applications

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The JVMs of Spark load some 15,000 classes each, which is half of the CPU time of a job of
// seconds: 8.3 s without and 5.1 s with an archive of classes (JEP 350, JDK 17; a driver of four
// small SQL jobs that compiles with C1). Archives are below the tree: they are of its jars.

// archives is the tree's folder of archives.
const archives = "archives"

// ArchiveName returns the path of an archive in the tree. It depends on the build of the JVM of a
// JAVA_HOME, which alone can read it.
func ArchiveName(javaHome, name string) (string, error) {
	release, err := os.ReadFile(filepath.Join(javaHome, "release"))
	if err != nil {
		return "", fmt.Errorf("find the build of the JVM: %w", err)
	}
	return fmt.Sprintf("%s/%s-%x.jsa", archives, name, sha256.Sum256(release)), nil
}

// Archive returns an archive's file. If it is missing, dump makes a JVM write it
// (-XX:ArchiveClassesAtExit); it appears only when it is complete.
func Archive(ctx context.Context, tree, javaHome, name string, dump func(ctx context.Context, file string) error) (string, error) {
	inTree, err := ArchiveName(javaHome, name)
	if err != nil {
		return "", err
	}
	file := filepath.Join(tree, inTree)
	if exists(file) {
		return file, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	lock := flock.New(file + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another process writing %s: %w", file, err)
	}
	defer func() { _ = lock.Unlock() }()
	if exists(file) {
		return file, nil
	}
	part := file + ".part"
	if err := dump(ctx, part); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	return file, os.Rename(part, file)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// ArchivedJob is a PySpark job that loads what Spark's JVMs load. Its argument is a folder to write to.
//
//go:embed archive.py
var ArchivedJob []byte

// SparkArchive is the name of the archive of Spark's jars.
const SparkArchive = "spark"

// DumpSpark returns the command, with its environment, that writes the archive of Spark's jars to a
// file. spark is the SPARK_HOME as class paths name it, and work a folder that has ArchivedJob as
// job.py.
func DumpSpark(spark, javaHome, work, file string) (argv []string, env map[string]string) {
	return []string{
			path.Join(spark, "bin/spark-submit"), "--master", "local[2]",
			"--driver-class-path", sparkJars(spark) + "/*", "--driver-java-options", "-XX:ArchiveClassesAtExit=" + file,
			"--conf", "spark.ui.enabled=false", "--conf", "spark.sql.warehouse.dir=" + path.Join(work, "warehouse"),
			path.Join(work, "job.py"), path.Join(work, "rows"),
		}, map[string]string{
			"SPARK_HOME": spark, "SPARK_CONF_DIR": path.Join(work, "none"), "JAVA_HOME": javaHome, "SPARK_LOCAL_IP": platform.Loopback,
			"PYSPARK_PYTHON": "python3",
		}
}

func sparkJars(spark string) string { return path.Join(spark, "jars") }
