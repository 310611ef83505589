// Package output has typed versions of the Pulumi SDK's functions for string
// outputs. The SDK's own (ApplyT, ToSecret and others) return an interface whose
// dynamic type depends on the arguments.
package output

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Map applies f to a string.
func Map(in pulumi.StringInput, f func(string) (string, error)) pulumi.StringOutput {
	return text(in.ToStringOutput().ApplyT(f))
}

// Optional applies f to a string; nil is no value.
func Optional(in pulumi.StringInput, f func(string) *string) pulumi.StringPtrOutput {
	out, _ := in.ToStringOutput().ApplyT(f).(pulumi.StringPtrOutput)
	return out
}

// Join applies f to several strings, in their order.
func Join(in []pulumi.StringInput, f func([]string) (string, error)) pulumi.StringOutput {
	return text(all(in).ApplyT(func(resolved []any) (string, error) {
		plain, err := plainStrings(resolved)
		if err != nil {
			return "", err
		}
		return f(plain)
	}))
}

// JoinLists applies f to several strings and lists of them, in their order.
func JoinLists(in []pulumi.StringInput, lists []pulumi.StringArrayInput, f func([]string, [][]string) (string, error)) pulumi.StringOutput {
	values := []any{all(in)}
	for _, v := range lists {
		values = append(values, v)
	}
	return text(pulumi.All(values...).ApplyT(func(resolved []any) (string, error) {
		first, _ := resolved[0].([]any)
		plain, err := plainStrings(first)
		if err != nil {
			return "", err
		}
		plainLists := make([][]string, len(lists))
		for i, r := range resolved[1:] {
			of, is := r.([]string)
			if !is {
				return "", fmt.Errorf("join outputs: list %d is %T, not a list of strings", i, r)
			}
			plainLists[i] = of
		}
		return f(plain, plainLists)
	}))
}

// List applies f to several strings, in their order, and returns a list.
func List(in []pulumi.StringInput, f func([]string) []string) pulumi.StringArrayOutput {
	return list(all(in).ApplyT(func(resolved []any) ([]string, error) {
		plain, err := plainStrings(resolved)
		if err != nil {
			return nil, err
		}
		return f(plain), nil
	}))
}

// Strings applies f to a list of strings.
func Strings(in pulumi.StringArrayInput, f func([]string) []string) pulumi.StringArrayOutput {
	return list(in.ToStringArrayOutput().ApplyT(f))
}

func all(in []pulumi.StringInput) pulumi.ArrayOutput {
	values := make([]any, len(in))
	for i, v := range in {
		values[i] = v
	}
	return pulumi.All(values...)
}

func plainStrings(resolved []any) ([]string, error) {
	plain := make([]string, len(resolved))
	for i, r := range resolved {
		s, ok := r.(string)
		if !ok {
			return nil, fmt.Errorf("join outputs: value %d is %T, not a string", i, r)
		}
		plain[i] = s
	}
	return plain, nil
}

// Secret marks a string as secret.
func Secret(s pulumi.StringInput) pulumi.StringOutput { return text(pulumi.ToSecret(s)) }

// Public removes the secret mark from a string that needs none.
func Public(s pulumi.StringOutput) pulumi.StringOutput { return text(pulumi.Unsecret(s)) }

// After returns the string, which resolves only once the resources exist.
func After(ctx context.Context, s pulumi.StringOutput, resources ...pulumi.Resource) pulumi.StringOutput {
	return text(pulumi.OutputWithDependencies(ctx, s, resources...))
}

// text asserts the type of an output, which is of strings in every call.
func text(o pulumi.Output) pulumi.StringOutput {
	s, ok := o.(pulumi.StringOutput)
	if !ok {
		return pulumi.Sprintf("%s", o)
	}
	return s
}

// list asserts the type of an output, which is of lists of strings in every call.
func list(o pulumi.Output) pulumi.StringArrayOutput {
	out, ok := o.(pulumi.StringArrayOutput)
	if !ok {
		panic("ApplyT no longer returns a StringArrayOutput for a function that returns strings")
	}
	return out
}
