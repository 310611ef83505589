package workloads

import (
	"fmt"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	nameLabel   = "app.kubernetes.io/name" // selects a workload's pods
	partOfLabel = "app.kubernetes.io/part-of"

	// hashAnnotation on a pod template changes with what its pods read at startup.
	hashAnnotation = platform.Name + "/config-hash"
)

// deployer creates workloads from what all of them share.
type deployer struct {
	objects
	args            *Args
	urls            operatorURLs
	environment     environment
	secrets         map[string]secret // by name
	networkPolicies []pulumi.Resource // pods start after these
}

// deploy creates a workload's objects. The result is the workload's name, known
// once its pods are ready.
func (d deployer) deploy(w workload) (pulumi.StringOutput, error) {
	pod, err := d.pod(w)
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	labels := podLabels(w.Name)
	if err := d.services(w.WorkloadRecord); err != nil {
		return pulumi.StringOutput{}, err
	}
	return d.controller(w.WorkloadRecord, corev1.PodTemplateSpecArgs{
		Metadata: &metav1.ObjectMetaArgs{Labels: labels, Annotations: pulumi.StringMap{hashAnnotation: hashOf(pod.hashes)}},
		Spec:     podSpec(pod),
	})
}

// podLabels are the labels of a workload's pods.
func podLabels(w platform.Workload) pulumi.StringMap {
	return pulumi.StringMap{nameLabel: pulumi.String(w)}
}

// pod creates the objects that a workload's pod refers to and collects all that
// the pod is rendered from.
func (d deployer) pod(w workload) (podValues, error) {
	account, err := d.account(w.Name)
	if err != nil {
		return podValues{}, err
	}
	data := configFiles(w.config, d.args, d.urls)
	configMap, err := d.configMap(w.Name, data)
	if err != nil {
		return podValues{}, err
	}
	claim, err := d.claim(w.WorkloadRecord)
	if err != nil {
		return podValues{}, err
	}
	for _, name := range secretNames(w.config) {
		if _, found := d.secrets[name]; !found {
			return podValues{}, fmt.Errorf("configure %s: no Secret %s: create it in workloads.build", w.Name, name)
		}
	}
	pod := podValues{
		workload: w, account: account, environment: d.environment.name, configMap: configMap, claim: claim, secrets: d.secrets,
		binary: d.args.binary(w.OwnBinary),
	}
	pod.hashes = pod.configHashes(d.environment.hash, data)
	return pod, nil
}

// controller creates the workload's Deployment or DaemonSet.
func (d deployer) controller(r platform.WorkloadRecord, template corev1.PodTemplateSpecArgs) (pulumi.StringOutput, error) {
	name := string(r.Name)
	selector := &metav1.LabelSelectorArgs{MatchLabels: podLabels(r.Name)}
	options := d.Options(pulumi.DependsOn(d.networkPolicies))
	if r.Daemon {
		set, err := appsv1.NewDaemonSet(d.Ctx, d.Name(name), &appsv1.DaemonSetArgs{
			Metadata: d.meta(name), Spec: &appsv1.DaemonSetSpecArgs{Selector: selector, Template: template},
		}, options...)
		if err != nil {
			return pulumi.StringOutput{}, fmt.Errorf("create DaemonSet %s: %w", name, err)
		}
		return set.Metadata.Name().Elem(), nil
	}
	deployment, err := appsv1.NewDeployment(d.Ctx, d.Name(name), &appsv1.DeploymentArgs{
		Metadata: d.meta(name),
		Spec: &appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(1), Selector: selector, Template: template,
			// Recreate: two pods cannot share one volume.
			Strategy: &appsv1.DeploymentStrategyArgs{Type: pulumi.String("Recreate")},
		},
	}, options...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create Deployment %s: %w", name, err)
	}
	return deployment.Metadata.Name().Elem(), nil
}

// account creates a ServiceAccount without rights and without a token, so that no
// workload gains rights through "default".
func (o objects) account(w platform.Workload) (pulumi.StringInput, error) {
	name := string(w)
	account, err := corev1.NewServiceAccount(o.Ctx, o.Name(name), &corev1.ServiceAccountArgs{
		Metadata: o.meta(name), AutomountServiceAccountToken: pulumi.Bool(false),
	}, o.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create ServiceAccount %s: %w", name, err)
	}
	return account.Metadata.Name().Elem(), nil
}

// configMap creates a ConfigMap of a workload's files; nil for none.
func (o objects) configMap(w platform.Workload, data pulumi.StringMap) (pulumi.StringPtrInput, error) {
	if len(data) == 0 {
		return nil, nil
	}
	name := string(w) + "-config"
	cm, err := corev1.NewConfigMap(o.Ctx, o.Name(name), &corev1.ConfigMapArgs{Metadata: o.meta(name), Data: data}, o.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create ConfigMap %s: %w", name, err)
	}
	return cm.Metadata.Name(), nil
}

// claim creates a workload's volume; nil for none.
func (o objects) claim(r platform.WorkloadRecord) (pulumi.StringInput, error) {
	if r.DiskGiB == 0 {
		return nil, nil
	}
	name := string(r.Name) + "-data"
	spec := &corev1.PersistentVolumeClaimSpecArgs{
		AccessModes: pulumi.ToStringArray([]string{"ReadWriteOnce"}),
		Resources: &corev1.VolumeResourceRequirementsArgs{
			Requests: pulumi.StringMap{"storage": pulumi.Sprintf("%dGi", r.DiskGiB)},
		},
	}
	claim, err := corev1.NewPersistentVolumeClaim(o.Ctx, o.Name(name), &corev1.PersistentVolumeClaimArgs{
		// The node's provisioner binds a claim when its first pod arrives; waiting for
		// that before creating the pod would never end.
		Metadata: o.unawaitedMeta(name), Spec: spec,
	}, o.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create PersistentVolumeClaim %s: %w", name, err)
	}
	return claim.Metadata.Name().Elem(), nil
}

// configFiles returns a server's files; those that need facts are known once the
// facts are.
func configFiles(c workloadconfig.Config, args *Args, urls operatorURLs) pulumi.StringMap {
	values := map[workloadconfig.Fact]pulumi.StringInput{
		workloadconfig.FactRegion: args.Region, workloadconfig.FactBucket: args.Bucket, workloadconfig.FactControlIP: args.ControlPrivateIP,
		workloadconfig.FactGrafanaURL: urls.grafana, workloadconfig.FactStatusURL: urls.status,
		workloadconfig.FactBootstrapHash: args.BootstrapHash, workloadconfig.FactToolsRoleARN: args.ToolsRoleARN,
		workloadconfig.FactLostRuns: pulumi.String(""),
	}
	if args.LostRunsURL != nil {
		values[workloadconfig.FactLostRuns] = args.LostRunsURL
	}
	data := pulumi.ToStringMap(c.Files)
	for name, file := range c.LateFiles {
		var inputs []pulumi.StringInput
		for _, fact := range file.Needs {
			inputs = append(inputs, values[fact])
		}
		data[name] = output.Join(inputs, func(known []string) (string, error) {
			facts := map[workloadconfig.Fact]string{}
			for i, fact := range file.Needs {
				facts[fact] = known[i]
			}
			return file.Render(facts)
		})
	}
	return data
}
