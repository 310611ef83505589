package stacks

import (
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/components/lake"
	"github.com/emr-observatory/emr-observatory/components/schedules"
	"github.com/emr-observatory/emr-observatory/cost"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// Program is the Pulumi program: the same for AWS and for the local cloud.
// Configuration, materials and component arguments are all checked before the
// first resource is registered. Nodes install the release build.
func Program(ctx *pulumi.Context) error { return run(ctx, ctx.RootDirectory(), artifacts.Release) }

// ProgramOf returns Program for an engine that runs outside the project's folder,
// which is root, and whose nodes install the given build.
func ProgramOf(root string, build artifacts.Build) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error { return run(ctx, root, build) }
}

func run(ctx *pulumi.Context, root string, build artifacts.Build) error {
	if err := requireCLI(ctx); err != nil {
		return err
	}
	cfg, err := config.Load(ctx, schema.Config.CheckOperatorsExist, schema.Config.CheckSecretsAreOpen)
	if err != nil {
		return fmt.Errorf("read configuration of stack %s: %w", ctx.Stack(), err)
	}
	if err := ctx.Log.Info(cost.Of(cfg).Text(), nil); err != nil {
		return fmt.Errorf("print what the stack costs: %w", err)
	}
	if text := schedulesText(cfg, time.Now()); text != "" {
		if err := ctx.Log.Info(text, nil); err != nil {
			return fmt.Errorf("print when schedules start: %w", err)
		}
	}
	materials, err := LoadMaterials(root, cfg, build)
	if err != nil {
		return fmt.Errorf("load materials: %w", err)
	}
	return Build(ctx, cfg, materials)
}

// requireCLI refuses a CLI that would ignore what the program asks of it. Pulumi.yaml says
// the same, but an older CLI does not read that key, and an engine that runs the program
// inline may have another project file.
func requireCLI(ctx *pulumi.Context) error {
	if err := ctx.RequirePulumiVersion(platform.PulumiVersions()); err != nil {
		return fmt.Errorf("check the version of the Pulumi CLI: %w; install %s or a later one: https://www.pulumi.com/docs/install/",
			err, platform.MinPulumiVersion)
	}
	return nil
}

// Build registers the platform described by cfg from the given materials and
// exports the contract of package outputs.
func Build(ctx *pulumi.Context, cfg schema.Config, materials Materials) error {
	a, err := buildOnAWS(ctx, spec{cfg: cfg, materials: materials})
	if err != nil {
		return err
	}
	services, err := a.newServices(ctx, a.spec, a.providers, a.scheduleValues().LostRunsQueueURL)
	if err != nil {
		return err
	}
	a.export(ctx, services)
	return nil
}

// BuildOnAWS registers the AWS resources only, without the services that run on the
// control node, and exports nothing.
func BuildOnAWS(ctx *pulumi.Context, cfg schema.Config, materials Materials) error {
	_, err := buildOnAWS(ctx, spec{cfg: cfg, materials: materials})
	return err
}

// onAWS is the registered part of the platform that is on AWS.
type onAWS struct {
	foundation
	spec      spec
	providers baseProviders
	clusters  map[string]*emr.Cluster // by key
	schedules *schedules.Schedules    // nil without any
	lake      *lake.Lake              // nil without Athena
}

func buildOnAWS(ctx *pulumi.Context, s spec) (onAWS, error) {
	if err := s.validate(ctx.Stack()); err != nil {
		return onAWS{}, fmt.Errorf("check component arguments: %w", err)
	}
	providers, err := newBaseProviders(ctx, s.cfg)
	if err != nil {
		return onAWS{}, err
	}
	if namesObjects(s.cfg) {
		if s.cfg, err = readSteps(ctx, s.cfg, providers.aws); err != nil {
			return onAWS{}, err
		}
		if err := s.validate(ctx.Stack()); err != nil { // with the steps that were read
			return onAWS{}, fmt.Errorf("check component arguments: %w", err)
		}
	}
	f, err := buildFoundation(ctx, s, providers)
	if err != nil {
		return onAWS{}, err
	}
	clusters, err := f.newClusters(ctx, s, providers)
	if err != nil {
		return onAWS{}, err
	}
	started, err := f.newSchedules(ctx, s, clusters, providers)
	if err != nil {
		return onAWS{}, err
	}
	catalog, err := f.newLake(ctx, s, providers)
	if err != nil {
		return onAWS{}, err
	}
	return onAWS{foundation: f, spec: s, providers: providers, clusters: clusters, schedules: started, lake: catalog}, nil
}

// costs returns an estimate as the stack's output has it.
func costs(e cost.Estimate) outputs.Costs {
	amounts := func(r cost.Range) outputs.Amounts {
		return outputs.Amounts{Least: r.Least.USD(), Typical: r.Typical.USD(), Most: r.Most.USD()}
	}
	out := outputs.Costs{Month: amounts(e.Month), Clusters: map[string]outputs.ClusterCost{}, Prices: e.Prices,
		Unpriced: e.Unpriced()}
	for _, c := range e.Clusters {
		out.Clusters[c.Name] = outputs.ClusterCost{Hour: amounts(c.Hour), Month: amounts(c.Month)}
	}
	return out
}

func (a onAWS) export(ctx *pulumi.Context, s services) {
	outputs.Export(ctx, outputs.Values{
		DataBucket:        a.storage.DataBucket,
		S3Paths:           a.storage.S3Paths,
		KMSKeyARN:         a.storage.KMSKeyARN,
		ControlInstanceID: a.control.InstanceID,
		ControlVolumeID:   a.control.DataVolumeID,
		ControlPrivateIP:  a.control.PrivateIP,
		ControlPublicIP:   a.control.PublicIP,
		Clusters:          a.clusterValues(ctx.Stack()),
		Schedules:         a.scheduleValues(),
		Athena:            a.athenaValues(),
		Cost:              costs(cost.Of(a.spec.cfg)),
		Observe:           a.observeValues(ctx.Stack()),
		GrafanaURL:        s.workloads.GrafanaURL,
		StatusURL:         s.workloads.StatusURL,
		CACertificate:     s.workloads.GrafanaCACertificate,
		Endpoints:         s.workloads.Endpoints,
		Dashboards:        s.grafana.DashboardURLs,
		Kubeconfig:        a.control.Kubeconfig,
		GrafanaPassword:   s.workloads.GrafanaAdminPassword,
		StatusPassword:    s.workloads.StatusPassword,
		ToolsURL:          s.workloads.ToolsURL,
		ToolsToken:        s.workloads.ToolsToken,

		VPCID:     a.network.VPCID,
		SubnetIDs: a.network.SubnetIDs,
	})
}

func (a onAWS) clusterValues(stack string) map[string]outputs.ClusterValues {
	values := map[string]outputs.ClusterValues{}
	for key, c := range a.clusters {
		values[key] = outputs.ClusterValues{
			ID: c.ClusterID, Name: pulumi.String(ClusterName(stack, key)), MasterDNS: c.MasterDNS,
			NodeRoleARN: c.NodeRoleARN, NodeRoleName: c.NodeRoleName, LogURI: c.LogURI,
			MasterSecurityGroupID: c.MasterSecurityGroupID, CoreSecurityGroupID: c.CoreSecurityGroupID,
			ServiceAccessSecurityGroupID: c.ServiceAccessSecurityGroupID,
		}
	}
	return values
}

// scheduleValues are empty without schedules.
func (a onAWS) scheduleValues() outputs.ScheduleValues {
	if a.schedules == nil {
		return outputs.ScheduleValues{GroupName: pulumi.String(""), LostRunsQueueURL: pulumi.String("")}
	}
	return outputs.ScheduleValues{GroupName: a.schedules.GroupName, LostRunsQueueURL: a.schedules.QueueURL}
}

// athenaValues are empty without Athena.
func (a onAWS) athenaValues() outputs.AthenaValues {
	if a.lake == nil {
		return outputs.AthenaValues{Database: pulumi.String(""), Workgroup: pulumi.String(""), ReadPolicy: pulumi.String("")}
	}
	return outputs.AthenaValues{Database: a.lake.Database, Workgroup: a.lake.Workgroup, ReadPolicy: a.lake.ReadPolicy}
}

// observeValues are what a cluster of others needs: what the stack's own clusters have.
func (a onAWS) observeValues(stack string) outputs.ObserveValues {
	return outputs.ObserveValues{
		SecurityGroupID: a.network.ObservedSecurityGroupID, NodePolicyARN: a.telemetry.NodePolicyARN,
		BootstrapPath: a.telemetry.BootstrapPath, BootstrapArgs: a.telemetry.BootstrapArgs, BootstrapHash: a.telemetry.BootstrapHash,
		Configurations: observe.Configurations(a.spec.cfg.Tracing.Ratio(), nil), Tags: a.spec.cfg.Profiler.ClusterTags(stack),
	}
}
