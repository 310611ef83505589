// Package applications fetches what EMR installs on a node: Spark, Hadoop and
// the AWS CLI, as one read-only tree in a cache. It fetches from the ordinary
// package registries with the ordinary clients (pip, mvn); it configures and
// starts nothing.
//
// The tree:
//
//	spark/     SPARK_HOME: bin, jars, python, conf -> /etc/spark/conf
//	hadoop/    lib (daemons), shuffle (what NodeManagers load for Spark)
//	aws/       the AWS CLI's Python packages
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
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Versions of what is fetched.
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

// layout changes when this package lays the tree out differently.
const layout = "1"

// Progress is told what is being fetched and how long it has taken so far.
type Progress func(part, message string, elapsed time.Duration)

// Fetch gives the tree's folder, fetching what is not there. Parts are fetched
// at once; a tree appears only whole. The error names the client that failed
// and the end of what it printed.
func Fetch(ctx context.Context, progress Progress) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{layout, Spark, AWSCLI, Boto3, string(pom), string(requirements)}, "\x00")))
	tree := filepath.Join(cache, "emr-observatory", "applications-"+hex.EncodeToString(sum[:6]))
	if isDir(tree) {
		return tree, nil
	}
	if err := os.MkdirAll(filepath.Dir(tree), 0o755); err != nil {
		return "", err
	}
	lock := flock.New(tree + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another fetch of the EMR applications: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	if isDir(tree) {
		return tree, nil
	}
	work, err := os.MkdirTemp(filepath.Dir(tree), "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil { //nolint:gosec // accounts of the nodes read it
		return "", err
	}
	if err := fetchParts(ctx, work, progress); err != nil {
		return "", err
	}
	if err := assemble(work); err != nil {
		return "", err
	}
	if err := os.Rename(work, tree); err != nil {
		return "", err
	}
	return tree, nil
}

func fetchParts(ctx context.Context, work string, progress Progress) error {
	parts := map[string]func(context.Context, string) error{"spark": fetchSpark, "hadoop": fetchHadoop, "aws": fetchAWS}
	var wg sync.WaitGroup
	errs := make(chan error, len(parts))
	for name, fetch := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			start := time.Now()
			say := func(m string) {
				if progress != nil {
					progress(name, m, time.Since(start))
				}
			}
			say("fetching")
			if err := fetch(ctx, work); err != nil {
				errs <- fmt.Errorf("fetch %s: %w", name, err)
				return
			}
			say("fetched")
		}()
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

func fetchSpark(ctx context.Context, work string) error {
	req := filepath.Join(work, "requirements.txt")
	if err := os.WriteFile(req, requirements, 0o600); err != nil {
		return err
	}
	down := filepath.Join(work, "download")
	if err := run(ctx, work, "python3", "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "--require-hashes", "-d", down, "-r", req); err != nil {
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

func fetchHadoop(ctx context.Context, work string) error {
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return err
	}
	return run(ctx, work, "mvn", "-q", "-B", "-ntp", "-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(work, "hadoop", "all"))
}

func fetchAWS(ctx context.Context, work string) error {
	return run(ctx, work, "python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-warn-script-location", "--root-user-action", "ignore",
		"--target", filepath.Join(work, "aws"), "awscli=="+AWSCLI, "boto3=="+Boto3)
}

// assemble makes the tree out of what was fetched: Spark with Hadoop's newer
// client and S3A, and Hadoop's daemons with Spark's logging, since slf4j 1.7
// without a binding lets daemons exit without a word.
func assemble(work string) error {
	sdist := filepath.Join(work, "download", "pyspark-"+Spark)
	spark, lib, shuffle := filepath.Join(work, "spark"), filepath.Join(work, "hadoop", "lib"), filepath.Join(work, "hadoop", "shuffle")
	for _, d := range []string{spark, lib, shuffle} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"deps/bin": "bin", "deps/sbin": "sbin", "deps/jars": "jars", "pyspark": "python/pyspark", "lib": "python/lib"} {
		target := filepath.Join(spark, to)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(sdist, from), target); err != nil {
			return err
		}
	}
	if err := os.Symlink("/etc/spark/conf", filepath.Join(spark, "conf")); err != nil {
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

// sparkOnlyHadoop are Hadoop jars in Spark's package that the newer ones replace.
var sparkOnlyHadoop = regexp.MustCompile(`^hadoop-(client-api|client-runtime|yarn-server-web-proxy)-`)

// webProxy has the filter that Spark puts before its pages.
var webProxy = regexp.MustCompile(`^hadoop-yarn-server-web-proxy-`)

// daemonsOnly never go to Spark.
var daemonsOnly = regexp.MustCompile(`^(hadoop-client-minicluster|spark-network-yarn|slf4j-api-1|junit|hamcrest|bc(prov|pkix|util)|jaxb|javax\.activation)`)

// logging is what the daemons log with, from Spark's package.
var logging = regexp.MustCompile(`^(slf4j-api-2|log4j-|jcl-over-slf4j|jul-to-slf4j)`)

// shuffleNeeds is what the thin shuffle service jar needs of Spark's jars.
var shuffleNeeds = regexp.MustCompile(`^(spark-network-common|spark-network-shuffle|spark-common-utils|netty-|jackson-(core|databind|annotations)-2|leveldbjni|rocksdbjni|commons-lang3|commons-crypto|metrics-core|RoaringBitmap|shims-|scala-library|guava)`)

func arrangeJars(spark, all, lib, shuffle string) error {
	have := map[string]bool{}
	names, err := jarNames(spark)
	if err != nil {
		return err
	}
	for _, n := range names {
		switch {
		case sparkOnlyHadoop.MatchString(n):
			if err := os.Remove(filepath.Join(spark, n)); err != nil {
				return err
			}
			continue
		case logging.MatchString(n):
			err = os.Link(filepath.Join(spark, n), filepath.Join(lib, n))
		case shuffleNeeds.MatchString(n):
			err = os.Link(filepath.Join(spark, n), filepath.Join(shuffle, n))
		}
		if err != nil {
			return err
		}
		have[artifact(n)] = true
	}
	names, err = jarNames(all)
	if err != nil {
		return err
	}
	for _, n := range names {
		from := filepath.Join(all, n)
		if strings.HasPrefix(n, "slf4j-api-1") || strings.HasPrefix(n, "junit") || strings.HasPrefix(n, "hamcrest") {
			continue
		}
		dir := lib
		switch {
		case strings.HasPrefix(n, "spark-network-yarn"):
			dir = shuffle
		case webProxy.MatchString(n): // the daemons' one jar has these classes
			dir = spark
		}
		if err := os.Link(from, filepath.Join(dir, n)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if dir != spark && !have[artifact(n)] && !daemonsOnly.MatchString(n) {
			if err := os.Link(from, filepath.Join(spark, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

var version = regexp.MustCompile(`-[0-9][^-]*(-M[0-9]+)?\.jar$`)

// artifact is a jar's name without its version.
func artifact(jar string) string { return version.ReplaceAllString(jar, "") }

func jarNames(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no jars in %s", dir)
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	sort.Strings(names)
	return names, nil
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // fixed clients
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		if len(out) > 2000 {
			out = out[len(out)-2000:]
		}
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
