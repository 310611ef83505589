package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// claimDir returns the folder of a PersistentVolumeClaim; it outlives pods and their
// node.
func (r *Runner) claimDir(namespace, name string) (string, error) {
	dir, err := r.Claims()
	if err != nil {
		return "", fmt.Errorf("find the volume of claim %s: %w", name, err)
	}
	return filepath.Join(dir, namespace, name), nil
}

// prepareVolumes fills the pod's volumes and returns the binds of its mounts, init
// containers' included.
func (r *Runner) prepareVolumes(w workload) ([]machine.Bind, error) {
	base, secret := filepath.Join(r.Dir, "pods", w.Name), filepath.Join(r.Memory, w.Name)
	if err := errors.Join(os.RemoveAll(base), os.RemoveAll(secret)); err != nil {
		return nil, err
	}
	pod := w.Template.Spec
	dirs := map[string]string{}
	for _, v := range pod.Volumes {
		at := filepath.Join(base, v.Name)
		if v.Secret != nil || (v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory) {
			at = filepath.Join(secret, v.Name)
		}
		dir, err := r.prepareVolume(w.Namespace, v, at)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		if err := chownVolume(dir, pod); err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		dirs[v.Name] = dir
	}
	return volumeBinds(pod, dirs)
}

// volumeBinds returns the binds of a pod's volumeMounts; dirs are its volumes by name.
func volumeBinds(pod corev1.PodSpec, dirs map[string]string) ([]machine.Bind, error) {
	var binds []machine.Bind
	seen := map[string]bool{}
	for _, c := range slices.Concat(pod.Containers, pod.InitContainers) {
		for _, m := range c.VolumeMounts {
			dir, ok := dirs[m.Name]
			if !ok {
				return nil, fmt.Errorf("container %s: volumeMounts names %q, which is not a volume of the pod", c.Name, m.Name)
			}
			if seen[m.MountPath] {
				continue
			}
			seen[m.MountPath] = true
			// Ignores readOnly: a pod's containers share one machine, so what one may
			// write all may.
			binds = append(binds, machine.Bind{From: filepath.Join(dir, m.SubPath), To: m.MountPath})
		}
	}
	return binds, nil
}

// prepareVolume fills one volume and returns its folder: dir, unless the volume outlives
// the pod.
func (r *Runner) prepareVolume(namespace string, v corev1.Volume, dir string) (string, error) {
	switch {
	case v.ConfigMap != nil:
		r.mu.Lock()
		cm, ok := r.objects.ConfigMaps[key(namespace, v.ConfigMap.Name)]
		r.mu.Unlock()
		if !ok {
			return "", fmt.Errorf("configmap %q not found", v.ConfigMap.Name)
		}
		if len(cm.BinaryData) > 0 {
			return "", fmt.Errorf("configmap %q has binaryData: the local cloud supports data only", v.ConfigMap.Name)
		}
		return dir, writeFiles(dir, cm.Data, v.ConfigMap.Items)
	case v.Secret != nil:
		r.mu.Lock()
		s, ok := r.objects.Secrets[key(namespace, v.Secret.SecretName)]
		r.mu.Unlock()
		if !ok {
			return "", fmt.Errorf("secret %q not found", v.Secret.SecretName)
		}
		return dir, writeFiles(dir, secretData(s), v.Secret.Items)
	case v.EmptyDir != nil:
		return dir, makeWritable(dir)
	case v.PersistentVolumeClaim != nil:
		path, err := r.claimDir(namespace, v.PersistentVolumeClaim.ClaimName)
		if err != nil {
			return "", err
		}
		return path, makeWritable(path)
	}
	return "", errors.New("the local cloud supports configMap, secret, emptyDir and persistentVolumeClaim only")
}

// makeWritable creates a folder that any account may write, whatever the umask.
func makeWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.Chmod(dir, 0o777)
}

// writeFiles writes files to a volume: all, or the given items under their paths.
func writeFiles[T string | []byte](dir string, files map[string]T, items []corev1.KeyToPath) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if len(items) == 0 {
		for k := range files {
			items = append(items, corev1.KeyToPath{Key: k, Path: k})
		}
	}
	for _, it := range items {
		path := filepath.Join(dir, it.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[it.Key]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// chownVolume gives a volume to the pod's account and group, as fsGroup does.
func chownVolume(dir string, pod corev1.PodSpec) error {
	if region.SingleUID() {
		return nil
	}
	uid, gid, root := runAsIDs(pod, pod.Containers[0])
	if root {
		return nil
	}
	if pod.SecurityContext != nil && pod.SecurityContext.FSGroup != nil {
		gid = *pod.SecurityContext.FSGroup
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(uid), int(gid))
	})
}
