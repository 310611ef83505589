package controls_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/controls"
)

// alteration makes something else of a recorded program.
type alteration func(t *testing.T, all controls.Resources) controls.Resources

// altered applies it to a copy.
func altered(t *testing.T, all controls.Resources, a alteration) controls.Resources {
	t.Helper()
	copied := make(controls.Resources, len(all))
	for i, r := range all {
		r.Inputs, r.Outputs = clone(r.Inputs).(map[string]any), clone(r.Outputs).(map[string]any)
		copied[i] = r
	}
	return a(t, copied)
}

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

// find gives the resource of this kind and name.
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

// set changes an input; nil takes it away. The path but its last step must
// exist.
func set(kind, name, path string, value any) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources {
		var here any = find(t, all, kind, name).Inputs
		steps := strings.Split(path, ".")
		last := steps[len(steps)-1]
		for _, s := range steps[:len(steps)-1] {
			switch at := here.(type) {
			case map[string]any:
				here = at[s]
			case []any:
				i, err := strconv.Atoi(s)
				require.NoError(t, err)
				require.Less(t, i, len(at), path)
				here = at[i]
			}
		}
		switch at := here.(type) {
		case map[string]any:
			if value == nil {
				require.Contains(t, at, last, path)
				delete(at, last)
				break
			}
			at[last] = value
		case []any:
			i, err := strconv.Atoi(last)
			require.NoError(t, err)
			at[i] = value
		default:
			require.Fail(t, "no such path", path)
		}
		return all
	}
}

// edit replaces a piece of a text input, such as a policy.
func edit(kind, name, path, from, to string) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources {
		r := find(t, all, kind, name)
		require.Contains(t, r.Text(path), from, "%s %s", kind, name)
		return set(kind, name, path, strings.Replace(r.Text(path), from, to, 1))(t, all)
	}
}

// drop takes a resource away.
func drop(kind, name string) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources {
		gone := find(t, all, kind, name).Type
		var out controls.Resources
		for _, r := range all {
			if r.Type != gone || r.Name != name {
				out = append(out, r)
			}
		}
		return out
	}
}

// add brings a resource in.
func add(token, name string, inputs map[string]any) alteration {
	return func(_ *testing.T, all controls.Resources) controls.Resources {
		return append(all, controls.Resource{Type: token, Name: name, ID: name + "-id", Inputs: inputs, Outputs: map[string]any{}, Secret: map[string]bool{}})
	}
}

// both applies one after the other.
func both(a, b alteration) alteration {
	return func(t *testing.T, all controls.Resources) controls.Resources { return b(t, a(t, all)) }
}
