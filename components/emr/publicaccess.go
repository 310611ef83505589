package emr

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
)

// BlockPublicAccess makes EMR refuse, in the whole account and region, any cluster
// whose security groups admit public addresses. The setting is the account's, so
// that one resource serves all clusters of a stack, it is made only if asked for, and
// never loosened:
//
//   - Without permitted ranges it is the strictest that there is (EMR API,
//     BlockPublicAccessConfiguration).
//   - Destroying the resource would restore AWS's default, which permits port 22
//     (terraform-provider-aws, block_public_access_configuration.go): it is retained.
//   - Stacks of earlier versions permitted port 22. An edit of that would be a
//     replacement, whose second half is such a destroy: what they set stays.
//   - In those versions it was a child of the stack's only cluster, named base: the
//     alias keeps it.
func BlockPublicAccess(ctx *pulumi.Context, base string, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	before := pulumi.URN(fmt.Sprintf("urn:pulumi:%s::%s::%s::%s", ctx.Stack(), ctx.Project(), TypeToken, base))
	name := child.NameOf(base, "block-public-access")
	block, err := emr.NewBlockPublicAccessConfiguration(ctx, name, &emr.BlockPublicAccessConfigurationArgs{
		BlockPublicSecurityGroupRules: pulumi.Bool(true),
	}, append(opts, pulumi.RetainOnDelete(true), pulumi.IgnoreChanges([]string{"permittedPublicSecurityGroupRuleRanges"}),
		pulumi.Aliases([]pulumi.Alias{{ParentURN: before}}))...)
	if err != nil {
		return nil, fmt.Errorf("block public access: %w", err)
	}
	return block, nil
}
