package config

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Reference renders docs/reference/config.md.
func Reference() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Configuration

Rendered from package schema; edit the types there and run `+"`make generate`"+`.

Keys of the Pulumi namespace `+"`%s`"+`, set in `+"`Pulumi.<stack>.yaml`"+` or with `+
		"`pulumi config set --path '%s:clusters.main.core.count' 4`"+
		`.
An unknown key, a wrong type or a broken rule stops the program before it registers anything; all violations are reported at once.
An object that is given in part keeps its other defaults; lists and maps replace theirs.

| Key | Type | Default | Meaning | Rule |
|---|---|---|---|---|
`, platform.Project, platform.Project)
	for _, f := range Fields() {
		fallback := ""
		if f.Default != "" {
			fallback = "`" + f.Default + "`"
		}
		if f.Required {
			fallback = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Path, f.Type, fallback, tableCell(f.Help), tableCell(f.Rule))
	}
	return []byte(b.String())
}

func tableCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// ProjectFile renders Pulumi.yaml: every top-level key with type and
// description, so that `pulumi config` and `pulumi up` know them. Objects
// default to {}: their defaults are in package schema alone.
func ProjectFile() ([]byte, error) {
	keys := map[string]any{}
	for _, f := range Fields() {
		if f.Depth > 0 {
			continue
		}
		declared := map[string]any{"type": f.Type, "description": f.Help}
		if entry, isList := strings.CutPrefix(f.Type, "array of "); isList {
			declared["type"], declared["items"] = "array", map[string]any{"type": entry}
		}
		switch {
		case f.Type == "object":
			declared["default"] = map[string]any{}
		case !f.Required:
			var fallback any
			if err := yaml.Unmarshal([]byte(f.Default), &fallback); err != nil {
				return nil, fmt.Errorf("read default of %s: %w", f.Path, err)
			}
			declared["default"] = fallback
		}
		keys[f.Path] = declared
	}
	body, err := yaml.Marshal(map[string]any{"config": keys})
	if err != nil {
		return nil, fmt.Errorf("render Pulumi.yaml: %w", err)
	}
	return fmt.Appendf(nil, `# Rendered from package schema; run `+"`make generate`"+`.
name: %s
runtime: go
description: An EMR Spark platform that explains itself.
requiredPulumiVersion: '%s'
%s`, platform.Project, platform.PulumiVersions(), body), nil
}
