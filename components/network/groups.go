package network

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/securitygroup"
	"github.com/emr-observatory/emr-observatory/platform"
)

func (b *builder) createSecurityGroups(v vpcInfo) (map[string]*securitygroup.Group, error) {
	endpoints := len(b.args.InterfaceEndpoints) > 0
	senders := map[string]pulumi.StringInput{}
	for _, id := range b.args.Senders {
		senders[id] = pulumi.String(id)
	}
	return securitygroup.Create(b.Builder, securitygroup.Groups{
		VPCID: v.vpcID, S3PrefixList: v.s3PrefixList, Descriptions: groupDescriptions(endpoints),
		// EMR's managed policy may use only groups with this tag.
		Tags:  map[string]pulumi.StringInput{platform.EMRManagedPolicyTag: pulumi.String("true")},
		Rules: rules(b.args, endpoints), Others: senders,
	})
}
