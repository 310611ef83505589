package workloads

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
)

// hashAnnotation on a pod template changes with what its pods read at start.
const hashAnnotation = platform.Name + "/config-hash"

// nameLabel tells the pods of one workload from the others.
const nameLabel = "app.kubernetes.io/name"

// unit is one workload: a single pod, its configuration, storage and service.
type unit struct {
	workload platform.Workload
	daemon   bool // a DaemonSet: one pod on every node
	role     bool // works with AWS, under the instance's role
	user     int  // uid and gid
	ports    []port
	disk     string // size of its volume at workloadconfig.DataDir; "" = none
	args     []string
	command  []string
	env      corev1.EnvVarArray
	files    pulumi.StringMap // file name in workloadconfig.ConfigDir -> content
	volumes  corev1.VolumeArray
	mounts   corev1.VolumeMountArray
	init     corev1.ContainerArray
	account  pulumi.StringInput // name of its ServiceAccount, once that exists
	hash     pulumi.StringInput // of what it reads beside files and environment; nil = nothing
}

type port struct {
	name   string // at most 15 characters
	number platform.Port
	node   bool // reachable on the control node's address
}

// configured fills args, env and files from a server's configuration.
func (u unit) configured(c workloadconfig.Config, err error) (unit, error) {
	if err != nil {
		return unit{}, fmt.Errorf("configure %s: %w", u.workload, err)
	}
	u.args, u.files = c.Args, pulumi.ToStringMap(c.Files)
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		u.env = append(u.env, corev1.EnvVarArgs{Name: pulumi.String(k), Value: pulumi.String(c.Env[k])})
	}
	return u, nil
}

// run creates the unit's objects, its pods not before confined. The result is
// its name, known once its pods are ready.
func (b *builder) run(u unit, confined []pulumi.Resource) (pulumi.StringOutput, error) {
	name := string(u.workload)
	hashes := pulumi.StringMap{"environment": b.environHash}
	if u.hash != nil {
		hashes["more"] = u.hash
	}
	if err := b.files(&u, hashes); err != nil {
		return pulumi.StringOutput{}, err
	}
	if err := b.disk(&u); err != nil {
		return pulumi.StringOutput{}, err
	}
	labels := pulumi.StringMap{nameLabel: pulumi.String(name)}
	if err := b.services(u, labels); err != nil {
		return pulumi.StringOutput{}, err
	}
	if err := b.account(&u); err != nil {
		return pulumi.StringOutput{}, err
	}
	template := corev1.PodTemplateSpecArgs{
		Metadata: &metav1.ObjectMetaArgs{Labels: labels, Annotations: pulumi.StringMap{hashAnnotation: hashOf(hashes)}},
		Spec:     b.pod(u),
	}
	selector := &metav1.LabelSelectorArgs{MatchLabels: labels}
	if u.daemon {
		d, err := appsv1.NewDaemonSet(b.ctx, b.name(name), &appsv1.DaemonSetArgs{
			Metadata: b.meta(name), Spec: &appsv1.DaemonSetSpecArgs{Selector: selector, Template: template},
		}, b.child(pulumi.DependsOn(confined))...)
		if err != nil {
			return pulumi.StringOutput{}, fmt.Errorf("create DaemonSet %s: %w", name, err)
		}
		return d.Metadata.Name().Elem(), nil
	}
	// Recreate: two pods cannot hold one volume.
	d, err := appsv1.NewDeployment(b.ctx, b.name(name), &appsv1.DeploymentArgs{
		Metadata: b.meta(name),
		Spec: &appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(1), Selector: selector, Template: template,
			Strategy: &appsv1.DeploymentStrategyArgs{Type: pulumi.String("Recreate")},
		},
	}, b.child(pulumi.DependsOn(confined))...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create Deployment %s: %w", name, err)
	}
	return d.Metadata.Name().Elem(), nil
}

// files puts the unit's files into a ConfigMap and mounts it.
func (b *builder) files(u *unit, hashes pulumi.StringMap) error {
	if len(u.files) == 0 {
		return nil
	}
	name := string(u.workload) + "-config"
	cm, err := corev1.NewConfigMap(b.ctx, b.name(name), &corev1.ConfigMapArgs{Metadata: b.meta(name), Data: u.files}, b.child()...)
	if err != nil {
		return fmt.Errorf("create ConfigMap %s: %w", name, err)
	}
	hashes["files"] = hashOf(u.files)
	u.mount("config", workloadconfig.ConfigDir, true, corev1.VolumeArgs{
		ConfigMap: &corev1.ConfigMapVolumeSourceArgs{Name: cm.Metadata.Name()},
	})
	return nil
}

// disk gives the unit a volume for what must outlive its pod.
func (b *builder) disk(u *unit) error {
	if u.disk == "" {
		return nil
	}
	name := string(u.workload) + "-data"
	meta := b.meta(name)
	// The node's provisioner binds a claim when its first pod comes; waiting
	// for it before creating the pod would never end.
	meta.Annotations = pulumi.StringMap{"pulumi.com/skipAwait": pulumi.String("true")}
	spec := &corev1.PersistentVolumeClaimSpecArgs{
		AccessModes: pulumi.ToStringArray([]string{"ReadWriteOnce"}),
		Resources:   &corev1.VolumeResourceRequirementsArgs{Requests: pulumi.StringMap{"storage": pulumi.String(u.disk)}},
	}
	if b.args.StorageClass != "" {
		spec.StorageClassName = pulumi.String(b.args.StorageClass)
	}
	claim, err := corev1.NewPersistentVolumeClaim(b.ctx, b.name(name), &corev1.PersistentVolumeClaimArgs{Metadata: meta, Spec: spec}, b.child()...)
	if err != nil {
		return fmt.Errorf("create PersistentVolumeClaim %s: %w", name, err)
	}
	u.mount("data", workloadconfig.DataDir, false, corev1.VolumeArgs{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSourceArgs{ClaimName: claim.Metadata.Name().Elem()},
	})
	return nil
}

// mount adds a volume and where it is seen.
func (u *unit) mount(name, path string, readOnly bool, v corev1.VolumeArgs) {
	v.Name = pulumi.String(name)
	u.volumes = append(u.volumes, v)
	u.mounts = append(u.mounts, corev1.VolumeMountArgs{Name: pulumi.String(name), MountPath: pulumi.String(path), ReadOnly: pulumi.Bool(readOnly)})
}
