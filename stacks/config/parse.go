package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumiconfig "github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Load reads and validates the stack's configuration. A key that is marked
// secret is refused: none of them is one, and all end up in clear state.
func Load(ctx *pulumi.Context) (Config, error) {
	values := map[string]string{}
	var faults []error
	source := pulumiconfig.New(ctx, platform.Project)
	for _, name := range names(ctx) {
		value, err := source.Try(name)
		switch {
		case errors.Is(err, pulumiconfig.ErrMissingVar):
		case err != nil:
			faults = append(faults, fmt.Errorf("read %s:%s: %w", platform.Project, name, err))
		case ctx.IsConfigSecret(platform.Project + ":" + name):
			faults = append(faults, secretKey(name))
		default:
			values[name] = value
		}
	}
	cfg, err := Parse(values)
	return cfg, errors.Join(append(faults, err)...)
}

// names lists the known keys and, where the engine hands the configuration
// over in the environment, unknown ones of the namespace too, so that a
// misspelt key is a fault and not a silent default.
func names(ctx *pulumi.Context) []string {
	set := map[string]bool{}
	for _, f := range Fields() {
		if f.Depth == 0 {
			set[f.Path] = true
		}
	}
	var given map[string]string
	if err := json.Unmarshal([]byte(os.Getenv(pulumi.EnvConfig)), &given); err == nil {
		for k := range given {
			name, ours := strings.CutPrefix(k, platform.Project+":")
			if _, present := ctx.GetConfig(k); ours && present {
				set[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// CheckKeys names each full key ("emr-observatory:emr") of the namespace that
// is not known. It is for callers that run the program inline, where the
// engine tells a program only about keys that it asks for.
func CheckKeys(keys []string) error {
	known := keysOf(reflect.TypeFor[Config]())
	var faults []error
	for _, k := range keys {
		if name, ours := strings.CutPrefix(k, platform.Project+":"); ours && !slices.Contains(known, name) {
			faults = append(faults, unknownKey(name, known))
		}
	}
	return errors.Join(faults...)
}

func unknownKey(path string, known []string) Fault {
	return Fault{path, "(unknown)", "is not a key of this configuration", "known here: " + strings.Join(known, ", ")}
}

// Parse decodes the values of the namespace's keys over Defaults and
// validates the result. Strings stand bare, everything else is JSON, as
// Pulumi hands them over. Unknown keys and wrong types are faults; all faults
// of decoding and validation come in one joined error.
func Parse(values map[string]string) (Config, error) {
	cfg := Defaults()
	d := &decoder{}
	root := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, ok := d.raw(name, values[name])
		if ok {
			root[name] = value
		}
	}
	d.decode("", root, reflect.ValueOf(&cfg).Elem())
	return cfg, errors.Join(append(d.faults, cfg.validate(d.broken)...)...)
}

type decoder struct {
	faults []error
	broken []string // paths whose value could not be read; validation leaves them alone
}

func (d *decoder) fault(path string, value any, rule, remedy string) {
	d.faults = append(d.faults, Fault{path, show(value), rule, remedy})
	d.broken = append(d.broken, path)
}

// raw turns the text of a top-level key into a JSON value.
func (d *decoder) raw(name, text string) (any, bool) {
	sf, known := fieldNamed(reflect.TypeFor[Config](), name)
	if !known || sf.Type.Kind() == reflect.String {
		return text, true
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	if err == nil && dec.Decode(new(any)) != io.EOF {
		err = errors.New("more than one value")
	}
	if err != nil {
		d.fault(name, text, "must be "+article(typeName(sf.Type)), setRemedy(name))
		return nil, false
	}
	return value, true
}

func (d *decoder) decode(path string, from any, into reflect.Value) {
	switch into.Kind() {
	case reflect.Pointer:
		if from == nil {
			return
		}
		entry, _ := entryOf(into.Type())
		into.Set(reflect.New(into.Type().Elem()))
		into.Elem().Set(entry)
		d.decode(path, from, into.Elem())
	case reflect.Struct:
		d.object(path, from, into)
	case reflect.Map:
		d.stringMap(path, from, into)
	case reflect.Slice:
		d.list(path, from, into)
	default:
		d.scalar(path, from, into)
	}
}

func (d *decoder) object(path string, from any, into reflect.Value) {
	object, ok := from.(map[string]any)
	if !ok {
		d.wrongType(path, from, into.Type())
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		sf, known := fieldNamed(into.Type(), name)
		if !known {
			d.faults = append(d.faults, unknownKey(at, keysOf(into.Type())))
			continue
		}
		d.decode(at, object[name], into.FieldByIndex(sf.Index))
	}
}

func (d *decoder) stringMap(path string, from any, into reflect.Value) {
	object, ok := from.(map[string]any)
	if !ok {
		d.wrongType(path, from, into.Type())
		return
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, ok := object[name].(string)
		if !ok {
			d.fault(path+"."+name, object[name], "must be a string", "write it in quotes")
			continue
		}
		out[name] = text
	}
	into.Set(reflect.ValueOf(out))
}

func (d *decoder) list(path string, from any, into reflect.Value) {
	entries, ok := from.([]any)
	if !ok {
		d.wrongType(path, from, into.Type())
		return
	}
	out := reflect.MakeSlice(into.Type(), len(entries), len(entries))
	for i, e := range entries {
		if entry, ok := entryOf(into.Type()); ok {
			out.Index(i).Set(entry)
		}
		d.decode(fmt.Sprintf("%s[%d]", path, i), e, out.Index(i))
	}
	into.Set(out)
}

func (d *decoder) scalar(path string, from any, into reflect.Value) {
	switch value := from.(type) {
	case string:
		if into.Kind() == reflect.String {
			into.SetString(value)
			return
		}
	case bool:
		if into.Kind() == reflect.Bool {
			into.SetBool(value)
			return
		}
	case json.Number:
		if n, err := value.Int64(); err == nil && into.Kind() == reflect.Int {
			into.SetInt(n)
			return
		}
	}
	d.wrongType(path, from, into.Type())
}

func (d *decoder) wrongType(path string, from any, want reflect.Type) {
	d.fault(path, from, "must be "+article(typeName(want)), setRemedy(path))
}

func article(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if key(t.Field(i)) == name {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		out = append(out, key(t.Field(i)))
	}
	return out
}
