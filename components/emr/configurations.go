package emr

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// withBucket puts the data bucket's name in the places of schema.DataBucket. What has none
// is known in every preview, and nil if it is "".
func (a *Args) withBucket(configurations string) pulumi.StringPtrInput {
	if !strings.Contains(configurations, schema.DataBucket) {
		return nonEmpty(configurations)
	}
	return output.Map(a.Bucket, func(bucket string) (string, error) {
		return strings.ReplaceAll(configurations, schema.DataBucket, bucket), nil
	}).ToStringPtrOutput()
}

// ConfigurationsJSON renders the cluster's configuration list: the same
// arguments give the same bytes. It is "" if there is nothing to configure.
func (a *Args) ConfigurationsJSON() (string, error) {
	list := observe.ConfigurationsOf(a.Cluster, a.SamplingRatio)
	if len(list) == 0 {
		return "", nil
	}
	text, err := observe.Render(list)
	if err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return text, nil
}
