// Package child gives the resources inside a component their name, parent and
// Name tag, in the same way for every component. Names are public: they are part
// of each resource's URN, and a change replaces the resource.
package child

import (
	"fmt"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// TagName is the tag that AWS's console shows as a resource's name.
const TagName = "Name"

// Builder is embedded by a component's own builder.
type Builder struct {
	Ctx    *pulumi.Context
	Parent pulumi.Resource

	base        string
	deletedWith pulumi.Resource
}

// Register registers a component and returns the builder of its children. Of opts, only
// DeletedWith is passed on to them.
func Register(ctx *pulumi.Context, component pulumi.ComponentResource, token, name string, inputs pulumi.Map,
	opts ...pulumi.ResourceOption) (Builder, error) {
	if err := ctx.RegisterComponentResourceV2(token, name, inputs, component, opts...); err != nil {
		return Builder{}, fmt.Errorf("register %s %s: %w", token, name, err)
	}
	parsed, err := pulumi.NewResourceOptions(opts...)
	if err != nil {
		return Builder{}, fmt.Errorf("read resource options of %s: %w", name, err)
	}
	return Builder{Ctx: ctx, Parent: component, base: name, deletedWith: parsed.DeletedWith}, nil
}

// RegisterOutputs registers the outputs of the component: its fields with a tag pulumi.
func (b Builder) RegisterOutputs() error {
	outputs := pulumi.Map{}
	component := reflect.ValueOf(b.Parent).Elem()
	for i := range component.NumField() {
		if name, tagged := component.Type().Field(i).Tag.Lookup("pulumi"); tagged {
			value, ok := component.Field(i).Interface().(pulumi.Output)
			if !ok {
				return fmt.Errorf("register outputs of %s: %s is no output", b.base, name)
			}
			outputs[name] = value
		}
	}
	if err := b.Ctx.RegisterResourceOutputs(b.Parent, outputs); err != nil {
		return fmt.Errorf("register outputs of %s: %w", b.base, err)
	}
	return nil
}

// Name is the logical name of the child in a role.
func (b Builder) Name(role string) string { return NameOf(b.base, role) }

// NameOf is the logical name of the child in a role of the component named base.
func NameOf(base, role string) string { return base + "-" + role }

// Base returns the component's own logical name.
func (b Builder) Base() string { return b.base }

// Options returns the resource options of a child, as a new slice.
func (b Builder) Options(extra ...pulumi.ResourceOption) []pulumi.ResourceOption {
	opts := []pulumi.ResourceOption{pulumi.Parent(b.Parent)}
	if b.deletedWith != nil {
		opts = append(opts, pulumi.DeletedWith(b.deletedWith))
	}
	return append(opts, extra...)
}

// Tags returns the child's own tags: its name. The AWS provider adds the stack's.
func (b Builder) Tags(role string) pulumi.StringMap {
	return pulumi.StringMap{TagName: pulumi.String(b.Name(role))}
}
