package iampolicy

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
)

// Boundary returns the argument permissionsBoundary of every role; nil = none.
func Boundary(i schema.Identity) pulumi.StringPtrInput { return orNil(i.Boundary) }

// Path returns the argument path of every role, instance profile and policy; nil = IAM's
// default.
func Path(i schema.Identity) pulumi.StringPtrInput { return orNil(i.Path) }

// orNil leaves an argument out, so that the state of a stack without it stays as it is.
func orNil(s string) pulumi.StringPtrInput {
	if s == "" {
		return nil
	}
	return pulumi.String(s)
}
