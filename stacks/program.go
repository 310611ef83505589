package stacks

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// Program is the Pulumi program: the same for AWS and for the local cloud.
// Configuration, materials and component arguments are all checked before the
// first resource is registered.
func Program(ctx *pulumi.Context) error { return run(ctx, ctx.RootDirectory()) }

// ProgramOf is Program for an engine that does not work in the project's own
// folder, which is root.
func ProgramOf(root string) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error { return run(ctx, root) }
}

func run(ctx *pulumi.Context, root string) error {
	cfg, err := config.Load(ctx)
	if err != nil {
		return fmt.Errorf("read configuration of stack %s: %w", ctx.Stack(), err)
	}
	materials, err := LoadMaterials(root, cfg)
	if err != nil {
		return fmt.Errorf("load materials: %w", err)
	}
	return Build(ctx, cfg, materials)
}

// Build registers the platform described by cfg from the given materials and
// exports the contract of package outputs.
func Build(ctx *pulumi.Context, cfg config.Config, materials Materials) error {
	s := spec{cfg: cfg, materials: materials}
	if err := s.validate(); err != nil {
		return fmt.Errorf("check component arguments: %w", err)
	}
	providers, err := newBase(ctx, cfg)
	if err != nil {
		return err
	}
	g, err := buildGround(ctx, s, providers)
	if err != nil {
		return err
	}
	cluster, err := g.cluster(ctx, s, providers)
	if err != nil {
		return err
	}
	services, err := g.services(ctx, s, providers)
	if err != nil {
		return err
	}
	outputs.Export(ctx, outputs.Values{
		DataBucket:        g.storage.DataBucket,
		S3Paths:           g.storage.S3Paths,
		KMSKeyARN:         g.storage.KMSKeyARN,
		ControlInstanceID: g.control.InstanceID,
		ControlPrivateIP:  g.control.PrivateIP,
		BootstrapPath:     g.telemetry.BootstrapPath,
		BootstrapArgs:     g.telemetry.BootstrapArgs,
		BootstrapHash:     g.telemetry.BootstrapHash,
		EMRClusterID:      cluster.ClusterID,
		EMRMasterDNS:      cluster.MasterDNS,
		GrafanaURL:        services.workloads.GrafanaURL,
		StatusURL:         services.workloads.StatusURL,
		Endpoints:         services.workloads.Endpoints,
		Dashboards:        services.grafana.DashboardURLs,
		Kubeconfig:        g.control.Kubeconfig,
		GrafanaPassword:   services.workloads.GrafanaAdminPassword,

		VPCID: g.network.VPCID, SubnetIDs: g.network.SubnetIDs, MasterSecurityGroupID: g.network.MasterSecurityGroupID,
		CoreSecurityGroupID: g.network.CoreSecurityGroupID, ServiceAccessSecurityGroupID: g.network.ServiceAccessSecurityGroupID,
	})
	return nil
}
