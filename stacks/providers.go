package stacks

import (
	"fmt"
	"maps"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-command/sdk/go/command"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	provider "github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana"

	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// baseProviders are the providers that depend on no resource of the stack.
type baseProviders struct {
	aws     *aws.Provider
	tls     *tls.Provider
	random  *random.Provider
	command *command.Provider
}

func newBaseProviders(ctx *pulumi.Context, cfg schema.Config) (baseProviders, error) {
	var b baseProviders
	var err error
	if b.aws, err = aws.NewProvider(ctx, "aws", awsArgs(ctx.Stack(), cfg)); err != nil {
		return b, fmt.Errorf("create provider aws: %w", err)
	}
	if b.tls, err = tls.NewProvider(ctx, "tls", &tls.ProviderArgs{}); err != nil {
		return b, fmt.Errorf("create provider tls: %w", err)
	}
	if b.random, err = random.NewProvider(ctx, "random", &random.ProviderArgs{}); err != nil {
		return b, fmt.Errorf("create provider random: %w", err)
	}
	if b.command, err = command.NewProvider(ctx, "command", &command.ProviderArgs{}); err != nil {
		return b, fmt.Errorf("create provider command: %w", err)
	}
	return b, nil
}

// awsArgs sets default tags, which the provider adds to every resource. A custom
// S3 endpoint implies path-style addresses: a gateway has no DNS name per bucket.
func awsArgs(stack string, cfg schema.Config) *aws.ProviderArgs {
	tags := stackTags(cfg, stack)
	args := &aws.ProviderArgs{
		Region:      pulumi.String(cfg.Region),
		DefaultTags: aws.ProviderDefaultTagsArgs{Tags: pulumi.ToStringMap(tags)},
	}
	e := cfg.AWSEndpoints
	if e != (schema.AWSEndpoints{}) {
		args.Endpoints = aws.ProviderEndpointArray{aws.ProviderEndpointArgs{
			Ec2: nonEmpty(e.EC2), Emr: nonEmpty(e.EMR), Iam: nonEmpty(e.IAM), Kms: nonEmpty(e.KMS), S3: nonEmpty(e.S3),
			Ssm: nonEmpty(e.SSM), Sts: nonEmpty(e.STS),
		}}
	}
	if e.S3 != "" {
		args.S3UsePathStyle = pulumi.Bool(true)
	}
	return args
}

// stackTags are the tags of every resource of the stack.
func stackTags(cfg schema.Config, stack string) map[string]string {
	tags := platform.StackTags(stack)
	maps.Copy(tags, cfg.Tags)
	return tags
}

// ControlInstanceTags are the tags by which the instance of a stack's control node
// is found without its outputs, as during the first update.
func ControlInstanceTags(stack string) map[string]string {
	tags := platform.StackTags(stack)
	maps.Copy(tags, controlnode.InstanceTags(nameControl))
	return tags
}

// nonEmpty omits an empty endpoint.
func nonEmpty(s string) pulumi.StringPtrInput {
	if s == "" {
		return nil
	}
	return pulumi.String(s)
}

// newKubernetes creates a provider that is configured once kubeconfig resolves,
// which is after the API answers: the provider checks only once whether it is
// reachable. The cluster's identity is its data volume: a new kubeconfig or a new
// instance with the same volume keeps the objects.
//
// ConfigMaps are updated in place: the annotation with their hash restarts the one
// workload that reads them, and replacing a ConfigMap of a fixed name would delete
// it first.
func newKubernetes(ctx *pulumi.Context, kubeconfig, identity pulumi.StringInput) (*kubernetes.Provider, error) {
	p, err := kubernetes.NewProvider(ctx, "kubernetes", &kubernetes.ProviderArgs{
		Kubeconfig:             kubeconfig.ToStringOutput().ToStringPtrOutput(),
		ClusterIdentifier:      identity.ToStringOutput().ToStringPtrOutput(),
		EnableServerSideApply:  pulumi.Bool(true),
		EnableConfigMapMutable: pulumi.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("create provider kubernetes: %w", err)
	}
	return p, nil
}

// newGrafana creates a provider that connects to the Grafana of w as its
// administrator. A url that is not empty replaces the address, e.g. by a tunnel's.
func newGrafana(ctx *pulumi.Context, url string, w *workloads.Workloads) (*provider.Provider, error) {
	address := w.GrafanaURL
	if url != "" {
		address = pulumi.String(url).ToStringOutput()
	}
	p, err := provider.NewProvider(ctx, "grafana", grafana.ProviderArgs(address, w.GrafanaAdminPassword, w.GrafanaCACertificate))
	if err != nil {
		return nil, fmt.Errorf("create provider grafana: %w", err)
	}
	return p, nil
}
