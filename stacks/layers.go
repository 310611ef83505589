package stacks

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/components/workloads"
)

// Logical names of the components: the first part of every child's name and
// so of every URN. A change replaces resources unless it brings an alias.
const (
	nameNetwork   = "network"
	nameStorage   = "storage"
	nameControl   = "control"
	nameTelemetry = "telemetry"
	nameEMR       = "emr"
	nameWorkloads = "workloads"
	nameGrafana   = "grafana"
)

// ground is what cluster and services stand on.
type ground struct {
	network   *network.Network
	storage   *storage.Storage
	control   *controlnode.ControlNode
	telemetry *telemetry.Telemetry
}

func buildGround(ctx *pulumi.Context, s spec, p base) (ground, error) {
	var g ground
	var err error
	onAWS := pulumi.Providers(p.aws)
	if g.storage, err = storage.New(ctx, nameStorage, s.storage(), onAWS); err != nil {
		return g, fmt.Errorf("build storage: %w", err)
	}
	if g.network, err = network.New(ctx, nameNetwork, s.network(g.storage), onAWS); err != nil {
		return g, fmt.Errorf("build network: %w", err)
	}
	if g.control, err = controlnode.New(ctx, nameControl, s.control(g.network, g.storage), pulumi.Providers(p.aws, p.tls, p.command)); err != nil {
		return g, fmt.Errorf("build control node: %w", err)
	}
	if g.telemetry, err = telemetry.New(ctx, nameTelemetry, s.telemetry(g.storage, g.control), onAWS); err != nil {
		return g, fmt.Errorf("build telemetry: %w", err)
	}
	return g, nil
}

func (g ground) cluster(ctx *pulumi.Context, s spec, p base) (*emr.Cluster, error) {
	c, err := emr.New(ctx, nameEMR, s.emr(g.network, g.storage, g.telemetry), pulumi.Providers(p.aws))
	if err != nil {
		return nil, fmt.Errorf("build EMR cluster: %w", err)
	}
	return c, nil
}

// services run on the control node.
type services struct {
	workloads *workloads.Workloads
	grafana   *grafana.Grafana
}

// services go with the control node: on destroy their own API goes first.
func (g ground) services(ctx *pulumi.Context, s spec, p base) (services, error) {
	var out services
	k8s, err := newKubernetes(ctx, g.control.Kubeconfig, g.control.DataVolumeID)
	if err != nil {
		return out, err
	}
	out.workloads, err = workloads.New(ctx, nameWorkloads, s.workloads(g.storage, g.control, g.telemetry),
		pulumi.Providers(k8s, p.random, p.tls), pulumi.DeletedWith(g.control))
	if err != nil {
		return out, fmt.Errorf("build workloads: %w", err)
	}
	api, err := newGrafana(ctx, s.cfg.Grafana.URL, out.workloads)
	if err != nil {
		return out, err
	}
	out.grafana, err = grafana.New(ctx, nameGrafana, s.grafana(out.workloads), pulumi.Providers(api), pulumi.DeletedWith(g.control))
	if err != nil {
		return out, fmt.Errorf("build Grafana's content: %w", err)
	}
	return out, nil
}
