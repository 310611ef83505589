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

// refreshProperties renders properties.json from what the applications say themselves.
func refreshProperties(ctx context.Context, folder string) ([]byte, error) {
	tree, err := applications.Fetch(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("find the applications: %w", err)
	}
	hiveJar, err := fetchHive(ctx, folder)
	if err != nil {
		return nil, err
	}
	spark := filepath.Join(tree, "spark", "jars")
	out := facts.Properties{
		Source: "Spark " + applications.Spark + ": org.apache.spark.internal.config.ConfigEntry's registry; Hadoop " + applications.Hadoop +
			": core-, hdfs-, yarn- and mapred-default.xml, and Configuration's deprecated keys; Hive " + hive +
			": org.apache.hadoop.hive.conf.HiveConf.ConfVars",
		Refresh: "make facts",
	}
	if out.Date, err = newest(hiveJar, filepath.Join(spark, "spark-core_2.12-"+applications.Spark+".jar"),
		filepath.Join(spark, "hadoop-client-api-"+applications.Hadoop+".jar")); err != nil {
		return nil, err
	}
	names, err := askApplications(ctx, folder, spark, hiveJar, filepath.Join(tree, "hadoop", "lib"))
	if err != nil {
		return nil, err
	}
	if out.Classifications, err = classify(names); err != nil {
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

// askApplications runs Names.java.
func askApplications(ctx context.Context, folder, spark, hiveJar, hadoop string) ([]byte, error) {
	program := filepath.Join(folder, "Names.java")
	if err := os.WriteFile(program, namesJava, 0o600); err != nil {
		return nil, fmt.Errorf("write Names.java: %w", err)
	}
	path := strings.Join([]string{hiveJar, filepath.Join(spark, "*"), filepath.Join(hadoop, "*")}, string(os.PathListSeparator))
	java := exec.CommandContext(ctx, "java", "-cp", path, program, spark)
	java.Dir = folder
	var said bytes.Buffer
	java.Stderr = &said
	names, err := java.Output()
	if err != nil {
		return nil, fmt.Errorf("ask the applications for their properties: %w\n%s", err, said.Bytes())
	}
	return names, nil
}

// classify groups the lines of Names.java by classification. Deprecated names belong
// to all of Hadoop's files.
func classify(lines []byte) ([]facts.Classification, error) {
	byName := map[string][]string{}
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	for scanner.Scan() {
		classification, property, found := strings.Cut(scanner.Text(), "\t")
		if !found {
			return nil, fmt.Errorf("read the applications' properties: no tab in %q", scanner.Text())
		}
		byName[classification] = append(byName[classification], property)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read the applications' properties: %w", err)
	}
	deprecated := byName["deprecated"]
	delete(byName, "deprecated")
	var out []facts.Classification
	for name, properties := range byName {
		if name != "spark-defaults" && name != "hive-site" {
			properties = append(properties, deprecated...)
		}
		slices.Sort(properties)
		out = append(out, facts.Classification{Name: name, Properties: slices.Compact(properties)})
	}
	slices.SortFunc(out, func(a, b facts.Classification) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
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
