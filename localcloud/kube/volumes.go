package kube

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// claimDir is the folder of a PersistentVolumeClaim; it outlives pods.
func (r *Runner) claimDir(namespace, name string) string {
	return filepath.Join(r.Dir, "claims", namespace, name)
}

// volumes fills the pod's volumes and gives the binds of its mounts, those of
// init containers included. controlRoot is what host paths are under.
func (r *Runner) volumes(w workload, controlRoot string) ([]machine.Bind, error) {
	base, secret := filepath.Join(r.Dir, "pods", w.Name), filepath.Join(r.Memory, w.Name)
	if err := errors.Join(os.RemoveAll(base), os.RemoveAll(secret)); err != nil {
		return nil, err
	}
	pod := w.Template.Spec
	dirs := map[string]string{}
	for _, v := range pod.Volumes {
		at := filepath.Join(base, v.Name)
		if v.Secret != nil {
			at = filepath.Join(secret, v.Name)
		}
		dir, err := r.volume(w.Namespace, v, at, controlRoot)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		if err := own(dir, pod, v); err != nil {
			return nil, err
		}
		dirs[v.Name] = dir
	}
	var binds []machine.Bind
	seen := map[string]bool{}
	for _, c := range append(append([]corev1.Container{}, pod.Containers...), pod.InitContainers...) {
		for _, m := range c.VolumeMounts {
			dir, ok := dirs[m.Name]
			if !ok {
				return nil, fmt.Errorf("container %s: volumeMounts names %q, which is no volume of the pod", c.Name, m.Name)
			}
			if seen[m.MountPath] {
				continue
			}
			seen[m.MountPath] = true
			// A file system that one container may write is writable for the pod:
			// its containers share one machine.
			binds = append(binds, machine.Bind{From: filepath.Join(dir, m.SubPath), To: m.MountPath})
		}
	}
	return binds, nil
}

func (r *Runner) volume(namespace string, v corev1.Volume, dir, controlRoot string) (string, error) {
	switch {
	case v.ConfigMap != nil:
		r.mu.Lock()
		cm, ok := r.objects.ConfigMaps[key(namespace, v.ConfigMap.Name)]
		r.mu.Unlock()
		if !ok && !optional(v.ConfigMap.Optional) {
			return "", fmt.Errorf("configmap %q not found", v.ConfigMap.Name)
		}
		files := map[string][]byte{}
		for k, text := range cm.Data {
			files[k] = []byte(text)
		}
		for k, b := range cm.BinaryData {
			files[k] = b
		}
		return dir, writeFiles(dir, files, v.ConfigMap.Items)
	case v.Secret != nil:
		r.mu.Lock()
		s, ok := r.objects.Secrets[key(namespace, v.Secret.SecretName)]
		r.mu.Unlock()
		if !ok && !optional(v.Secret.Optional) {
			return "", fmt.Errorf("secret %q not found", v.Secret.SecretName)
		}
		return dir, writeFiles(dir, secretData(s), v.Secret.Items)
	case v.EmptyDir != nil:
		return dir, writable(dir)
	case v.HostPath != nil:
		path := filepath.Join(controlRoot, v.HostPath.Path)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return path, os.MkdirAll(path, 0o755)
	case v.PersistentVolumeClaim != nil:
		path := r.claimDir(namespace, v.PersistentVolumeClaim.ClaimName)
		return path, writable(path)
	}
	return "", fmt.Errorf("a kind that the local cloud does not know (configMap, secret, emptyDir, hostPath, persistentVolumeClaim)")
}

// writable makes a folder for any account, whatever the umask.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.Chmod(dir, 0o777) //nolint:gosec // as the kubelet's
}

func writeFiles(dir string, files map[string][]byte, items []corev1.KeyToPath) error {
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
		if err := os.WriteFile(path, files[it.Key], 0o644); err != nil { //nolint:gosec // mode of a projected file
			return err
		}
	}
	return nil
}

// own gives a volume that is the pod's own to the pod's account and group, as
// fsGroup does. Host paths keep their owner.
func own(dir string, pod corev1.PodSpec, v corev1.Volume) error {
	if region.OneUser() || v.HostPath != nil {
		return nil
	}
	var id, gid int
	if _, err := fmt.Sscanf(user(pod, pod.Containers[0]), "%d:%d", &id, &gid); err != nil {
		return nil //nolint:nilerr // root
	}
	if pod.SecurityContext != nil && pod.SecurityContext.FSGroup != nil {
		gid = int(*pod.SecurityContext.FSGroup)
	}
	return filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, id, gid)
	})
}
