package workloads

import (
	"errors"
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":workloads:Workloads"

// Workloads is what operators and the Grafana component use.
type Workloads struct {
	pulumi.ResourceState

	Namespace            pulumi.StringOutput    `pulumi:"namespace"`
	GrafanaAdminPassword pulumi.StringOutput    `pulumi:"grafanaAdminPassword"` // secret
	GrafanaCACertificate pulumi.StringOutput    `pulumi:"grafanaCaCertificate"` // PEM; clients that trust it trust GrafanaURL and StatusURL
	StatusPassword       pulumi.StringOutput    `pulumi:"statusPassword"`       // secret; of platform.StatusUser
	GrafanaURL           pulumi.StringOutput    `pulumi:"grafanaUrl"`           // resolves once Grafana runs
	StatusURL            pulumi.StringOutput    `pulumi:"statusUrl"`
	ToolsURL             pulumi.StringOutput    `pulumi:"toolsUrl"`   // "" without the profiler
	ToolsToken           pulumi.StringOutput    `pulumi:"toolsToken"` // secret; "" without the profiler
	Endpoints            pulumi.StringMapOutput `pulumi:"endpoints"`  // workload -> URL inside the cluster
}

// New creates the platform's workloads in a namespace of their own. It registers
// nothing when args are invalid. opts must carry explicit providers of
// kubernetes, random and tls; a DeletedWith among them applies to every object.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Workloads, error) {
	return newWithServers(ctx, name, args, workloadconfig.Servers(), opts...)
}

// newWithServers is like New, for the given servers, so that tests can add one.
func newWithServers(
	ctx *pulumi.Context, name string, args *Args, servers []workloadconfig.Server, opts ...pulumi.ResourceOption,
) (*Workloads, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	servers = args.enabled(servers)
	settings, err := args.settings(workloadconfig.Table(servers), ctx.Stack())
	if err != nil {
		return nil, err
	}
	configured, err := configure(servers, settings)
	if err != nil {
		return nil, err
	}
	w := &Workloads{}
	children, err := child.Register(ctx, w, TypeToken, name, pulumi.Map{
		"region": args.Region, "s3Endpoint": pulumi.String(args.S3Endpoint),
		"tempoRetention": pulumi.String(args.TempoRetention.String()), "pyroscopeRetention": pulumi.String(args.PyroscopeRetention.String()),
		"metricsRetention": pulumi.String(args.MetricsRetention.String()), "logsRetention": pulumi.String(args.LogsRetention.String()),
	}, opts...)
	if err != nil {
		return nil, err
	}
	if err := args.warnOfExpiry(ctx, w); err != nil {
		return nil, err
	}
	if err := w.build(children, args, settings, configured); err != nil {
		return nil, err
	}
	return w, children.RegisterOutputs()
}

// workload is a record with its server's configuration.
type workload struct {
	platform.WorkloadRecord
	config workloadconfig.Config
}

// configure reports the errors of all servers at once.
func configure(servers []workloadconfig.Server, settings workloadconfig.Settings) ([]workload, error) {
	configured := make([]workload, len(servers))
	var errs []error
	for i, s := range servers {
		config, err := s.Config(settings)
		configured[i] = workload{s.WorkloadRecord, config}
		errs = append(errs, err)
	}
	return configured, errors.Join(errs...)
}

// build creates the objects and sets the component's outputs.
func (w *Workloads) build(b child.Builder, args *Args, settings workloadconfig.Settings, configured []workload) error {
	namespace, err := createNamespace(b)
	if err != nil {
		return err
	}
	o := objects{Builder: b, namespace: namespace}
	environment, err := o.createClusterConfig(args)
	if err != nil {
		return err
	}
	certificates, err := o.certificates(args)
	if err != nil {
		return err
	}
	// Grafana reads its password only at its first start.
	grafana, err := o.serverAccess(platform.WorkloadGrafana, certificates, false)
	if err != nil {
		return err
	}
	status, err := o.serverAccess(platform.WorkloadStatus, certificates, true)
	if err != nil {
		return err
	}
	tools, err := o.toolsAccess(args, certificates)
	if err != nil {
		return err
	}
	networkPolicies, err := o.metadataPolicies(configured)
	if err != nil {
		return err
	}
	urls, err := args.operatorURLs(settings.Workloads)
	if err != nil {
		return err
	}
	d := deployer{
		objects: o, args: args, urls: urls, environment: environment, networkPolicies: networkPolicies,
		secrets: map[string]secret{
			platform.AccessSecret(platform.WorkloadGrafana): grafana.secret, platform.AccessSecret(platform.WorkloadStatus): status.secret,
			platform.AccessSecret(platform.WorkloadTools): tools.secret,
		},
	}
	ready := map[platform.Workload]pulumi.StringOutput{}
	for _, each := range configured {
		if ready[each.Name], err = d.deploy(each); err != nil {
			return err
		}
	}
	w.Namespace, w.GrafanaAdminPassword, w.StatusPassword = namespace, grafana.password, status.password
	w.GrafanaCACertificate = certificates.trusted
	// The Grafana provider connects to the server as soon as it is configured.
	w.GrafanaURL = output.Join([]pulumi.StringInput{urls.grafana, ready[platform.WorkloadGrafana]},
		func(values []string) (string, error) { return values[0], nil })
	w.StatusURL, w.ToolsURL, w.ToolsToken = urls.status, urls.tools, tools.password
	w.Endpoints = endpointURLs(settings.Workloads)
	return nil
}

func endpointURLs(table platform.WorkloadTable) pulumi.StringMapOutput {
	urls := pulumi.StringMap{}
	for name, url := range table.URLs() {
		urls[string(name)] = pulumi.String(url)
	}
	return urls.ToStringMapOutput()
}

// objects creates objects in the namespace.
type objects struct {
	child.Builder
	namespace pulumi.StringInput
}

// meta names an object in the namespace.
func (o objects) meta(name string) *metav1.ObjectMetaArgs {
	return &metav1.ObjectMetaArgs{Name: pulumi.String(name), Namespace: o.namespace, Labels: pulumi.StringMap{
		nameLabel: pulumi.String(name), partOfLabel: pulumi.String(platform.Name),
	}}
}

// unawaitedMeta names an object that is ready for the provider once it exists. The
// annotation is documented in pulumi-kubernetes ("Resource await behavior").
func (o objects) unawaitedMeta(name string) *metav1.ObjectMetaArgs {
	meta := o.meta(name)
	meta.Annotations = pulumi.StringMap{"pulumi.com/skipAwait": pulumi.String("true")}
	return meta
}

// createNamespace creates a namespace in which the API server refuses pods that
// could take over the node (Kubernetes documentation, "Pod Security Standards").
func createNamespace(b child.Builder) (pulumi.StringOutput, error) {
	ns, err := corev1.NewNamespace(b.Ctx, b.Name("namespace"), &corev1.NamespaceArgs{
		Metadata: metav1.ObjectMetaArgs{Name: pulumi.String(platform.Name), Labels: pulumi.StringMap{
			"pod-security.kubernetes.io/enforce": pulumi.String("restricted"), partOfLabel: pulumi.String(platform.Name),
		}},
	}, b.Options()...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create namespace: %w", err)
	}
	return ns.Metadata.Name().Elem(), nil
}
