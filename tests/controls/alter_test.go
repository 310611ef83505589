package controls_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/tests/controls"
)

// alteration changes recorded resources in place and returns the new list.
type alteration func(t *testing.T, all controls.Resources) controls.Resources

// alter returns an altered copy of recorded resources.
func alter(t *testing.T, all controls.Resources, a alteration) controls.Resources {
	t.Helper()
	copied := make(controls.Resources, len(all))
	for i, r := range all {
		r.Inputs, r.Outputs = clone(r.Inputs).(map[string]any), clone(r.Outputs).(map[string]any)
		copied[i] = r
	}
	return a(t, copied)
}

// clone copies maps and lists deeply.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}

// find returns the resource of this kind and name, which must exist.
func find(t *testing.T, all controls.Resources, kind, name string) *controls.Resource {
	t.Helper()
	for i := range all {
		if all[i].Kind() == kind && all[i].Name == name {
			return &all[i]
		}
	}
	require.Fail(t, "no such resource", "%s %s", kind, name)
	return nil
}

// set sets the input at a path; nil removes it. The path up to its last step must
// exist.
func set(kind, name, path string, value any) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources {
		var parent any = find(t, all, kind, name).Inputs
		steps := strings.Split(path, ".")
		last := steps[len(steps)-1]
		for _, s := range steps[:len(steps)-1] {
			switch p := parent.(type) {
			case map[string]any:
				parent = p[s]
			case []any:
				i, err := strconv.Atoi(s)
				require.NoError(t, err)
				require.Less(t, i, len(p), path)
				parent = p[i]
			}
		}
		switch p := parent.(type) {
		case map[string]any:
			if value == nil {
				require.Contains(t, p, last, path)
				delete(p, last)
				break
			}
			p[last] = value
		case []any:
			i, err := strconv.Atoi(last)
			require.NoError(t, err)
			p[i] = value
		default:
			require.Fail(t, "no such path", path)
		}
		return all
	}
}

// edit replaces the first occurrence of from in a text input, such as a policy.
func edit(kind, name, path, from, to string) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources {
		r := find(t, all, kind, name)
		require.Contains(t, r.Text(path), from, "%s %s", kind, name)
		return set(kind, name, path, strings.Replace(r.Text(path), from, to, 1))(t, all)
	}
}

// drop removes a resource.
func drop(kind, name string) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources {
		token := find(t, all, kind, name).Type
		var out controls.Resources
		for _, r := range all {
			if r.Type != token || r.Name != name {
				out = append(out, r)
			}
		}
		return out
	}
}

// add adds a resource of a type, without outputs.
func add(token, name string, inputs map[string]any) alteration {
	return func(_ *testing.T, all controls.Resources) controls.Resources {
		return append(all, controls.Resource{
			Type: token, Name: name, ID: name + "-id",
			Inputs: inputs, Outputs: map[string]any{}, Secret: map[string]bool{},
		})
	}
}

// both applies two alterations in order.
func both(a, b alteration) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources { return b(t, a(t, all)) }
}
