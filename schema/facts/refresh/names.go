package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// hive is the version of Hive of every release from 6.15.0 on (releases.json). The
// local cloud has none of it.
const hive = "3.1.3"

//go:embed Names.java
var namesJava []byte

// installed are the applications that can be asked.
type installed struct{ spark, hadoop, hiveJar string }

func findApplications(ctx context.Context, folder string) (installed, error) {
	tree, err := applications.Fetch(ctx, nil)
	if err != nil {
		return installed{}, fmt.Errorf("find the applications: %w", err)
	}
	hiveJar, err := fetchHive(ctx, folder)
	return installed{spark: filepath.Join(tree, "spark", "jars"), hadoop: filepath.Join(tree, "hadoop", "lib"), hiveJar: hiveJar}, err
}

// refreshProperties renders properties.json from what the applications say themselves.
func refreshProperties(ctx context.Context, folder string) ([]byte, error) {
	a, err := findApplications(ctx, folder)
	if err != nil {
		return nil, err
	}
	out := facts.Properties{
		Source: "Spark " + applications.Spark + ": org.apache.spark.internal.config.ConfigEntry's registry; Hadoop " + applications.Hadoop +
			": core-, hdfs-, yarn- and mapred-default.xml, and Configuration's deprecated keys; Hive " + hive +
			": org.apache.hadoop.hive.conf.HiveConf.ConfVars; sensitive: hadoop.security.sensitive-config-keys and spark.redaction.regex",
		Refresh: "make facts",
	}
	if out.Date, err = newest(a.hiveJar, filepath.Join(a.spark, "spark-core_2.12-"+applications.Spark+".jar"),
		filepath.Join(a.spark, "hadoop-client-api-"+applications.Hadoop+".jar")); err != nil {
		return nil, err
	}
	names, err := a.ask(ctx, folder)
	if err != nil {
		return nil, err
	}
	if out.Classifications, out.Sensitive, err = classify(names); err != nil {
		return nil, err
	}
	return render(out)
}

// fetchHive copies the jar with HiveConf from Maven Central, or from Maven's cache.
func fetchHive(ctx context.Context, folder string) (string, error) {
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "dependency:copy", "-Dartifact=org.apache.hive:hive-common:"+hive,
		"-DoutputDirectory="+folder)
	if output, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch Hive %s: %w\n%s", hive, err, output)
	}
	return filepath.Join(folder, "hive-common-"+hive+".jar"), nil
}

// ask runs Names.java, once for each folder of downloads.
func (a installed) ask(ctx context.Context, folder string) ([]byte, error) {
	answer := filepath.Join(folder, "names.tsv")
	if names, err := os.ReadFile(answer); err == nil {
		return names, nil
	}
	program := filepath.Join(folder, "Names.java")
	if err := os.WriteFile(program, namesJava, 0o600); err != nil {
		return nil, fmt.Errorf("write Names.java: %w", err)
	}
	path := strings.Join([]string{a.hiveJar, filepath.Join(a.spark, "*"), filepath.Join(a.hadoop, "*")}, string(os.PathListSeparator))
	java := exec.CommandContext(ctx, "java", "-cp", path, program, a.spark)
	java.Dir = folder
	var said bytes.Buffer
	java.Stderr = &said
	names, err := java.Output()
	if err != nil {
		return nil, fmt.Errorf("ask the applications for their properties: %w\n%s", err, said.Bytes())
	}
	if err := os.WriteFile(answer, names, 0o600); err != nil {
		return nil, fmt.Errorf("keep the applications' answer: %w", err)
	}
	return names, nil
}

// classify groups the lines of Names.java by classification, and returns those of
// sensitive names. Deprecated names belong to all of Hadoop's files.
func classify(lines []byte) (out []facts.Classification, sensitive []string, err error) {
	byName := map[string][]string{}
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	for scanner.Scan() {
		classification, property, found := strings.Cut(scanner.Text(), "\t")
		if !found {
			return nil, nil, fmt.Errorf("read the applications' properties: no tab in %q", scanner.Text())
		}
		byName[classification] = append(byName[classification], property)
	}
	if err := scanner.Err(); err != nil {
		return nil, nil, fmt.Errorf("read the applications' properties: %w", err)
	}
	deprecated, sensitive := byName["deprecated"], byName[lineSensitive]
	for _, other := range []string{"deprecated", lineSensitive, lineSetting} {
		delete(byName, other)
	}
	for name, properties := range byName {
		if name != "spark-defaults" && name != "hive-site" {
			properties = append(properties, deprecated...)
		}
		slices.Sort(properties)
		out = append(out, facts.Classification{Name: name, Properties: slices.Compact(properties)})
	}
	slices.SortFunc(out, func(a, b facts.Classification) int { return strings.Compare(a.Name, b.Name) })
	return out, sensitive, nil
}

// newest returns the newest date in some jars.
func newest(jars ...string) (string, error) {
	var last time.Time
	for _, jar := range jars {
		files, err := zip.OpenReader(jar)
		if err != nil {
			return "", fmt.Errorf("open %s: %w", jar, err)
		}
		for _, f := range files.File {
			if f.Modified.After(last) {
				last = f.Modified
			}
		}
		if err := files.Close(); err != nil {
			return "", errors.Join(fmt.Errorf("close %s", jar), err)
		}
	}
	return last.UTC().Format(time.DateOnly), nil
}
