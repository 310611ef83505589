package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Read gives the outputs of another stack to a program. It waits for the
// stack reference. A missing, renamed or mistyped output is an error that
// names it; all of them are told at once.
func Read(_ *pulumi.Context, stack *pulumi.StackReference) (Outputs, error) {
	details, err := stack.GetOutputDetails(Observatory)
	if err != nil {
		return Outputs{}, fmt.Errorf("read stack output %s: %w", Observatory, err)
	}
	if details.SecretValue != nil {
		return Outputs{}, fmt.Errorf("read stack output %s: it is a secret, which the contract does not have it be", Observatory)
	}
	return decode(details.Value)
}

// ReadSecret gives one of the secret outputs, Kubeconfig or GrafanaPassword,
// and keeps it secret in the state of the program that reads it.
func ReadSecret(stack *pulumi.StackReference, name string) (pulumi.StringOutput, error) {
	details, err := stack.GetOutputDetails(name)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("read stack output %s: %w", name, err)
	}
	text, ok := details.SecretValue.(string)
	if !ok {
		return pulumi.StringOutput{}, fmt.Errorf("read stack output %s: the stack has no such secret; was it updated by this version of the program?", name)
	}
	return pulumi.ToSecret(pulumi.String(text)).(pulumi.StringOutput), nil //nolint:forcetypeassert // ToSecret keeps the type
}

// FromMap decodes a stack's outputs as the Automation API or `pulumi stack
// output --json --show-secrets` gives them: name to plain value.
func FromMap(values map[string]any) (Outputs, Secrets, error) {
	out, err := decode(values[Observatory])
	faults := []error{err}
	text := func(name string) string {
		s, ok := values[name].(string)
		if !ok {
			faults = append(faults, missing(name))
		}
		return s
	}
	secrets := Secrets{Kubeconfig: text(Kubeconfig), GrafanaPassword: text(GrafanaPassword)}
	return out, secrets, errors.Join(faults...)
}

func missing(name string) error {
	return fmt.Errorf("stack output %s is missing: run an update of the stack with this version of the program", name)
}

func decode(object any) (Outputs, error) {
	if object == nil {
		return Outputs{}, missing(Observatory)
	}
	keys, ok := object.(map[string]any)
	if !ok {
		return Outputs{}, fmt.Errorf("stack output %s is a %T, not an object", Observatory, object)
	}
	if v := fmt.Sprint(keys[schemaVersion]); keys[schemaVersion] != nil && v != fmt.Sprint(SchemaVersion) {
		return Outputs{}, fmt.Errorf("stack output %s.%s is %s: this program reads version %d", Observatory, schemaVersion, v, SchemaVersion)
	}
	if faults := absent(Observatory, keys, reflect.TypeFor[Outputs]()); len(faults) > 0 {
		return Outputs{}, errors.Join(faults...)
	}
	var out Outputs
	text, err := json.Marshal(keys)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return Outputs{}, fmt.Errorf("decode stack output %s: %w", Observatory, err)
	}
	return out, nil
}

// absent names each key of t that the object lacks, nested structs included.
func absent(path string, object map[string]any, t reflect.Type) []error {
	var faults []error
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("json")
		value, ok := object[name]
		if !ok || value == nil {
			present := slices.Sorted(maps.Keys(object))
			faults = append(faults, fmt.Errorf("stack output %s.%s is missing; present: %s", path, name, strings.Join(present, ", ")))
			continue
		}
		if nested, isObject := value.(map[string]any); isObject && t.Field(i).Type.Kind() == reflect.Struct {
			faults = append(faults, absent(path+"."+name, nested, t.Field(i).Type)...)
		}
	}
	return faults
}
