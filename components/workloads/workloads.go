package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":workloads:Workloads"

// Workloads is what operators and the Grafana component use.
type Workloads struct {
	pulumi.ResourceState

	Namespace            pulumi.StringOutput    `pulumi:"namespace"`
	GrafanaAdminPassword pulumi.StringOutput    `pulumi:"grafanaAdminPassword"` // secret
	GrafanaCACertificate pulumi.StringOutput    `pulumi:"grafanaCaCertificate"` // PEM; who trusts it trusts GrafanaURL
	GrafanaURL           pulumi.StringOutput    `pulumi:"grafanaUrl"`           // resolves once Grafana runs
	StatusURL            pulumi.StringOutput    `pulumi:"statusUrl"`
	Endpoints            pulumi.StringMapOutput `pulumi:"endpoints"` // workload -> URL inside the cluster
}

// New creates the workloads in a namespace of their own. It registers nothing
// when args are invalid. opts must carry explicit providers of kubernetes,
// random and tls; a DeletedWith among them holds for every object.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Workloads, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	given, err := pulumi.NewResourceOptions(opts...)
	if err != nil {
		return nil, fmt.Errorf("read options of workloads %s: %w", name, err)
	}
	w := &Workloads{}
	err = ctx.RegisterComponentResourceV2(TypeToken, name, pulumi.Map{
		"region": args.Region, "s3Endpoint": pulumi.String(args.S3Endpoint), "storageClass": pulumi.String(args.StorageClass),
		"tempoRetention": pulumi.String(args.TempoRetention.String()), "pyroscopeRetention": pulumi.String(args.PyroscopeRetention.String()),
		"metricsRetention": pulumi.String(args.metricsRetention().String()), "logsRetention": pulumi.String(args.logsRetention().String()),
	}, w, opts...)
	if err != nil {
		return nil, fmt.Errorf("register workloads %s: %w", name, err)
	}
	b := &builder{ctx: ctx, parent: w, base: name, args: args, deletedWith: given.DeletedWith}
	if err := b.build(w); err != nil {
		return nil, err
	}
	err = ctx.RegisterResourceOutputs(w, pulumi.Map{
		"namespace": w.Namespace, "grafanaAdminPassword": w.GrafanaAdminPassword, "grafanaCaCertificate": w.GrafanaCACertificate,
		"grafanaUrl": w.GrafanaURL, "statusUrl": w.StatusURL, "endpoints": w.Endpoints,
	})
	if err != nil {
		return nil, fmt.Errorf("register outputs of workloads %s: %w", name, err)
	}
	return w, nil
}

// builder holds what every section needs.
type builder struct {
	ctx         *pulumi.Context
	parent      pulumi.Resource
	base        string
	args        *Args
	deletedWith pulumi.Resource
	namespace   pulumi.StringInput // once it exists
	environment pulumi.StringInput // name of the cluster-config ConfigMap, once it exists
	environHash pulumi.StringOutput
}

func (b *builder) name(role string) string { return b.base + "-" + role }

// child are the options of a child. Objects go with the machine that runs them:
// on destroy their API may be gone first.
func (b *builder) child(more ...pulumi.ResourceOption) []pulumi.ResourceOption {
	opts := []pulumi.ResourceOption{pulumi.Parent(b.parent)}
	if b.deletedWith != nil {
		opts = append(opts, pulumi.DeletedWith(b.deletedWith))
	}
	return append(opts, more...)
}

// meta names an object inside the namespace.
func (b *builder) meta(name string) *metav1.ObjectMetaArgs {
	return &metav1.ObjectMetaArgs{Name: pulumi.String(name), Namespace: b.namespace, Labels: pulumi.StringMap{
		nameLabel: pulumi.String(name), "app.kubernetes.io/part-of": pulumi.String(platform.Name),
	}}
}

func (b *builder) build(w *Workloads) error {
	ns, err := corev1.NewNamespace(b.ctx, b.name("namespace"), &corev1.NamespaceArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(platform.Name), Labels: podSecurity()},
	}, b.child()...)
	if err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	w.Namespace = ns.Metadata.Name().Elem()
	b.namespace = w.Namespace
	if err := b.clusterConfig(); err != nil {
		return err
	}
	access, err := b.grafanaAccess()
	if err != nil {
		return err
	}
	w.GrafanaAdminPassword, w.GrafanaCACertificate = access.password, access.authority
	units, err := b.units(access)
	if err != nil {
		return err
	}
	confined, err := b.metadataPolicies(units)
	if err != nil {
		return err
	}
	ready := map[platform.Workload]pulumi.StringOutput{}
	for _, u := range units {
		if ready[u.workload], err = b.run(u, confined); err != nil {
			return err
		}
	}
	// The Grafana provider speaks to the server as soon as it is configured.
	w.GrafanaURL = pulumi.All(b.args.ControlPrivateIP, ready[platform.WorkloadGrafana]).ApplyT(func(v []any) string {
		return workloadconfig.URLAt(v[0].(string), platform.WorkloadGrafana)
	}).(pulumi.StringOutput)
	w.StatusURL = b.args.ControlPrivateIP.ToStringOutput().ApplyT(func(ip string) string {
		return workloadconfig.URLAt(ip, platform.WorkloadStatus)
	}).(pulumi.StringOutput)
	inside := pulumi.StringMap{}
	for workload, url := range workloadconfig.URLs() {
		inside[string(workload)] = pulumi.String(url)
	}
	w.Endpoints = inside.ToStringMapOutput()
	return nil
}
