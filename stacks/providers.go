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

	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// base are the providers that need nothing of the stack's own.
type base struct {
	aws     *aws.Provider
	tls     *tls.Provider
	random  *random.Provider
	command *command.Provider
}

func newBase(ctx *pulumi.Context, cfg config.Config) (base, error) {
	var b base
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

// awsArgs tags every resource through the provider, so that none is missed.
// An S3 endpoint of one's own implies path-style addresses: a gateway has no
// name per bucket.
func awsArgs(stack string, cfg config.Config) *aws.ProviderArgs {
	tags := stackTags(stack)
	maps.Copy(tags, cfg.Tags)
	args := &aws.ProviderArgs{
		Region:      pulumi.String(cfg.Region),
		DefaultTags: aws.ProviderDefaultTagsArgs{Tags: pulumi.ToStringMap(tags)},
	}
	e := cfg.AWSEndpoints
	if e != (config.AWSEndpoints{}) {
		args.Endpoints = aws.ProviderEndpointArray{aws.ProviderEndpointArgs{
			Ec2: given(e.EC2), Emr: given(e.EMR), Iam: given(e.IAM), Kms: given(e.KMS), S3: given(e.S3), Ssm: given(e.SSM), Sts: given(e.STS),
		}}
	}
	if e.S3 != "" {
		args.S3UsePathStyle = pulumi.Bool(true)
	}
	return args
}

// stackTags find the resources of one stack again.
func stackTags(stack string) map[string]string {
	return map[string]string{platform.TagProject: platform.Project, platform.TagStack: stack}
}

// given leaves an empty endpoint out.
func given(s string) pulumi.StringPtrInput {
	if s == "" {
		return nil
	}
	return pulumi.String(s)
}

// newKubernetes is configured only once kubeconfig resolves, which the control
// node lets happen when its API answers: the provider tests reachability once.
// The cluster's identity is its data volume: a new kubeconfig or a new
// instance on the same volume keeps the objects.
//
// ConfigMaps are edited in place: the annotation with their hash restarts the
// one workload that reads them, and a replaced ConfigMap would be gone for a
// moment under a fixed name.
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

// newGrafana speaks to the Grafana that w runs, as its administrator. url
// replaces the address for a program that reaches it through a tunnel.
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
