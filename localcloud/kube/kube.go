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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

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
	Memory  string           // folder on a tmpfs, for the files of Secrets
	Key     string           // seals Secrets in the state
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
	watches map[string]context.CancelFunc // liveness, by pod
	applies map[string]*sync.Mutex        // one at a time, by workload
}

// objects is the runner's whole state, kept as one file.
type objects struct {
	ConfigMaps map[string]corev1.ConfigMap
	Secrets    map[string]corev1.Secret `json:"-"`
	Sealed     []byte                   // Secrets
	Services   map[string]corev1.Service
	Workloads  map[string]workload
	Addresses  map[string]string // pod address by workload, kept for good
}

// workload is a Deployment, DaemonSet or StatefulSet.
type workload struct {
	Kind, Namespace, Name string
	Template              corev1.PodTemplateSpec
	ProgressSeconds       int32  // spec.progressDeadlineSeconds, if set
	Absent                string // why it does not run
}

// deadline is how long the workload may take to be ready.
func (w workload) deadline() time.Duration {
	if w.ProgressSeconds > 0 {
		return time.Duration(w.ProgressSeconds) * time.Second
	}
	return readyDeadline
}

// Status is how a workload fares.
type Status struct {
	Kind, Namespace, Name string
	Running               bool
	Restarts              int
	Reason                string
}

func key(namespace, name string) string { return namespace + "/" + name }

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
		w := workload{Kind: kind, Namespace: d.Namespace, Name: d.Name, Template: d.Spec.Template}
		if d.Spec.ProgressDeadlineSeconds != nil {
			w.ProgressSeconds = *d.Spec.ProgressDeadlineSeconds
		}
		return r.apply(ctx, w)
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
	return r.change(func(o *objects) { put(o, v) })
}

// Delete forgets an object and ends its pod.
func (r *Runner) Delete(ctx context.Context, kind, namespace, name string) error {
	k := key(namespace, name)
	forget := func(*objects) {}
	switch kind {
	case "ConfigMap":
		forget = func(o *objects) { delete(o.ConfigMaps, k) }
	case "Secret":
		forget = func(o *objects) { delete(o.Secrets, k) }
	case "Service":
		if err := r.closeNodePorts(ctx, namespace, name); err != nil {
			return err
		}
		forget = func(o *objects) { delete(o.Services, k) }
	case "PersistentVolumeClaim":
		return os.RemoveAll(r.claimDir(namespace, name))
	case "Deployment", "DaemonSet", "StatefulSet":
		defer r.alone(k)()
		r.mu.Lock()
		w, known := r.objects.Workloads[k]
		r.mu.Unlock()
		if known {
			r.stop(ctx, w)
		}
		if err := r.Region.Remove(podName(namespace, name)); err != nil {
			return err
		}
		forget = func(o *objects) { delete(o.Workloads, k) }
	}
	return r.change(forget)
}

// alone waits until nobody else applies a workload; what it returns lets the
// next one in.
func (r *Runner) alone(k string) func() {
	r.mu.Lock()
	if r.applies == nil {
		r.applies = map[string]*sync.Mutex{}
	}
	if r.applies[k] == nil {
		r.applies[k] = &sync.Mutex{}
	}
	lock := r.applies[k]
	r.mu.Unlock()
	lock.Lock()
	return lock.Unlock
}

// apply starts a workload's pod, or restarts it where its template changed.
func (r *Runner) apply(ctx context.Context, w workload) error {
	defer r.alone(key(w.Namespace, w.Name))()
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
		if had {
			r.stop(ctx, old)
		}
		if err := r.start(ctx, w, image); err != nil {
			return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
		}
	}
	if err := r.change(func(o *objects) { o.Workloads[key(w.Namespace, w.Name)] = w }); err != nil || w.Absent != "" {
		return err
	}
	return r.openNodePorts(ctx, w)
}

func equal(a, b corev1.PodTemplateSpec) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// workloads lists those that are known.
func (r *Runner) workloads() []workload {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.objects.Workloads))
}

// Restore starts, all at once, the pods of an earlier run or of a node that was
// replaced. Pods that run are left alone.
func (r *Runner) Restore(ctx context.Context) error {
	list := r.workloads()
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, w := range list {
		wg.Go(func() { errs[i] = r.apply(ctx, w) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Evict ends all pods, as the end of their node does. The objects stay: they
// are on the node's volume, and Restore starts their pods on the next node.
func (r *Runner) Evict(ctx context.Context) {
	var wg sync.WaitGroup
	for _, w := range r.workloads() {
		wg.Go(func() {
			defer r.alone(key(w.Namespace, w.Name))()
			r.stop(ctx, w)
		})
	}
	wg.Wait()
}

// Forget drops every object and claim, as the loss of the node's volume does.
func (r *Runner) Forget() error {
	return errors.Join(
		os.RemoveAll(filepath.Join(r.Dir, "claims")),
		r.change(func(o *objects) { *o = noObjects() }))
}

// Statuses lists the workloads by name.
func (r *Runner) Statuses(ctx context.Context) []Status {
	list := r.workloads()
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
