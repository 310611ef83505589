package kube

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// readyDeadline is Kubernetes' default progressDeadlineSeconds for a
// Deployment, shortened: nothing has to be pulled here.
const readyDeadline = 3 * time.Minute

// start boots the pod's machine, runs its init containers and its container,
// and waits until it is ready.
func (r *Runner) start(ctx context.Context, w workload, image Image) error {
	pod := podName(w.Namespace, w.Name)
	control, meta, err := r.Control()
	if err != nil {
		return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
	}
	spec := w.Template.Spec
	c := spec.Containers[0]
	ip := r.address(w.Name)
	facts := map[string]string{
		"status.podIP": ip, "status.hostIP": control.Address(), "spec.nodeName": control.Hostname,
		"metadata.name": pod, "metadata.namespace": w.Namespace, "spec.serviceAccountName": spec.ServiceAccountName,
	}
	env, err := r.environment(w.Namespace, c, facts)
	if err != nil {
		return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
	}
	for k, v := range r.Env {
		if _, set := env[k]; !set {
			env[k] = v
		}
	}
	if err := os.RemoveAll(r.Region.Root(pod)); err != nil { // a pod's own file system does not outlive it
		return err
	}
	mounts, err := r.volumes(w, control.Root)
	if err != nil {
		return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
	}
	binds := append([]machine.Bind{}, r.Binds...)
	if image.Binary != "" {
		binds = append(binds, machine.Bind{From: image.Binary, To: image.Entrypoint[0], ReadOnly: true})
	}
	binds = append(binds, mounts...)
	m, err := r.Region.Boot(ctx, machine.Spec{
		Name: pod, Hostname: w.Name, Addresses: []string{ip + "/24"}, Gateway: r.Gateway, Binds: binds,
		Hosts: r.hosts(), Env: env, Metadata: meta, OneUser: region.OneUser(),
	})
	if err != nil {
		return err
	}
	if err := r.run(ctx, w, image, m, facts); err != nil {
		tail := logTail(filepath.Join(m.Root, "var/log/container.log"))
		r.Region.Stop(pod)
		return fmt.Errorf("%s %s: %w%s", w.Kind, w.Name, err, tail)
	}
	for _, p := range c.Ports {
		if p.HostPort != 0 {
			if err := control.Forward(ctx, machine.Forward{Port: int(p.HostPort), To: net.JoinHostPort(ip, strconv.Itoa(int(p.ContainerPort)))}); err != nil {
				return err
			}
		}
		r.Expose(w.Name, p.ContainerPort, net.JoinHostPort(ip, strconv.Itoa(int(p.ContainerPort))))
	}
	return nil
}

func (r *Runner) run(ctx context.Context, w workload, image Image, m *region.Machine, facts map[string]string) error {
	if r.Prepare != nil {
		if err := r.Prepare(m.Root); err != nil {
			return err
		}
	}
	for _, c := range w.Template.Spec.InitContainers {
		img, err := r.image(c.Image)
		if err != nil {
			return err
		}
		env, err := r.environment(w.Namespace, c, facts)
		if err != nil {
			return err
		}
		res, err := m.Run(ctx, machine.Exec{Argv: argv(c, img, env), Env: env, Dir: c.WorkingDir, User: user(w.Template.Spec, c)})
		if err != nil {
			return fmt.Errorf("init container %s: %w", c.Name, err)
		}
		if res.ExitCode != 0 {
			return fmt.Errorf("init container %s ended with %d: %s", c.Name, res.ExitCode, res.Tail)
		}
	}
	c := w.Template.Spec.Containers[0]
	line := make([]string, 0, 8)
	for _, word := range argv(c, image, m.Env) {
		q, err := quote(word)
		if err != nil {
			return err
		}
		line = append(line, q)
	}
	unit := fmt.Sprintf("[Service]\nExecStart=%s\nUser=%s\nWorkingDirectory=%s\nRestart=always\nRestartSec=1\nStandardOutput=append:/var/log/container.log\n",
		strings.Join(line, " "), user(w.Template.Spec, c), c.WorkingDir)
	if err := os.WriteFile(filepath.Join(m.Root, "etc/systemd/system/container.service"), []byte(unit), 0o600); err != nil {
		return err
	}
	if err := m.StartUnit(ctx, "container"); err != nil {
		return err
	}
	return r.ready(ctx, m, c)
}

// argv is the container's command line: its own command and args over the
// image's, with $(VAR) expanded as Kubernetes does.
func argv(c corev1.Container, image Image, env map[string]string) []string {
	words := image.Entrypoint
	args := image.Cmd
	if len(c.Command) > 0 {
		words, args = c.Command, nil
	}
	if len(c.Args) > 0 {
		args = c.Args
	}
	out := make([]string, 0, len(words)+len(args))
	for _, w := range append(append([]string{}, words...), args...) {
		out = append(out, expand(w, env))
	}
	return out
}

func expand(s string, env map[string]string) string {
	for k, v := range env {
		s = strings.ReplaceAll(s, "$("+k+")", v)
	}
	return s
}

// quote writes a word for a unit's ExecStart.
func quote(word string) (string, error) {
	for _, q := range []string{`"`, "'"} {
		if !strings.Contains(word, q) && !strings.Contains(word, "\n") {
			return q + word + q, nil
		}
	}
	return "", fmt.Errorf("argument %q holds both kinds of quotes or a line break", word)
}

// user is the account that a container runs as.
func user(pod corev1.PodSpec, c corev1.Container) string {
	if c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil {
		return strconv.FormatInt(*c.SecurityContext.RunAsUser, 10)
	}
	if pod.SecurityContext != nil && pod.SecurityContext.RunAsUser != nil {
		return strconv.FormatInt(*pod.SecurityContext.RunAsUser, 10)
	}
	return ""
}

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

// ready waits for the readiness probe, or without one for a running process.
func (r *Runner) ready(ctx context.Context, m *region.Machine, c corev1.Container) error {
	ctx, cancel := context.WithTimeout(ctx, readyDeadline)
	defer cancel()
	for {
		err := probe(ctx, m, c)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w", readyDeadline, err)
		case <-time.After(150 * time.Millisecond):
		}
	}
}

func probe(ctx context.Context, m *region.Machine, c corev1.Container) error {
	units, err := m.Units(ctx)
	if err != nil {
		return err
	}
	for _, u := range units {
		if !u.Active {
			return errors.New("its process does not run: " + u.Result)
		}
		if u.Restarts > 5 {
			return fmt.Errorf("its process ended %d times", u.Restarts)
		}
	}
	p := c.ReadinessProbe
	if p == nil {
		return nil
	}
	switch {
	case p.HTTPGet != nil:
		return probeHTTP(ctx, m, c, p.HTTPGet)
	case p.TCPSocket != nil:
		d := net.Dialer{Timeout: time.Second}
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(m.Address(), portOf(p.TCPSocket.Port, c)))
		if err == nil {
			conn.Close()
		}
		return err
	case p.Exec != nil:
		return m.Must(ctx, machine.Exec{Argv: p.Exec.Command})
	}
	return nil
}

func probeHTTP(ctx context.Context, m *region.Machine, c corev1.Container, get *corev1.HTTPGetAction) error {
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	url := scheme + "://" + net.JoinHostPort(m.Address(), portOf(get.Port, c)) + "/" + strings.TrimPrefix(get.Path, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as the kubelet's probes
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return nil
}

func portOf(p intstr.IntOrString, c corev1.Container) string {
	if p.Type == intstr.String {
		for _, cp := range c.Ports {
			if cp.Name == p.StrVal {
				return strconv.Itoa(int(cp.ContainerPort))
			}
		}
		return p.StrVal
	}
	return strconv.Itoa(int(p.IntVal))
}

func logTail(path string) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return ""
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return "\nthe end of its log:\n" + string(b)
}
