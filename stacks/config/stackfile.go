package config

import (
	"context"
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
// only an ESC environment holds are not seen, and secrets stay sealed. Overrides
// replace the file's entries: key=value, with a dot between levels and [0] for the
// first entry of a list.
func ReadStackFile(dir, stack string, overrides ...string) (StackFile, schema.Config, error) {
	f := StackFile{Path: filepath.Join(dir, "Pulumi."+stack+".yaml"), Values: map[string]string{}}
	if _, err := os.Stat(f.Path); err != nil {
		return f, schema.Config{}, fmt.Errorf("read stack %s: %w; the stacks here are %s", stack, err, strings.Join(StackNames(dir), ", "))
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
	values, sealed := f.readValues(&l, file.Config)
	rejectUnknownKeys(&l, f.Values)
	cfg, err := parse(values, &l, keepSecrets(sealed))
	if err != nil {
		return f, cfg, fmt.Errorf("%s:\n%w", f.Path, err)
	}
	return f, cfg, nil
}

// readValues sets f.Values and returns the values of the namespace by bare key. sealed
// says that the secret section is among them.
func (f *StackFile) readValues(l *violation.List, file pulumiconfig.Map) (values map[string]string, sealed bool) {
	values = map[string]string{}
	for key, value := range file {
		ours := key.Namespace() == platform.Project
		full := key.Namespace() + ":" + key.Name()
		decrypter := pulumiconfig.NopDecrypter
		switch {
		case !value.Secure():
		case ours && key.Name() == secretSection:
			sealed, decrypter = true, sealer{}
		case ours:
			refuseSecret(l, key.Name())
			continue
		default:
			continue
		}
		text, err := value.Value(decrypter)
		if err != nil {
			l.Add(fmt.Errorf("read %s: %w", full, err))
			continue
		}
		f.Values[full] = text
		if ours && slices.Contains(rootKeys(), key.Name()) {
			values[key.Name()] = text // rejectUnknownKeys reports the others
		}
	}
	return values, sealed
}

// sealer shows every secret of a file as schema.Sealed.
type sealer struct{}

// DecryptValue implements config.Decrypter.
func (sealer) DecryptValue(context.Context, string) (string, error) { return sealedText, nil }

// BatchDecrypt implements config.Decrypter.
func (sealer) BatchDecrypt(_ context.Context, ciphertexts []string) ([]string, error) {
	return slices.Repeat([]string{sealedText}, len(ciphertexts)), nil
}

const sealedText = string(schema.Sealed)

// override sets entries as `pulumi config set`, with --path where there is a
// dot or an index, would.
func override(l *violation.List, values pulumiconfig.Map, entries []string) {
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, "=")
		key, err := pulumiconfig.ParseKey(namespace + name)
		if ok && err == nil {
			err = values.Set(key, pulumiconfig.NewValue(value), strings.ContainsAny(name, ".["))
		}
		l.Require(ok && err == nil, name, entry, "must be key=value", "write it as clusters.main.core.count=3")
	}
}

// StackNames lists the stacks that a project's folder has files of.
func StackNames(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "Pulumi.*.yaml"))
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "Pulumi."), ".yaml"))
	}
	return out
}
