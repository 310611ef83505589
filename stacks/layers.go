package stacks

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/components/lake"
	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/components/schedules"
	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Logical names of the components: the first part of every child's name and so
// of every URN. Changing one replaces resources unless it comes with an alias.
const (
	nameNetwork   = "network"
	nameStorage   = "storage"
	nameControl   = platform.ControlComponent
	nameTelemetry = "telemetry"
	nameEMR       = platform.ClusterComponent
	nameSchedules = "schedules"
	nameLake      = "lake"
	nameWorkloads = "workloads"
	nameGrafana   = "grafana"
)

// foundation is what cluster and services build on.
type foundation struct {
	network   *network.Network
	storage   *storage.Storage
	control   *controlnode.ControlNode
	telemetry *telemetry.Telemetry
}

func buildFoundation(ctx *pulumi.Context, s spec, p baseProviders) (foundation, error) {
	var f foundation
	var err error
	onAWS := pulumi.Providers(p.aws)
	if f.storage, err = storage.New(ctx, nameStorage, s.storageArgs(), onAWS); err != nil {
		return f, fmt.Errorf("build storage: %w", err)
	}
	if f.network, err = network.New(ctx, nameNetwork, s.network(f.storage), onAWS); err != nil {
		return f, fmt.Errorf("build network: %w", err)
	}
	f.control, err = controlnode.New(ctx, nameControl, s.controlArgs(f.network, f.storage), pulumi.Providers(p.aws, p.tls, p.command))
	if err != nil {
		return f, fmt.Errorf("build control node: %w", err)
	}
	if f.telemetry, err = telemetry.New(ctx, nameTelemetry, s.telemetryArgs(f.storage, f.control), onAWS); err != nil {
		return f, fmt.Errorf("build telemetry: %w", err)
	}
	return f, nil
}

// newClusters builds the clusters by their keys. None depends on another.
func (f foundation) newClusters(ctx *pulumi.Context, s spec, p baseProviders) (map[string]*emr.Cluster, error) {
	var after []pulumi.Resource
	if s.cfg.BlockPublicAccess {
		block, err := emr.BlockPublicAccess(ctx, nameEMR, pulumi.Provider(p.aws))
		if err != nil {
			return nil, fmt.Errorf("build EMR: %w", err)
		}
		after = append(after, block)
	}
	clusters := map[string]*emr.Cluster{}
	for _, key := range s.cfg.ClusterKeys() {
		c, err := emr.New(ctx, clusterComponent(key), s.emrArgs(ctx.Stack(), key, f, after...), pulumi.Providers(p.aws))
		if err != nil {
			return nil, fmt.Errorf("build EMR cluster %s: %w", key, err)
		}
		clusters[key] = c
	}
	return clusters, nil
}

// newSchedules builds what starts steps by the clock; nil without schedules.
func (f foundation) newSchedules(ctx *pulumi.Context, s spec, clusters map[string]*emr.Cluster, p baseProviders) (
	*schedules.Schedules, error,
) {
	if len(s.cfg.Schedules) == 0 {
		return nil, nil
	}
	out, err := schedules.New(ctx, nameSchedules, s.schedulesArgs(clusters, f.control), pulumi.Providers(p.aws))
	if err != nil {
		return nil, fmt.Errorf("build schedules: %w", err)
	}
	return out, nil
}

// newLake declares the history's tables in the catalog; nil unless profiler.athena says so.
func (f foundation) newLake(ctx *pulumi.Context, s spec, p baseProviders) (*lake.Lake, error) {
	if !s.cfg.Profiler.Athena {
		return nil, nil
	}
	out, err := lake.New(ctx, nameLake, s.lakeArgs(ctx.Stack(), f.storage), pulumi.Providers(p.aws))
	if err != nil {
		return nil, fmt.Errorf("build the catalog of the history: %w", err)
	}
	return out, nil
}

// services run on the control node.
type services struct {
	workloads *workloads.Workloads
	grafana   *grafana.Grafana
}

// newServices creates the workloads and Grafana's content. Both are deleted with
// the control node: on destroy their APIs no longer exist.
func (f foundation) newServices(ctx *pulumi.Context, s spec, p baseProviders, lostRunsURL pulumi.StringInput) (services, error) {
	var out services
	k8s, err := newKubernetes(ctx, f.control.Kubeconfig, f.control.DataVolumeID)
	if err != nil {
		return out, err
	}
	out.workloads, err = workloads.New(ctx, nameWorkloads, s.workloadsArgs(f.storage, f.control, f.telemetry, lostRunsURL),
		pulumi.Providers(k8s, p.random, p.tls), pulumi.DeletedWith(f.control))
	if err != nil {
		return out, fmt.Errorf("build workloads: %w", err)
	}
	api, err := newGrafana(ctx, s.cfg.Grafana.URL, out.workloads)
	if err != nil {
		return out, err
	}
	out.grafana, err = grafana.New(ctx, nameGrafana, s.grafanaArgs(out.workloads), pulumi.Providers(api), pulumi.DeletedWith(f.control))
	if err != nil {
		return out, fmt.Errorf("build Grafana's content: %w", err)
	}
	return out, nil
}
