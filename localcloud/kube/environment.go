package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// environment resolves env and envFrom.
func (r *Runner) environment(namespace string, c corev1.Container, facts map[string]string) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		switch {
		case from.ConfigMapRef != nil:
			cm, ok := r.objects.ConfigMaps[key(namespace, from.ConfigMapRef.Name)]
			if !ok && !optional(from.ConfigMapRef.Optional) {
				return nil, fmt.Errorf("configmap %q not found", from.ConfigMapRef.Name)
			}
			for k, v := range cm.Data {
				env[from.Prefix+k] = v
			}
		case from.SecretRef != nil:
			s, ok := r.objects.Secrets[key(namespace, from.SecretRef.Name)]
			if !ok && !optional(from.SecretRef.Optional) {
				return nil, fmt.Errorf("secret %q not found", from.SecretRef.Name)
			}
			for k, v := range secretData(s) {
				env[from.Prefix+k] = string(v)
			}
		}
	}
	for _, e := range c.Env {
		v, err := r.value(namespace, e, facts)
		if err != nil {
			return nil, err
		}
		env[e.Name] = expand(v, env)
	}
	return env, nil
}

func (r *Runner) value(namespace string, e corev1.EnvVar, facts map[string]string) (string, error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value, nil
	case from.FieldRef != nil:
		v, ok := facts[from.FieldRef.FieldPath]
		if !ok {
			return "", fmt.Errorf("env %s: fieldPath %q is not one that the local cloud knows", e.Name, from.FieldRef.FieldPath)
		}
		return v, nil
	case from.ConfigMapKeyRef != nil:
		v, ok := r.objects.ConfigMaps[key(namespace, from.ConfigMapKeyRef.Name)].Data[from.ConfigMapKeyRef.Key]
		if !ok && !optional(from.ConfigMapKeyRef.Optional) {
			return "", fmt.Errorf("env %s: configmap %s has no key %q", e.Name, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
		}
		return v, nil
	case from.SecretKeyRef != nil:
		v, ok := secretData(r.objects.Secrets[key(namespace, from.SecretKeyRef.Name)])[from.SecretKeyRef.Key]
		if !ok && !optional(from.SecretKeyRef.Optional) {
			return "", fmt.Errorf("env %s: secret %s has no key %q", e.Name, from.SecretKeyRef.Name, from.SecretKeyRef.Key)
		}
		return string(v), nil
	case from.ResourceFieldRef != nil:
		return "", nil
	}
	return "", fmt.Errorf("env %s: a source that the local cloud does not know", e.Name)
}

func optional(b *bool) bool { return b != nil && *b }

// secretData merges stringData over data, as the API server does.
func secretData(s corev1.Secret) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range s.Data {
		out[k] = v
	}
	for k, v := range s.StringData {
		out[k] = []byte(v)
	}
	return out
}
