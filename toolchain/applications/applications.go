// Package applications fetches what EMR installs on a node (Spark, Hadoop and
// the AWS CLI) into one tree in a cache, from the public package registries with
// their own clients (pip, mvn), and writes JAVA_HOMEs whose JVMs load Spark's classes
// from an archive. It configures and starts nothing.
//
// The tree:
//
//	spark/     SPARK_HOME: bin, jars, python, conf -> /etc/spark/conf
//	hadoop/    lib (daemons), shuffle (Spark's shuffle service for NodeManagers)
//	aws/       the AWS CLI's Python packages
//	archives/  of classes of the jars, which those who start JVMs add (Archive)
package applications

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Versions of the applications.
const (
	Spark  = "3.5.5"
	Hadoop = "3.4.1"
	AWSCLI = "1.42.45"
	Boto3  = "1.40.45"
)

//go:embed pom.xml
var pom []byte

//go:embed requirements.txt
var requirements []byte

// layout is part of the tree's name: change it when this package arranges the tree
// differently.
const layout = "1"

// Progress receives a part's name, what happens to it, and the time since its start.
type Progress func(part, message string, elapsed time.Duration)

// Fetch returns the tree's folder. If it is missing, Fetch fetches its parts
// concurrently; the folder appears only when it is complete. The error names the
// client that failed and contains the end of its output.
func Fetch(ctx context.Context, progress Progress) (string, error) {
	tree, err := treeDir()
	if err != nil {
		return "", err
	}
	if isDir(tree) {
		return tree, nil
	}
	if err := os.MkdirAll(filepath.Dir(tree), 0o755); err != nil {
		return "", fmt.Errorf("create cache of the EMR applications: %w", err)
	}
	lock := flock.New(tree + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another process fetching the EMR applications: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	if isDir(tree) {
		return tree, nil
	}
	if err := fetchTree(ctx, tree, progress); err != nil {
		return "", fmt.Errorf("fetch the EMR applications: %w", err)
	}
	return tree, nil
}

// treeDir returns the tree's folder. Its name changes with its content.
func treeDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	content := strings.Join([]string{layout, Spark, AWSCLI, Boto3, string(pom), string(requirements)}, "\x00")
	sum := sha256.Sum256([]byte(content))
	return filepath.Join(cache, "emr-observatory", "applications-"+hex.EncodeToString(sum[:6])), nil
}

// fetchTree builds the tree in a temporary folder and renames it.
func fetchTree(ctx context.Context, tree string, progress Progress) error {
	work, err := os.MkdirTemp(filepath.Dir(tree), "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil { // accounts of the nodes read it
		return err
	}
	if err := fetchParts(ctx, work, progress); err != nil {
		return err
	}
	if err := assemble(work); err != nil {
		return fmt.Errorf("assemble %s: %w", tree, err)
	}
	return os.Rename(work, tree)
}

func fetchParts(ctx context.Context, work string, progress Progress) error {
	parts := map[string]func(context.Context, string) error{"spark": fetchSpark, "hadoop": fetchHadoop, "aws": fetchAWS}
	var wg sync.WaitGroup
	errs := make(chan error, len(parts))
	for name, fetch := range parts {
		wg.Go(func() {
			start := time.Now()
			report := func(message string) {
				if progress != nil {
					progress(name, message, time.Since(start))
				}
			}
			report("fetching")
			if err := fetch(ctx, work); err != nil {
				errs <- fmt.Errorf("%s: %w", name, err)
				return
			}
			report("fetched")
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// fetchSpark downloads PySpark's source archive, which contains Spark.
func fetchSpark(ctx context.Context, work string) error {
	req := filepath.Join(work, "requirements.txt")
	if err := os.WriteFile(req, requirements, 0o600); err != nil {
		return err
	}
	down := filepath.Join(work, "download")
	if err := run(
		ctx, work, "python3", "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
		"--require-hashes", "-d", down, "-r", req,
	); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(down, "pyspark-*.tar.gz"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("no pyspark archive in %s", down)
	}
	if err := run(ctx, work, "tar", "-xzf", archives[0], "-C", down, "--no-same-owner"); err != nil {
		return err
	}
	return os.Remove(archives[0])
}

// fetchHadoop downloads Hadoop's jars with Maven.
func fetchHadoop(ctx context.Context, work string) error {
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return err
	}
	return run(
		ctx, work, "mvn", "-q", "-B", "-ntp", "-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime",
		"-DoutputDirectory="+filepath.Join(work, "hadoop", "all"),
	)
}

// fetchAWS installs the AWS CLI and boto3 with pip.
func fetchAWS(ctx context.Context, work string) error {
	return run(ctx, work, "python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-warn-script-location",
		"--root-user-action", "ignore", "--target", filepath.Join(work, "aws"), "awscli=="+AWSCLI, "boto3=="+Boto3)
}

// assemble builds the tree from the fetched parts: Spark with the newer Hadoop client
// and S3A, and Hadoop's daemons with Spark's logging libraries. Their own slf4j 1.7
// has no binding, so a failing daemon would exit without any message.
func assemble(work string) error {
	sdist := filepath.Join(work, "download", "pyspark-"+Spark)
	spark, lib, shuffle := filepath.Join(work, "spark"), filepath.Join(work, "hadoop", "lib"), filepath.Join(work, "hadoop", "shuffle")
	for _, d := range []string{spark, lib, shuffle} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{
		"deps/bin": "bin", "deps/sbin": "sbin", "deps/jars": "jars", "pyspark": "python/pyspark", "lib": "python/lib",
	} {
		target := filepath.Join(spark, to)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(sdist, from), target); err != nil {
			return err
		}
	}
	if err := os.Symlink(platform.EMRSparkConfDir, filepath.Join(spark, "conf")); err != nil {
		return err
	}
	if err := arrangeJars(filepath.Join(spark, "jars"), filepath.Join(work, "hadoop", "all"), lib, shuffle); err != nil {
		return err
	}
	for _, d := range []string{"download", "hadoop/all", "pom.xml", "requirements.txt", "target"} {
		if err := os.RemoveAll(filepath.Join(work, d)); err != nil {
			return err
		}
	}
	return nil
}

// run runs a program; its error contains the end of the output.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		const maxBytes = 2000 // of output, from its end
		out = out[max(0, len(out)-maxBytes):]
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
