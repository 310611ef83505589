package kube

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// environment resolves a container's env and envFrom. fields are the values for
// fieldRef, by field path.
func (r *Runner) environment(namespace string, c corev1.Container, fields map[string]string) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		switch {
		case from.ConfigMapRef != nil:
			cm, ok := r.objects.ConfigMaps[key(namespace, from.ConfigMapRef.Name)]
			if !ok && !isTrue(from.ConfigMapRef.Optional) {
				return nil, fmt.Errorf("configmap %q not found", from.ConfigMapRef.Name)
			}
			for k, v := range cm.Data {
				env[from.Prefix+k] = v
			}
		case from.SecretRef != nil:
			s, ok := r.objects.Secrets[key(namespace, from.SecretRef.Name)]
			if !ok && !isTrue(from.SecretRef.Optional) {
				return nil, fmt.Errorf("secret %q not found", from.SecretRef.Name)
			}
			for k, v := range secretData(s) {
				env[from.Prefix+k] = string(v)
			}
		}
	}
	for _, e := range c.Env {
		v, err := r.resolveVariable(namespace, e, fields)
		if err != nil {
			return nil, err
		}
		env[e.Name] = expand(v, env)
	}
	return env, nil
}

// resolveVariable returns the value of one variable. The caller holds the lock.
func (r *Runner) resolveVariable(namespace string, e corev1.EnvVar, fields map[string]string) (string, error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value, nil
	case from.FieldRef != nil:
		v, ok := fields[from.FieldRef.FieldPath]
		if !ok {
			return "", fmt.Errorf("env %s: fieldPath %q is not one that the local cloud supports", e.Name, from.FieldRef.FieldPath)
		}
		return v, nil
	case from.ConfigMapKeyRef != nil:
		v, ok := r.objects.ConfigMaps[key(namespace, from.ConfigMapKeyRef.Name)].Data[from.ConfigMapKeyRef.Key]
		if !ok && !isTrue(from.ConfigMapKeyRef.Optional) {
			return "", fmt.Errorf("env %s: configmap %s has no key %q", e.Name, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
		}
		return v, nil
	case from.SecretKeyRef != nil:
		v, ok := secretData(r.objects.Secrets[key(namespace, from.SecretKeyRef.Name)])[from.SecretKeyRef.Key]
		if !ok && !isTrue(from.SecretKeyRef.Optional) {
			return "", fmt.Errorf("env %s: secret %s has no key %q", e.Name, from.SecretKeyRef.Name, from.SecretKeyRef.Key)
		}
		return string(v), nil
	case from.ResourceFieldRef != nil:
		return "", nil
	}
	return "", fmt.Errorf("env %s: valueFrom: the local cloud supports fieldRef, configMapKeyRef, secretKeyRef and resourceFieldRef", e.Name)
}

// isTrue reads an optional boolean, such as the field optional of a reference.
func isTrue(b *bool) bool { return b != nil && *b }

// Secret returns the values of a Secret.
func (r *Runner) Secret(namespace, name string) (map[string][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, found := r.objects.Secrets[key(namespace, name)]
	if !found {
		return nil, fmt.Errorf("secret %s/%s not found", namespace, name)
	}
	return secretData(s), nil
}

// secretData merges data and stringData, which wins, as the API server does.
func secretData(s corev1.Secret) map[string][]byte {
	out := map[string][]byte{}
	maps.Copy(out, s.Data)
	for k, v := range s.StringData {
		out[k] = []byte(v)
	}
	return out
}
