package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	pulumiconfig "github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/emr-observatory/emr-observatory/platform"
)

// StackFile is Pulumi.<stack>.yaml as the engine hands it to a program that it
// starts itself.
type StackFile struct {
	Path         string
	Values       map[string]string // by full key; strings stand bare, everything else is JSON
	Environments []string          // ESC environments, which this package does not open
}

// ReadStackFile reads the file of a stack below dir and checks it as Load
// would, unknown keys included, which Load cannot see when the program runs
// inline. All faults come in one joined error that names the file. Values that
// only an ESC environment holds are not seen. Overrides are entries that go
// over the file's: key=value, with a dot between levels.
func ReadStackFile(dir, stack string, overrides ...string) (StackFile, Config, error) {
	f := StackFile{Path: filepath.Join(dir, "Pulumi."+stack+".yaml"), Values: map[string]string{}}
	if _, err := os.Stat(f.Path); err != nil {
		return f, Config{}, fmt.Errorf("read stack %s: %w; the stacks here are %s", stack, err, strings.Join(stacksOf(dir), ", "))
	}
	project, err := workspace.LoadProject(filepath.Join(dir, "Pulumi.yaml"))
	if err != nil {
		return f, Config{}, fmt.Errorf("read project: %w", err)
	}
	sink := diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never})
	file, err := workspace.LoadProjectStack(sink, project, f.Path)
	if err != nil {
		return f, Config{}, fmt.Errorf("read stack %s: %w", stack, err)
	}
	if file.Environment != nil {
		f.Environments = file.Environment.Imports()
	}
	faults := override(file.Config, overrides)
	values := map[string]string{}
	keys := make([]string, 0, len(file.Config))
	for key, value := range file.Config {
		full := key.Namespace() + ":" + key.Name()
		keys = append(keys, full)
		if value.Secure() {
			if key.Namespace() == platform.Project {
				faults = append(faults, secretKey(key.Name()))
			}
			continue
		}
		text, err := value.Value(pulumiconfig.NopDecrypter)
		if err != nil {
			faults = append(faults, fmt.Errorf("read %s: %w", full, err))
			continue
		}
		f.Values[full] = text
		if key.Namespace() == platform.Project && slices.Contains(keysOf(reflect.TypeFor[Config]()), key.Name()) {
			values[key.Name()] = text // CheckKeys tells the others
		}
	}
	cfg, err := Parse(values)
	if err := errors.Join(append(faults, CheckKeys(keys), err)...); err != nil {
		return f, cfg, fmt.Errorf("%s:\n%w", f.Path, err)
	}
	return f, cfg, nil
}

// override sets entries as `pulumi config set`, with --path where there is a
// dot, would.
func override(values pulumiconfig.Map, entries []string) []error {
	var faults []error
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, "=")
		key, err := pulumiconfig.ParseKey(platform.Project + ":" + name)
		if ok && err == nil {
			err = values.Set(key, pulumiconfig.NewValue(value), strings.Contains(name, "."))
		}
		if !ok || err != nil {
			faults = append(faults, Fault{name, show(entry), "must be key=value", "write it as emr.core.count=3"})
		}
	}
	return faults
}

// secretKey refuses a secret: no key is one, and all end up in clear state.
func secretKey(name string) Fault {
	return Fault{name, "[secret]", "must not be a secret: it is stored in clear", "set it again without --secret"}
}

func stacksOf(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "Pulumi.*.yaml")) //nolint:errcheck // the pattern is well-formed
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "Pulumi."), ".yaml"))
	}
	return out
}
