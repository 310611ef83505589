package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Lines of Names.java that name no property of a classification.
const (
	lineSetting   = "setting"
	lineSensitive = "sensitive"
)

// refreshSettings renders sparksettings.json from what Spark's own converters do.
func refreshSettings(ctx context.Context, folder string) ([]byte, error) {
	a, err := findApplications(ctx, folder)
	if err != nil {
		return nil, err
	}
	out := facts.SparkSettings{
		Source:  "Spark " + applications.Spark + ": org.apache.spark.internal.config.ConfigEntry's registry, whose converters read sample values",
		Refresh: "make facts",
	}
	if out.Date, err = newest(filepath.Join(a.spark, "spark-core_2.12-"+applications.Spark+".jar")); err != nil {
		return nil, err
	}
	lines, err := a.ask(ctx, folder)
	if err != nil {
		return nil, err
	}
	if out.Settings, err = readSettings(lines); err != nil {
		return nil, err
	}
	return render(out)
}

// readSettings reads the lines of Names.java that describe a setting.
func readSettings(lines []byte) ([]facts.SparkSetting, error) {
	var out []facts.SparkSetting
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	for scanner.Scan() {
		kind, rest, _ := strings.Cut(scanner.Text(), "\t")
		if kind != lineSetting {
			continue
		}
		const fields = 7
		f := strings.Split(rest, "\t")
		if len(f) != fields {
			return nil, fmt.Errorf("read Spark's settings: %d fields and not %d in %q", len(f), fields, rest)
		}
		out = append(out, facts.SparkSetting{
			Name: f[0], Type: f[1], Unit: f[2], Min: f[3], Max: f[4], Values: strings.Fields(f[5]), AnyCase: f[6] != "",
		})
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read Spark's settings: %w", err)
	}
	slices.SortFunc(out, func(a, b facts.SparkSetting) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b facts.SparkSetting) bool { return a.Name == b.Name }), nil
}
