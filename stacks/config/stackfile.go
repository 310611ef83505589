package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	pulumiconfig "github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// StackFile is Pulumi.<stack>.yaml as the engine passes it to a program that it
// starts itself.
type StackFile struct {
	Path         string
	Values       map[string]string // by full key; strings are bare, everything else is JSON
	Environments []string          // ESC environments, which this package does not open
}

// ReadStackFile reads the file of a stack below dir and checks it as Load
// would, unknown keys included, which Load cannot see when the program runs
// inline. All violations come in one error that names the file. Values that
// only an ESC environment holds are not seen. Overrides replace the file's
// entries: key=value, with a dot between levels.
func ReadStackFile(dir, stack string, overrides ...string) (StackFile, schema.Config, error) {
	f := StackFile{Path: filepath.Join(dir, "Pulumi."+stack+".yaml"), Values: map[string]string{}}
	if _, err := os.Stat(f.Path); err != nil {
		return f, schema.Config{}, fmt.Errorf("read stack %s: %w; the stacks here are %s", stack, err, strings.Join(stackNames(dir), ", "))
	}
	project, err := workspace.LoadProject(filepath.Join(dir, "Pulumi.yaml"))
	if err != nil {
		return f, schema.Config{}, fmt.Errorf("read project: %w", err)
	}
	sink := diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never})
	file, err := workspace.LoadProjectStack(sink, project, f.Path)
	if err != nil {
		return f, schema.Config{}, fmt.Errorf("read stack %s: %w", stack, err)
	}
	if file.Environment != nil {
		f.Environments = file.Environment.Imports()
	}
	l := violation.List{Prefix: namespace}
	override(&l, file.Config, overrides)
	values := map[string]string{}
	keys := make([]string, 0, len(file.Config))
	for key, value := range file.Config {
		ours := key.Namespace() == platform.Project
		full := key.Namespace() + ":" + key.Name()
		keys = append(keys, full)
		if value.Secure() {
			if ours {
				refuseSecret(&l, key.Name())
			}
			continue
		}
		text, err := value.Value(pulumiconfig.NopDecrypter)
		if err != nil {
			l.Add(fmt.Errorf("read %s: %w", full, err))
			continue
		}
		f.Values[full] = text
		if ours && slices.Contains(rootKeys(), key.Name()) {
			values[key.Name()] = text // checkKeys reports the others
		}
	}
	rejectUnknownKeys(&l, keys)
	cfg, err := parse(values, &l)
	if err != nil {
		return f, cfg, fmt.Errorf("%s:\n%w", f.Path, err)
	}
	return f, cfg, nil
}

// override sets entries as `pulumi config set`, with --path where there is a
// dot, would.
func override(l *violation.List, values pulumiconfig.Map, entries []string) {
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, "=")
		key, err := pulumiconfig.ParseKey(namespace + name)
		if ok && err == nil {
			err = values.Set(key, pulumiconfig.NewValue(value), strings.Contains(name, "."))
		}
		l.Require(ok && err == nil, name, entry, "must be key=value", "write it as emr.core.count=3")
	}
}

func stackNames(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "Pulumi.*.yaml"))
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "Pulumi."), ".yaml"))
	}
	return out
}
