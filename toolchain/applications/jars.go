package applications

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// replacedSparkJars matches Hadoop jars of Spark's package that newer ones replace.
var replacedSparkJars = regexp.MustCompile(`^hadoop-(client-api|client-runtime|yarn-server-web-proxy)-`)

// webProxyJar matches the jar with the servlet filter of Spark's web pages on YARN.
var webProxyJar = regexp.MustCompile(`^hadoop-yarn-server-web-proxy-`)

// daemonOnlyJars matches jars that must not be on Spark's class path.
var daemonOnlyJars = regexp.MustCompile(`^(hadoop-client-minicluster|spark-network-yarn|` +
	`slf4j-api-1|junit|hamcrest|bc(prov|pkix|util)|jaxb|javax\.activation)`)

// loggingJars matches the jars of Spark's package with which the daemons log.
var loggingJars = regexp.MustCompile(`^(slf4j-api-2|log4j-|jcl-over-slf4j|jul-to-slf4j)`)

// shuffleDependencyJars matches the jars of Spark's package that the shuffle service
// needs: its own jar does not contain them.
var shuffleDependencyJars = regexp.MustCompile(`^(spark-network-common|spark-network-shuffle|spark-common-utils|` +
	`netty-|jackson-(core|databind|annotations)-2` +
	`|leveldbjni|rocksdbjni|commons-lang3|commons-crypto|metrics-core|RoaringBitmap|shims-|scala-library|guava)`)

// arrangeJars distributes the jars of Spark's package and of Hadoop between
// Spark, the daemons and the shuffle service.
func arrangeJars(spark, hadoop, daemons, shuffle string) error {
	inSpark, err := shareSparkJars(spark, daemons, shuffle)
	if err != nil {
		return err
	}
	names, err := jarNames(hadoop)
	if err != nil {
		return err
	}
	for _, n := range names {
		from := filepath.Join(hadoop, n)
		if strings.HasPrefix(n, "slf4j-api-1") || strings.HasPrefix(n, "junit") || strings.HasPrefix(n, "hamcrest") {
			continue
		}
		dir := daemons
		switch {
		case strings.HasPrefix(n, "spark-network-yarn"):
			dir = shuffle
		case webProxyJar.MatchString(n): // the daemons' jar contains its classes
			dir = spark
		}
		if err := os.Link(from, filepath.Join(dir, n)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if dir != spark && !inSpark[artifactName(n)] && !daemonOnlyJars.MatchString(n) {
			if err := os.Link(from, filepath.Join(spark, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shareSparkJars removes replaced jars from Spark's package, links those that
// the daemons and the shuffle service also need, and returns the artifacts that
// remain.
func shareSparkJars(spark, daemons, shuffle string) (map[string]bool, error) {
	names, err := jarNames(spark)
	if err != nil {
		return nil, err
	}
	remaining := map[string]bool{}
	for _, n := range names {
		from := filepath.Join(spark, n)
		if replacedSparkJars.MatchString(n) {
			if err := os.Remove(from); err != nil {
				return nil, err
			}
			continue
		}
		switch {
		case loggingJars.MatchString(n):
			err = os.Link(from, filepath.Join(daemons, n))
		case shuffleDependencyJars.MatchString(n):
			err = os.Link(from, filepath.Join(shuffle, n))
		}
		if err != nil {
			return nil, err
		}
		remaining[artifactName(n)] = true
	}
	return remaining, nil
}

var versionSuffix = regexp.MustCompile(`-[0-9][^-]*(-M[0-9]+)?\.jar$`)

// artifactName returns a jar's name without its version.
func artifactName(jar string) string { return versionSuffix.ReplaceAllString(jar, "") }

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
