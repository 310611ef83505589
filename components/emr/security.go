package emr

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/observe"
)

// createSecurityConfiguration creates the security configuration. It is
// immutable: an edit creates another under a new name and replaces the cluster.
func (b *builder) createSecurityConfiguration() (*emr.SecurityConfiguration, error) {
	document := output.Map(b.args.KMSKeyARN, func(arn string) (string, error) {
		return observe.SecurityConfigurationOf(b.args.Cluster, arn)
	})
	s, err := emr.NewSecurityConfiguration(b.Ctx, b.Name("security"), &emr.SecurityConfigurationArgs{Configuration: document}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create security configuration: %w", err)
	}
	return s, nil
}
