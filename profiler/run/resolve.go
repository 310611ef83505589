package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// Violation is a value that breaks a rule.
type Violation struct {
	Path   string // where it was given: a flag, a variable or a key of a file
	Value  string
	Rule   string
	Remedy string
}

// Error has all four parts on one line.
func (v Violation) Error() string {
	return fmt.Sprintf("%s: %q %s; %s", v.Path, v.Value, v.Rule, v.Remedy)
}

// Flags are the flags of options on one command.
type Flags struct {
	options []Option
	set     *pflag.FlagSet
	file    *string
}

// AddFlags declares a flag for each option, and --config, which may have other options too.
func AddFlags(set *pflag.FlagSet, options []Option) Flags {
	for _, option := range options {
		doc := option.Doc
		if option.Default == "0" || option.Default == "false" {
			doc += " (default " + option.Default + ")" // pflag takes it for none
		}
		set.Var(&flagValue{value: option.Default, kind: kindOf(option)}, option.Flag(), doc)
		if option.Switch {
			set.Lookup(option.Flag()).NoOptDefVal = "true"
		}
	}
	file := set.String("config", "", "YAML file with options, under the names of their environment variables")
	return Flags{options: options, set: set, file: file}
}

// flagValue is a flag whose value is parsed later, with those of variables and files. Help names
// its kind.
type flagValue struct{ value, kind string }

// String returns the value as it was given.
func (t *flagValue) String() string { return t.value }

// Set takes any value.
func (t *flagValue) Set(value string) error { t.value = value; return nil }

// Type names the kind for help.
func (t *flagValue) Type() string { return t.kind }

// kindOf says what an option holds. Their names end with the unit, if they have one.
func kindOf(option Option) string {
	_, numberErr := strconv.Atoi(option.Default)
	unit := option.Flag()[strings.LastIndex(option.Flag(), "-")+1:]
	switch {
	case option.Switch:
		return "bool"
	case slices.Contains([]string{"seconds", "days", "date"}, unit):
		return unit
	case numberErr == nil:
		return "number"
	}
	return "string"
}

// given is a value and where it was given.
type given struct{ value, path string }

// Resolve returns the options: a flag goes before an environment variable, that before
// the file, and that before the default. It reports all violations at once.
func (f Flags) Resolve(lookup func(string) (string, bool)) (Options, error) {
	values := map[string]given{}
	var violations []error
	if *f.file != "" {
		var err error
		if values, violations, err = readFile(*f.file); err != nil {
			return Options{}, err
		}
	}
	for _, option := range f.options {
		if value, ok := lookup(option.Name); ok && value != "" {
			values[option.Name] = given{value, "environment variable " + option.Name}
		}
		if flag := f.set.Lookup(option.Flag()); flag.Changed {
			values[option.Name] = given{flag.Value.String(), "flag --" + option.Flag()}
		}
	}
	var o Options
	for _, option := range f.options {
		from, ok := values[option.Name]
		if !ok {
			from = given{value: option.Default}
		}
		if !option.set(&o, from.value) {
			if option.Hidden {
				from.value = "[hidden]"
			}
			violations = append(violations, Violation{from.path, from.value, option.Rule, remedy(option)})
		}
	}
	violations = append(violations, o.conflicts(values)...)
	if o.Databricks {
		violations = append(violations, o.resolveWorkspace(lookup)...)
	}
	if len(violations) > 0 {
		return Options{}, errors.Join(violations...)
	}
	return o.complete(), nil
}

func remedy(o Option) string {
	if o.Default == "" {
		return "correct it or omit it"
	}
	return "correct it, or omit it to use the default " + o.Default
}

// readFile reads a file of options. Lists may be YAML lists.
func readFile(name string) (map[string]given, []error, error) {
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read the options: %w", err)
	}
	raw := map[string]json.RawMessage{}
	if err := yaml.UnmarshalStrict(body, &raw); err != nil {
		return nil, nil, fmt.Errorf("read the options from %s: %w", name, err)
	}
	values := map[string]given{}
	var violations []error
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		path := name + ": " + key
		all := slices.Concat(Table(), ServeOptions(), ToolOptions(), CatalogOptions())
		if !slices.ContainsFunc(all, func(o Option) bool { return o.Name == key }) {
			violations = append(violations, Violation{
				name, key, "is not the name of an option", "the names are those of the flags, with _ in place of -",
			})
			continue
		}
		values[key] = given{textOf(raw[key]), path}
	}
	return values, violations, nil
}

// textOf writes a YAML value as a flag would have it.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil { // null becomes ""
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ",")
	}
	return string(raw)
}

// conflicts are violations of rules about several options.
func (o Options) conflicts(values map[string]given) []error {
	var found []error
	report := func(name, rule, remedy string) {
		found = append(found, Violation{values[name].path, values[name].value, rule, remedy})
	}
	var sources []string
	for _, name := range []string{"history_server", "emr_cluster_arn", "logs", "databricks"} {
		if values[name].value != "" && (name != "databricks" || o.Databricks) {
			sources = append(sources, name)
		}
	}
	if n := len(sources); n > 1 {
		report(sources[n-1], "cannot be combined with "+strings.Join(sources[:n-1], " and "), "give one source")
	}
	if o.Databricks {
		const rule, remedy = "cannot be combined with databricks: it selects EMR clusters", "omit it"
		if len(o.States) > 0 {
			report("cluster_states", rule, remedy)
		}
		if len(o.Tags) > 0 {
			report("cluster_tags", rule, remedy)
		}
	} else if o.WorkspaceFile != "" {
		report("databricks_file", "does nothing without databricks", "set databricks, or omit it")
	}
	if o.Environment == prod && o.S3OutputPath == "" {
		found = append(found, Violation{"s3_output_path", "", "must be set in environment prod", "set it to s3://bucket/prefix/"})
	}
	if o.Output != "" && o.S3OutputPath != "" {
		report("output", "cannot be combined with s3_output_path", "omit one")
	}
	if !o.CreatedAfter.IsZero() && !o.CreatedBefore.IsZero() && !o.CreatedAfter.Before(o.CreatedBefore) {
		report("created_after_date", "must be before created_before_date ("+values["created_before_date"].value+")", "set an earlier date")
	}
	if arn, err := source.ParseClusterARN(o.ClusterARN); err == nil && o.Region != "" && arn.Region != o.Region {
		report("aws_region", "must be the region of emr_cluster_arn ("+arn.Region+")", "omit it")
	}
	return found
}

// complete fills in what follows from other options.
func (o Options) complete() Options {
	if arn, err := source.ParseClusterARN(o.ClusterARN); err == nil {
		o.Region = arn.Region
	}
	if o.S3OutputPath == "" && o.Output == "" {
		o.Output = "history"
	}
	return o
}
