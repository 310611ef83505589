// Command consumer is a Pulumi program of another team: it reads the
// observatory's stack and grants read access to the lake, nothing more.
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

// program needs the configuration observatoryStack (org/emr-observatory/dev)
// and region.
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
	observatory, err := outputs.Refer(ctx, name)
	if err != nil {
		return err
	}
	provider, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String(region)})
	if err != nil {
		return fmt.Errorf("create provider: %w", err)
	}
	document, err := readLake(observatory.Outputs)
	if err != nil {
		return err
	}
	policy, err := iam.NewPolicy(ctx, "lake-reader", &iam.PolicyArgs{Policy: pulumi.String(document)}, pulumi.Provider(provider))
	if err != nil {
		return fmt.Errorf("create policy: %w", err)
	}
	ctx.Export("lakeReaderPolicyArn", policy.Arn)
	ctx.Export("dashboards", pulumi.ToStringMap(observatory.Dashboards))
	return nil
}

// readLake is a policy document that lists and reads what lies below the lake.
func readLake(o outputs.Outputs) (string, error) {
	type statement struct {
		Sid, Effect string
		Action      []string
		Resource    string
		Condition   map[string]map[string]string `json:",omitempty"`
	}
	bucket := "arn:aws:s3:::" + o.DataBucket
	prefix := strings.TrimPrefix(o.S3Paths.Lake, o.S3Paths.Data) + "*"
	document, err := json.Marshal(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", []statement{
		{Sid: "ListLake", Effect: "Allow", Action: []string{"s3:ListBucket"}, Resource: bucket, Condition: map[string]map[string]string{"StringLike": {"s3:prefix": prefix}}},
		{Sid: "ReadLake", Effect: "Allow", Action: []string{"s3:GetObject"}, Resource: bucket + "/" + prefix},
		{Sid: "DecryptLake", Effect: "Allow", Action: []string{"kms:Decrypt"}, Resource: o.KMSKeyARN},
	}})
	if err != nil {
		return "", fmt.Errorf("render policy: %w", err)
	}
	return string(document), nil
}
