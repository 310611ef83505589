package applications

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The JVMs of Spark load some 15,000 classes each: a driver of four small SQL jobs that compiles with
// C1 takes 8.3 s of CPU time without and 5.1 s with an archive of classes (JEP 350, JDK 17). Archives
// are below the tree: they are of its jars.

// archives is the tree's folder of archives.
const archives = "archives"

// ArchiveName returns the path of an archive in the tree. A JVM reads an archive only if its own base
// archive and the jars are those with which it was made, so the name depends on these, and on what
// made it.
func ArchiveName(tree, javaHome, name string) (string, error) {
	made := sha256.New()
	made.Write(ArchivedJob)
	files := []string{filepath.Join(javaHome, "release"), filepath.Join(javaHome, "lib", "server", "classes.jsa")}
	jars, err := filepath.Glob(filepath.Join(tree, "spark", "jars", "*.jar"))
	if err != nil {
		return "", err
	}
	for _, file := range append(files, jars...) {
		info, err := os.Stat(file)
		if err != nil {
			return "", fmt.Errorf("name an archive of classes: %w", err)
		}
		fmt.Fprintf(made, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%s/%s-%x.jsa", archives, name, made.Sum(nil)[:8]), nil
}

// Archive returns an archive's file. If it is missing, dump makes a JVM write it
// (-XX:ArchiveClassesAtExit); it appears only when it is complete, in the place of earlier ones of
// its name.
func Archive(ctx context.Context, tree, javaHome, name string, dump func(ctx context.Context, file string) error) (string, error) {
	inTree, err := ArchiveName(tree, javaHome, name)
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
	lock := flock.New(filepath.Join(filepath.Dir(file), name+".lock"))
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another process writing %s: %w", file, err)
	}
	defer func() { _ = lock.Unlock() }()
	if exists(file) {
		return file, nil
	}
	if err := writeArchive(ctx, file, dump); err != nil {
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	return file, removeEarlier(file, name)
}

// writeArchive writes an archive in a folder of its own, and moves it to its place.
func writeArchive(ctx context.Context, file string, dump func(ctx context.Context, file string) error) error {
	work, err := os.MkdirTemp(filepath.Dir(file), "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	part := filepath.Join(work, "classes.jsa")
	if err := dump(ctx, part); err != nil {
		return err
	}
	if info, err := os.Stat(part); err != nil || info.Size() == 0 {
		return errors.New("the JVM wrote no archive")
	}
	if err := os.Chmod(part, 0o444); err != nil { // all accounts of a node read it
		return err
	}
	return os.Rename(part, file)
}

// removeEarlier removes the archives of other JVMs or jars. JVMs that have mapped one keep it.
func removeEarlier(file, name string) error {
	others, err := filepath.Glob(filepath.Join(filepath.Dir(file), name+"-????????????????.jsa"))
	for _, other := range others {
		if other != file {
			err = errors.Join(err, os.Remove(other))
		}
	}
	return err
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
	local := func(name string) string { return "file://" + path.Join(work, name) }
	return []string{
			path.Join(spark, "bin/spark-submit"), "--master", "local[2]",
			"--driver-class-path", sparkJars(spark) + "/*", "--driver-java-options", "-XX:ArchiveClassesAtExit=" + file,
			"--conf", "spark.ui.enabled=false", "--conf", "spark.sql.warehouse.dir=" + local("warehouse"),
			path.Join(work, "job.py"), local("rows"),
		}, map[string]string{
			"SPARK_HOME": spark, "SPARK_CONF_DIR": path.Join(work, "none"), "JAVA_HOME": javaHome, "SPARK_LOCAL_IP": platform.Loopback,
			"PYSPARK_PYTHON": "python3",
		}
}

func sparkJars(spark string) string { return path.Join(spark, "jars") }
