// Package child gives the resources inside a component their name, parent and
// Name tag, in the same way for every component. Names are public: they are part
// of each resource's URN, and a change replaces the resource.
package child

import (
	"fmt"

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

// New returns the builder of the children of component, which is named base and
// was registered with opts. Of opts, only DeletedWith is passed on to the
// children.
func New(ctx *pulumi.Context, component pulumi.Resource, base string, opts ...pulumi.ResourceOption) (Builder, error) {
	parsed, err := pulumi.NewResourceOptions(opts...)
	if err != nil {
		return Builder{}, fmt.Errorf("read resource options of %s: %w", base, err)
	}
	return Builder{Ctx: ctx, Parent: component, base: base, deletedWith: parsed.DeletedWith}, nil
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
