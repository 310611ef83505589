package kube

import (
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// environment resolves a container's env and envFrom, as far as the control node's
// workloads use them. fields are the values for fieldRef, by field path.
func (r *Runner) environment(namespace string, c corev1.Container, fields map[string]string) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		if from.ConfigMapRef == nil || from.Prefix != "" {
			return nil, errors.New("envFrom: the local cloud supports configMapRef without a prefix only")
		}
		cm, ok := r.objects.ConfigMaps[key(namespace, from.ConfigMapRef.Name)]
		if !ok {
			return nil, fmt.Errorf("configmap %q not found", from.ConfigMapRef.Name)
		}
		maps.Copy(env, cm.Data)
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
	case from.SecretKeyRef != nil:
		v, ok := secretData(r.objects.Secrets[key(namespace, from.SecretKeyRef.Name)])[from.SecretKeyRef.Key]
		if !ok {
			return "", fmt.Errorf("env %s: secret %s has no key %q", e.Name, from.SecretKeyRef.Name, from.SecretKeyRef.Key)
		}
		return string(v), nil
	}
	return "", fmt.Errorf("env %s: valueFrom: the local cloud supports fieldRef and secretKeyRef only", e.Name)
}

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
