// Command consumer is an example of another team's Pulumi program. It reads the
// observatory's stack, creates a policy for read access to the lake, lets the jobs of
// its clusters read a bucket of this team, and creates a cluster of this team that the
// platform observes.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"

	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

func main() { pulumi.Run(program) }

// program requires the configuration keys observatoryStack (such as
// organization/emr-observatory/dev), region, sourceBucket, a bucket of this team, and
// serviceRole, a role of EMR.
func program(ctx *pulumi.Context) error {
	cfg := config.New(ctx, "")
	name, err := cfg.Try("observatoryStack")
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	region, err := cfg.Try("region")
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	source, err := cfg.Try("sourceBucket")
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	observatory, err := outputs.Refer(ctx, name)
	if err != nil {
		return err
	}
	serviceRole, err := cfg.Try("serviceRole")
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	provider, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String(region)})
	if err != nil {
		return fmt.Errorf("create provider: %w", err)
	}
	document, err := lakeReaderPolicy(observatory.Outputs)
	if err != nil {
		return err
	}
	policy, err := iam.NewPolicy(ctx, "lake-reader", &iam.PolicyArgs{Policy: pulumi.String(document)}, pulumi.Provider(provider))
	if err != nil {
		return fmt.Errorf("create policy: %w", err)
	}
	if document, err = sourceReaderPolicy(source); err != nil {
		return err
	}
	for key, cluster := range observatory.Clusters {
		_, err = iam.NewRolePolicy(ctx, "source-reader-"+key, &iam.RolePolicyArgs{
			Role: pulumi.String(cluster.NodeRoleName), Policy: pulumi.String(document),
		}, pulumi.Provider(provider))
		if err != nil {
			return fmt.Errorf("create policy of the node role of %s: %w", key, err)
		}
	}
	if err := createCluster(ctx, observatory.Outputs, serviceRole, provider); err != nil {
		return err
	}
	ctx.Export("lakeReaderPolicyArn", policy.Arn)
	ctx.Export("dashboards", pulumi.ToStringMap(observatory.Dashboards))
	return nil
}

// lakeReaderPolicy returns a policy document that allows to list and read the lake's
// prefix, and to decrypt its objects.
func lakeReaderPolicy(o outputs.Outputs) (string, error) {
	bucket := "arn:aws:s3:::" + o.DataBucket
	prefix := strings.TrimPrefix(o.S3Paths.Lake, o.S3Paths.Data) + "*"
	return render(
		statement{Sid: "ListLake", Effect: "Allow", Action: []string{"s3:ListBucket"}, Resource: bucket,
			Condition: map[string]map[string]string{"StringLike": {"s3:prefix": prefix}}},
		statement{Sid: "ReadLake", Effect: "Allow", Action: []string{"s3:GetObject"}, Resource: bucket + "/" + prefix},
		statement{Sid: "DecryptLake", Effect: "Allow", Action: []string{"kms:Decrypt"}, Resource: o.KMSKeyARN},
	)
}

// sourceReaderPolicy returns a policy document that allows to list and read a bucket.
func sourceReaderPolicy(bucket string) (string, error) {
	arn := "arn:aws:s3:::" + bucket
	return render(
		statement{Sid: "ListSource", Effect: "Allow", Action: []string{"s3:ListBucket"}, Resource: arn},
		statement{Sid: "ReadSource", Effect: "Allow", Action: []string{"s3:GetObject"}, Resource: arn + "/*"},
	)
}

// statement is one of a policy document.
type statement struct {
	Sid, Effect string
	Action      []string
	Resource    string
	Condition   map[string]map[string]string `json:",omitempty"`
}

func render(statements ...statement) (string, error) {
	document, err := json.Marshal(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", statements})
	if err != nil {
		return "", fmt.Errorf("render policy: %w", err)
	}
	return string(document), nil
}
