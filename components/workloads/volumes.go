package workloads

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
)

const (
	volumeBinary   = "bin"
	volumePrepared = "prepared"
	volumeTemp     = "tmp"
)

// mountedVolume is one of a pod's volumes and where its server sees it.
type mountedVolume struct {
	name, path string
	readOnly   bool
	source     corev1.VolumeArgs
}

// volumes returns the pod's volumes, each mounted once in the server's container.
func (p podValues) volumes() (corev1.VolumeArray, corev1.VolumeMountArray) {
	emptyDir := corev1.VolumeArgs{EmptyDir: &corev1.EmptyDirVolumeSourceArgs{}}
	var all []mountedVolume
	if p.OwnBinary != "" {
		all = append(all, mountedVolume{volumeBinary, binaryDir, true, emptyDir})
	}
	if p.config.Preparation != nil {
		all = append(all, mountedVolume{volumePrepared, workloadconfig.PreparedDir, true, corev1.VolumeArgs{
			EmptyDir: &corev1.EmptyDirVolumeSourceArgs{Medium: pulumi.String("Memory"), SizeLimit: pulumi.String("1Mi")},
		}})
	}
	for _, files := range p.config.SecretFiles {
		all = append(all, mountedVolume{files.Volume, files.Dir, true, secretVolume(p.secrets[files.Secret].name, files.Keys)})
	}
	if p.configMap != nil {
		all = append(all, mountedVolume{"config", workloadconfig.ConfigDir, true, corev1.VolumeArgs{
			ConfigMap: &corev1.ConfigMapVolumeSourceArgs{Name: p.configMap},
		}})
	}
	if p.claim != nil {
		all = append(all, mountedVolume{"data", workloadconfig.DataDir, false, corev1.VolumeArgs{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSourceArgs{ClaimName: p.claim},
		}})
	}
	all = append(all, mountedVolume{volumeTemp, "/tmp", false, emptyDir})

	var volumes corev1.VolumeArray
	var mounts corev1.VolumeMountArray
	for _, v := range all {
		v.source.Name = pulumi.String(v.name)
		volumes = append(volumes, v.source)
		mounts = append(mounts, corev1.VolumeMountArgs{
			Name: pulumi.String(v.name), MountPath: pulumi.String(v.path), ReadOnly: pulumi.Bool(v.readOnly),
		})
	}
	return volumes, mounts
}

// secretVolume presents some keys of a Secret as files.
func secretVolume(name pulumi.StringInput, keys []string) corev1.VolumeArgs {
	var items corev1.KeyToPathArray
	for _, k := range keys {
		items = append(items, corev1.KeyToPathArgs{Key: pulumi.String(k), Path: pulumi.String(k)})
	}
	return corev1.VolumeArgs{Secret: &corev1.SecretVolumeSourceArgs{SecretName: stringPtr(name), Items: items}}
}
