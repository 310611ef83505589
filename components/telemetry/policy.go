package telemetry

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// createNodePolicy creates the policy that lets the nodes of any cluster fetch what
// the bootstrap action installs, and the action itself. Those who start a cluster
// attach it to the role of its instances: the role of the stack's own clusters would
// give them the lake too.
func (b *builder) createNodePolicy(args *Args) (*iam.Policy, error) {
	policy, err := iam.NewPolicy(b.Ctx, b.Name("observed-nodes"), &iam.PolicyArgs{
		Path:        iampolicy.Path(args.Identity),
		Description: pulumi.String("Nodes of EMR clusters that the observatory observes: read what its bootstrap action installs"),
		Policy: iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
			return nodePolicy(a, args.Region, v[0], v[1])
		}, args.BucketARN, args.KMSKeyARN),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create policy of observed nodes: %w", err)
	}
	return policy, nil
}

func nodePolicy(a iampolicy.Account, region, bucketARN, keyARN string) iampolicy.Document {
	return iampolicy.New(
		iampolicy.Statement{Sid: "ReadArtifacts", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"},
			Resource: []string{bucketARN + "/" + string(platform.PrefixArtifacts) + "*"}},
		// Only through S3: the same key encrypts the certificate authorities of K3s in Systems Manager.
		iampolicy.Statement{Sid: "DecryptArtifacts", Effect: iampolicy.Allow, Action: []string{"kms:Decrypt"}, Resource: []string{keyARN},
			Condition: iampolicy.Condition{"StringEquals": {"kms:ViaService": {a.Service("s3", region)}}}},
	)
}
