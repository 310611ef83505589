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

// Stack is the observatory's stack as another program sees it.
type Stack struct {
	Outputs

	name      string
	reference *pulumi.StackReference
}

// Refer reads the outputs of the observatory's stack and waits for them. The
// name is that of a stack reference: organization/emr-observatory/dev. All
// missing, renamed or mistyped outputs are reported together, each as a *Violation.
func Refer(ctx *pulumi.Context, name string, opts ...pulumi.ResourceOption) (*Stack, error) {
	reference, err := pulumi.NewStackReference(ctx, name, nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("refer to stack %s: %w", name, err)
	}
	out, err := Read(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("read stack %s: %w", name, err)
	}
	return &Stack{Outputs: out, name: name, reference: reference}, nil
}

// Kubeconfig returns the administrator's kubeconfig of the control node. It stays
// secret in the state of the program that reads it.
func (s *Stack) Kubeconfig() (pulumi.StringOutput, error) { return s.secret(Kubeconfig) }

// GrafanaPassword returns the password of Grafana's user admin. It stays secret in
// the state of the program that reads it.
func (s *Stack) GrafanaPassword() (pulumi.StringOutput, error) { return s.secret(GrafanaPassword) }

// StatusPassword is the password of the status page's user, platform.StatusUser.
// It stays secret in the state of the program that reads it.
func (s *Stack) StatusPassword() (pulumi.StringOutput, error) { return s.secret(StatusPassword) }

// ToolsToken is the bearer token of the tools, which answer agents from the history. It
// stays secret in the state of the program that reads it.
func (s *Stack) ToolsToken() (pulumi.StringOutput, error) { return s.secret(ToolsToken) }

func (s *Stack) secret(name string) (pulumi.StringOutput, error) {
	out, err := ReadSecret(s.reference, name)
	if err != nil {
		return out, fmt.Errorf("read stack %s: %w", s.name, err)
	}
	return out, nil
}

// Read is like Refer, for a stack reference that the program already has.
func Read(_ *pulumi.Context, stack *pulumi.StackReference) (Outputs, error) {
	details, err := stack.GetOutputDetails(Observatory)
	if err != nil {
		return Outputs{}, fmt.Errorf("get output %s: %w", Observatory, err)
	}
	if details.SecretValue != nil {
		return Outputs{}, &Violation{Observatory, "[secret]", "must not be a secret", updateStack}
	}
	return decode(details.Value)
}

// ReadSecret returns one of the secret outputs, such as Kubeconfig, and keeps it
// secret in the state of the program that reads it.
func ReadSecret(stack *pulumi.StackReference, name string) (pulumi.StringOutput, error) {
	details, err := stack.GetOutputDetails(name)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("get output %s: %w", name, err)
	}
	text, ok := details.SecretValue.(string)
	switch {
	case ok:
		return pulumi.ToSecret(pulumi.String(text)).(pulumi.StringOutput), nil
	case details.Value != nil:
		return pulumi.StringOutput{}, &Violation{name, "stored in clear", "must be a secret", updateStack}
	default:
		return pulumi.StringOutput{}, missingOutput(name, nil)
	}
}

// FromMap decodes a stack's outputs as the Automation API or `pulumi stack
// output --json --show-secrets` returns them: name to plain value.
func FromMap(values map[string]any) (Outputs, Secrets, error) {
	out, err := decode(values[Observatory])
	violations := []error{err}
	text := func(name string) string {
		s, ok := values[name].(string)
		if !ok {
			violations = append(violations, missingOutput(name, nil))
		}
		return s
	}
	secrets := Secrets{Kubeconfig: text(Kubeconfig), GrafanaPassword: text(GrafanaPassword), StatusPassword: text(StatusPassword)}
	secrets.ToolsToken, _ = values[ToolsToken].(string) // a stack of an earlier program has it not
	return out, secrets, errors.Join(violations...)
}

// FromObject decodes the versioned object alone, as `pulumi stack output observatory
// --json` prints it. It holds no secret.
func FromObject(object any) (Outputs, error) { return decode(object) }

// Violation is one output that violates the contract.
type Violation struct {
	Output string // observatory.s3Paths.lake
	Found  string // what is there instead
	Rule   string // what the contract requires
	Remedy string
}

// Remedies of a violation.
const (
	updateStack  = "run an update of that stack with the program that this package comes with"
	updateReader = "import stacks/outputs as of that stack's program"
)

// Error formats all fields and the schema version on one line.
func (v *Violation) Error() string {
	return fmt.Sprintf("output %s: %s: %s in schema version %d; %s", v.Output, v.Found, v.Rule, SchemaVersion, v.Remedy)
}

func missingOutput(name string, present []string) *Violation {
	v := &Violation{name, "missing", "must be present", updateStack}
	if len(present) > 0 {
		v.Found += " (present: " + strings.Join(present, ", ") + ")"
	}
	return v
}

// decode checks and converts the versioned object.
func decode(object any) (Outputs, error) {
	if object == nil {
		return Outputs{}, missingOutput(Observatory, nil)
	}
	keys, ok := object.(map[string]any)
	if !ok {
		return Outputs{}, &Violation{Observatory, fmt.Sprintf("a %T", object), "must be an object", updateStack}
	}
	if err := checkVersion(keys[schemaVersion]); err != nil {
		return Outputs{}, err
	}
	if violations := checkKeys(Observatory, keys, reflect.TypeFor[Outputs]()); len(violations) > 0 {
		return Outputs{}, errors.Join(violations...)
	}
	var out Outputs
	text, err := json.Marshal(keys)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return Outputs{}, fmt.Errorf("decode output %s: %w", Observatory, err)
	}
	return out, nil
}

// checkVersion rejects other versions: their keys may have other meanings.
func checkVersion(version any) error {
	if version == nil {
		return nil // reported with the other missing keys
	}
	n, isNumber := version.(float64)
	if i, isInt := version.(int); isInt {
		n, isNumber = float64(i), true
	}
	at := Observatory + "." + schemaVersion
	switch {
	case !isNumber:
		return &Violation{at, fmt.Sprintf("a %T", version), "must be a number", updateStack}
	case n < SchemaVersion:
		return &Violation{at, fmt.Sprint(n), fmt.Sprintf("must be %d", SchemaVersion), updateStack}
	case n > SchemaVersion:
		return &Violation{at, fmt.Sprint(n), fmt.Sprintf("must be %d", SchemaVersion), updateReader}
	}
	return nil
}

// checkKeys reports each key of t that the object lacks or holds as another type,
// including those of nested structs.
func checkKeys(path string, object map[string]any, t reflect.Type) []error {
	var violations []error
	for i := range t.NumField() {
		field, name := t.Field(i).Type, t.Field(i).Tag.Get("json")
		at, value := path+"."+name, object[name]
		if value == nil && t.Field(i).Tag.Get("optional") != "" {
			continue // a stack of an earlier program has it not
		}
		if value == nil {
			violations = append(violations, missingOutput(at, slices.Sorted(maps.Keys(object))))
			continue
		}
		if nested, isObject := value.(map[string]any); isObject && field.Kind() == reflect.Struct {
			violations = append(violations, checkKeys(at, nested, field)...)
			continue
		} else if isObject && field.Kind() == reflect.Map && field.Elem().Kind() == reflect.Struct {
			violations = append(violations, checkEntries(at, nested, field.Elem())...)
			continue
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, reflect.New(field).Interface())
		}
		if err != nil {
			violations = append(violations, &Violation{at, "of another type", "must be " + typeName(field), updateStack})
		}
	}
	return violations
}

// checkEntries does the same for each entry of a map.
func checkEntries(path string, object map[string]any, t reflect.Type) []error {
	var violations []error
	for _, name := range slices.Sorted(maps.Keys(object)) {
		entry, isObject := object[name].(map[string]any)
		if !isObject {
			violations = append(violations, &Violation{path + "." + name, "of another type", "must be " + typeName(t), updateStack})
			continue
		}
		violations = append(violations, checkKeys(path+"."+name, entry, t)...)
	}
	return violations
}

// Running returns the keys of the clusters that the update starts, in their order.
func (o Outputs) Running() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.Clusters)), func(key string) bool { return o.Clusters[key].ID == "" })
}

// FindCluster returns the cluster with a key, EMR's name or an id. An empty name is
// that of the only cluster.
func (o Outputs) FindCluster(name string) (Cluster, error) {
	keys := o.Running()
	for key, c := range o.Clusters {
		if c.ID == "" && (name == key || name == c.Name || name == "" && len(keys) == 0) {
			return Cluster{}, fmt.Errorf("cluster: %q: must be a cluster that runs: each run of its schedules starts one of %s; "+
				"give the id (j-…) of one that runs", name, key)
		}
	}
	for _, key := range keys {
		c := o.Clusters[key]
		if slices.Contains([]string{key, c.Name, c.ID}, name) || name == "" && len(keys) == 1 {
			return c, nil
		}
	}
	const remedy = "name one of them, or a cluster id (j-…)"
	if len(keys) == 0 {
		return Cluster{}, fmt.Errorf("cluster: %q: the stack has no cluster of its own; give the id (j-…) of an observed one", name)
	}
	return Cluster{}, fmt.Errorf("cluster: %q: must be a cluster of the stack, which has %s; %s", name, strings.Join(keys, ", "), remedy)
}
