// Package kube runs Kubernetes workloads as processes: each pod is a machine of
// its own with the command, environment, volumes, probes and ports that its
// manifest gives it. Services are host names of all pods; host ports, and the
// node ports of NodePort Services, lead from the control node to the pod.
//
// It is not an API server: objects come from the Kubernetes provider and have
// been checked there. One replica and one container a pod is what the control
// node's workloads are; more is refused.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Image is what the local cloud knows of a container image.
type Image struct {
	Binary     string   // on the host; empty for images that only lend a shell
	Entrypoint []string // of the image; its first word is where Binary appears
	Cmd        []string // of the image
	Absent     string   // why it cannot run here; such a workload is recorded
}

// Runner holds the objects and their pods.
type Runner struct {
	Region  *region.Region
	Dir     string           // state: objects, volumes
	Images  map[string]Image // by repository
	Binds   []machine.Bind   // in every pod
	Prepare func(root string) error
	Env     map[string]string // of every pod, under its own
	Pods    string            // first three octets of the pods' network, "10.42.0"
	Gateway string
	// Control is the machine that stands for the node: host ports, host paths,
	// instance metadata.
	Control func() (*region.Machine, machine.Metadata, error)
	// Expose makes a pod's port reachable on the host.
	Expose func(workload string, port int32, address string)
	Log    *slog.Logger

	mu      sync.Mutex
	objects objects
}

// objects is the runner's whole state, kept as one file.
type objects struct {
	ConfigMaps map[string]corev1.ConfigMap
	Secrets    map[string]corev1.Secret
	Services   map[string]corev1.Service
	Workloads  map[string]workload
	Addresses  map[string]string // pod address by workload, kept for good
}

// workload is a Deployment, DaemonSet or StatefulSet.
type workload struct {
	Kind, Namespace, Name string
	Template              corev1.PodTemplateSpec
	Absent                string // why it does not run
}

// Status is how a workload fares.
type Status struct {
	Kind, Namespace, Name string
	Running               bool
	Restarts              int
	Reason                string
}

func key(namespace, name string) string { return namespace + "/" + name }

// Open reads the objects of an earlier run; Restore starts their pods.
func (r *Runner) Open() error {
	r.objects = objects{map[string]corev1.ConfigMap{}, map[string]corev1.Secret{}, map[string]corev1.Service{}, map[string]workload{}, map[string]string{}}
	raw, err := os.ReadFile(r.file())
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(r.Dir, 0o700)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, &r.objects)
}

func (r *Runner) file() string { return filepath.Join(r.Dir, "objects.json") }

// save writes the state; the caller holds the lock.
func (r *Runner) save() error {
	raw, err := json.Marshal(r.objects)
	if err != nil {
		return err
	}
	tmp := r.file() + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, r.file())
}

// Apply takes an object, new or changed, as the provider gives it (JSON). A
// changed pod template restarts that workload's pod and no other.
func (r *Runner) Apply(ctx context.Context, kind string, raw []byte) error {
	switch kind {
	case "ConfigMap":
		return keep(r, raw, func(o *objects, v corev1.ConfigMap) { o.ConfigMaps[key(v.Namespace, v.Name)] = v })
	case "Secret":
		return keep(r, raw, func(o *objects, v corev1.Secret) { o.Secrets[key(v.Namespace, v.Name)] = v })
	case "Service":
		return r.applyService(ctx, raw)
	case "Deployment":
		var d appsv1.Deployment
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		if d.Spec.Replicas != nil && *d.Spec.Replicas > 1 {
			return fmt.Errorf("Deployment %s: spec.replicas is %d: the local cloud runs one", d.Name, *d.Spec.Replicas)
		}
		return r.apply(ctx, workload{Kind: kind, Namespace: d.Namespace, Name: d.Name, Template: d.Spec.Template})
	case "DaemonSet":
		var d appsv1.DaemonSet
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		return r.apply(ctx, workload{Kind: kind, Namespace: d.Namespace, Name: d.Name, Template: d.Spec.Template})
	case "StatefulSet":
		var d appsv1.StatefulSet
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		return r.apply(ctx, workload{Kind: kind, Namespace: d.Namespace, Name: d.Name, Template: d.Spec.Template})
	}
	return nil // recorded by the provider; nothing runs for it
}

func keep[T any](r *Runner, raw []byte, put func(*objects, T)) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	put(&r.objects, v)
	return r.save()
}

// Delete forgets an object and ends its pod.
func (r *Runner) Delete(ctx context.Context, kind, namespace, name string) error {
	if kind == "Service" {
		if err := r.closeNodePorts(ctx, namespace, name); err != nil {
			return err
		}
	}
	r.mu.Lock()
	k := key(namespace, name)
	switch kind {
	case "ConfigMap":
		delete(r.objects.ConfigMaps, k)
	case "Secret":
		delete(r.objects.Secrets, k)
	case "Service":
		delete(r.objects.Services, k)
	case "Deployment", "DaemonSet", "StatefulSet":
		delete(r.objects.Workloads, k)
	case "PersistentVolumeClaim":
		if err := os.RemoveAll(r.claimDir(namespace, name)); err != nil {
			r.mu.Unlock()
			return err
		}
	}
	err := r.save()
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if kind == "Deployment" || kind == "DaemonSet" || kind == "StatefulSet" {
		return r.Region.Remove(podName(namespace, name))
	}
	return nil
}

// apply starts a workload's pod, or restarts it where its template changed.
func (r *Runner) apply(ctx context.Context, w workload) error {
	if n := len(w.Template.Spec.Containers); n != 1 {
		return fmt.Errorf("%s %s: spec.template.spec.containers has %d entries: the local cloud runs one container a pod", w.Kind, w.Name, n)
	}
	image, err := r.image(w.Template.Spec.Containers[0].Image)
	if err != nil {
		return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
	}
	w.Absent = image.Absent
	r.mu.Lock()
	old, had := r.objects.Workloads[key(w.Namespace, w.Name)]
	r.mu.Unlock()
	_, runs := r.Region.Machine(podName(w.Namespace, w.Name))
	same := had && equal(old.Template, w.Template) && (runs || w.Absent != "")
	if !same && w.Absent == "" {
		r.Region.Stop(podName(w.Namespace, w.Name))
		if err := r.start(ctx, w, image); err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.objects.Workloads[key(w.Namespace, w.Name)] = w
	err = r.save()
	r.mu.Unlock()
	if err != nil || w.Absent != "" {
		return err
	}
	return r.openNodePorts(ctx, w)
}

func equal(a, b corev1.PodTemplateSpec) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// Restore starts the pods of an earlier run.
func (r *Runner) Restore(ctx context.Context) error {
	r.mu.Lock()
	list := make([]workload, 0, len(r.objects.Workloads))
	for _, w := range r.objects.Workloads {
		list = append(list, w)
	}
	r.mu.Unlock()
	var errs []error
	for _, w := range list {
		errs = append(errs, r.apply(ctx, w))
	}
	return errors.Join(errs...)
}

// Statuses lists the workloads by name.
func (r *Runner) Statuses(ctx context.Context) []Status {
	r.mu.Lock()
	list := make([]workload, 0, len(r.objects.Workloads))
	for _, w := range r.objects.Workloads {
		list = append(list, w)
	}
	r.mu.Unlock()
	out := make([]Status, 0, len(list))
	for _, w := range list {
		st := Status{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, Reason: w.Absent}
		if m, ok := r.Region.Machine(podName(w.Namespace, w.Name)); ok {
			units, err := m.Units(ctx)
			for _, u := range units {
				st.Running, st.Restarts, st.Reason = u.Active, u.Restarts, u.Result
			}
			if err != nil {
				st.Reason = err.Error()
			}
		}
		out = append(out, st)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

func (r *Runner) image(ref string) (Image, error) {
	repository := ref
	if i := strings.Index(repository, "@"); i >= 0 {
		repository = repository[:i]
	}
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	img, ok := r.Images[repository]
	if !ok {
		known := make([]string, 0, len(r.Images))
		for k := range r.Images {
			known = append(known, k)
		}
		sort.Strings(known)
		return Image{}, fmt.Errorf("image %s: the local cloud has no program for it; it knows %s", ref, strings.Join(known, ", "))
	}
	return img, nil
}

func podName(_, name string) string { return "pod-" + name }

// address gives a workload's pod address, the same one each time. Service
// names resolve to it too, so it is settled by name alone.
func (r *Runner) address(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.objects.Addresses[name]; ok {
		return a
	}
	a := fmt.Sprintf("%s.%d", r.Pods, len(r.objects.Addresses)+10)
	r.objects.Addresses[name] = a
	return a
}

// hosts maps pod addresses to the names of the Services that lead to them. A
// NodePort Service is a way in from outside, beside the one for pods.
func (r *Runner) hosts() map[string][]string {
	r.mu.Lock()
	services := make([]corev1.Service, 0, len(r.objects.Services))
	for _, s := range r.objects.Services {
		if s.Spec.Type != corev1.ServiceTypeNodePort {
			services = append(services, s)
		}
	}
	r.mu.Unlock()
	out := map[string][]string{}
	for _, s := range services {
		a := r.address(s.Name)
		n := s.Name + "." + s.Namespace
		out[a] = append(out[a], s.Name, n, n+".svc", n+".svc.cluster.local")
	}
	return out
}

// writeHosts tells every running pod of a new Service.
func (r *Runner) writeHosts() error {
	lines := []string{"127.0.0.1 localhost", "::1 localhost"}
	hosts := r.hosts()
	ips := make([]string, 0, len(hosts))
	for ip := range hosts {
		ips = append(ips, ip)
	}
	sort.Strings(ips)
	for _, ip := range ips {
		lines = append(lines, ip+" "+strings.Join(hosts[ip], " "))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.objects.Workloads {
		if m, ok := r.Region.Machine(podName(w.Namespace, w.Name)); ok {
			if err := os.WriteFile(filepath.Join(m.Root, "etc/hosts"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // as on any Linux
				return err
			}
		}
	}
	return nil
}
