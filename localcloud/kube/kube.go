// Package kube runs Kubernetes workloads as processes: each pod is a machine with
// the command, environment, volumes, probes and ports of its manifest. Services
// are host names in all pods; host ports, and the node ports of NodePort Services,
// forward from the control node to the pod.
//
// It is not an API server: objects come from the Kubernetes provider, which has
// checked them. It runs one replica and one container per pod, as the control
// node's workloads need, and refuses manifests with more.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Runner holds the objects and runs their pods.
type Runner struct {
	Region  *region.Region
	Dir     string           // state: objects, pods' volumes
	Memory  string           // folder on a tmpfs, for the files of Secrets
	Key     string           // encrypts Secrets in the state
	Images  map[string]Image // by repository
	Binds   []machine.Bind   // of every pod
	Prepare func(root string) error
	Env     map[string]string // of every pod; the pod's own overrides it
	// Forwards are ports of every pod's own 127.0.0.1 that lead elsewhere.
	Forwards []machine.Forward
	Pods     string // first three octets of the pods' network, "10.42.0"
	Gateway  string
	Node     string // the node's address in the pods' network
	// Control returns the machine that is the node, with the host ports, and its
	// instance metadata.
	Control func() (*region.Machine, machine.Metadata, error)
	// Claims returns the folder of the PersistentVolumeClaims, which is on a volume of
	// the node.
	Claims func() (string, error)
	// Expose makes a pod's port reachable on the host.
	Expose func(workload string, port int32, address string)
	Log    *slog.Logger

	mu             sync.Mutex
	objects        objects
	livenessProbes sync.Map // context.CancelFunc by pod
	locks          sync.Map // *sync.Mutex by workload: one change at a time
}

// objects is the runner's whole state, kept as one file.
type objects struct {
	ConfigMaps map[string]corev1.ConfigMap
	Secrets    map[string]corev1.Secret `json:"-"`
	Sealed     []byte                   // Secrets, encrypted
	Services   map[string]corev1.Service
	Workloads  map[string]workload
	Addresses  map[string]string // pod address by workload; never reused
}

// workload is a Deployment or DaemonSet.
type workload struct {
	Kind, Namespace, Name string
	Template              corev1.PodTemplateSpec
	ProgressSeconds       int32  // spec.progressDeadlineSeconds, if set
	Absent                string // why it does not run
}

func (w workload) key() string { return key(w.Namespace, w.Name) }

// deadline returns the time in which the workload must become ready.
func (w workload) deadline() time.Duration {
	if w.ProgressSeconds > 0 {
		return time.Duration(w.ProgressSeconds) * time.Second
	}
	return readyDeadline
}

// key returns the key of an object in the maps of objects.
func key(namespace, name string) string { return namespace + "/" + name }

// Apply creates or updates an object, given as JSON. A changed pod template restarts
// that workload's pod and no other. Apply ignores kinds that run nothing: the
// provider records them.
func (r *Runner) Apply(ctx context.Context, kind string, raw []byte) error {
	switch kind {
	case "ConfigMap":
		return store(r, kind, raw, func(o *objects, v corev1.ConfigMap) { o.ConfigMaps[key(v.Namespace, v.Name)] = v })
	case "Secret":
		return store(r, kind, raw, func(o *objects, v corev1.Secret) { o.Secrets[key(v.Namespace, v.Name)] = v })
	case "Service":
		return r.applyService(ctx, raw)
	case "Deployment", "DaemonSet":
		w, err := parseWorkload(kind, raw)
		if err != nil {
			return err
		}
		if err := r.apply(ctx, w); err != nil {
			return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
		}
	}
	return nil
}

// parseWorkload decodes what Deployments and DaemonSets have in common.
func parseWorkload(kind string, raw []byte) (workload, error) {
	d, err := decode[appsv1.Deployment](kind, raw)
	if err != nil {
		return workload{}, err
	}
	if d.Spec.Replicas != nil && *d.Spec.Replicas > 1 {
		return workload{}, fmt.Errorf("%s %s: spec.replicas is %d: the local cloud runs one", kind, d.Name, *d.Spec.Replicas)
	}
	w := workload{Kind: kind, Namespace: d.Namespace, Name: d.Name, Template: d.Spec.Template}
	if d.Spec.ProgressDeadlineSeconds != nil {
		w.ProgressSeconds = *d.Spec.ProgressDeadlineSeconds
	}
	return w, nil
}

func decode[T any](kind string, raw []byte) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("decode %s: %w", kind, err)
	}
	return v, nil
}

// store decodes an object and puts it into the state.
func store[T any](r *Runner, kind string, raw []byte, put func(*objects, T)) error {
	v, err := decode[T](kind, raw)
	if err != nil {
		return err
	}
	return r.change(func(o *objects) { put(o, v) })
}

// Delete removes an object and stops its pod.
func (r *Runner) Delete(ctx context.Context, kind, namespace, name string) error {
	if err := r.delete(ctx, kind, namespace, name); err != nil {
		return fmt.Errorf("delete %s %s: %w", kind, name, err)
	}
	return nil
}

func (r *Runner) delete(ctx context.Context, kind, namespace, name string) error {
	k := key(namespace, name)
	switch kind {
	case "ConfigMap":
		return r.change(func(o *objects) { delete(o.ConfigMaps, k) })
	case "Secret":
		return r.change(func(o *objects) { delete(o.Secrets, k) })
	case "Service":
		if err := r.closeNodePorts(ctx, namespace, name); err != nil {
			return err
		}
		return r.change(func(o *objects) { delete(o.Services, k) })
	case "PersistentVolumeClaim":
		dir, err := r.claimDir(namespace, name)
		if err != nil {
			return err
		}
		return os.RemoveAll(dir)
	case "Deployment", "DaemonSet":
		defer r.lockWorkload(k)()
		if w, found := r.workload(k); found {
			r.stop(ctx, w)
		}
		if err := r.Region.Remove(podName(name)); err != nil {
			return err
		}
		return r.change(func(o *objects) { delete(o.Workloads, k) })
	}
	return nil
}

// workload returns the workload with a key, if there is one.
func (r *Runner) workload(k string) (workload, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, found := r.objects.Workloads[k]
	return w, found
}

// lockWorkload locks a workload against other changes and returns the unlock.
func (r *Runner) lockWorkload(k string) (unlock func()) {
	lock, _ := r.locks.LoadOrStore(k, &sync.Mutex{})
	mutex, _ := lock.(*sync.Mutex)
	mutex.Lock()
	return mutex.Unlock
}

// apply starts a workload's pod, or restarts it if its template changed.
func (r *Runner) apply(ctx context.Context, w workload) error {
	defer r.lockWorkload(w.key())()
	if n := len(w.Template.Spec.Containers); n != 1 {
		return fmt.Errorf("spec.template.spec.containers has %d entries: the local cloud runs one container per pod", n)
	}
	image, err := r.image(w.Template.Spec.Containers[0].Image)
	if err != nil {
		return err
	}
	w.Absent = image.Absent
	old, existed := r.workload(w.key())
	_, runs := r.Region.Machine(podName(w.Name))
	unchanged := existed && sameTemplate(old.Template, w.Template) && (runs || w.Absent != "")
	if !unchanged && w.Absent == "" {
		if existed {
			r.stop(ctx, old)
		}
		if err := r.start(ctx, w, image); err != nil {
			return err
		}
	}
	if err := r.change(func(o *objects) { o.Workloads[w.key()] = w }); err != nil {
		return err
	}
	return r.openNodePorts(ctx, w)
}

// sameTemplate compares two pod templates.
func sameTemplate(a, b corev1.PodTemplateSpec) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// workloads lists the workloads in no order.
func (r *Runner) workloads() []workload {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.objects.Workloads))
}

// Restore starts the pods that are not running, concurrently: those of an earlier
// run, or of a node that was replaced.
func (r *Runner) Restore(ctx context.Context) error {
	list := r.workloads()
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, w := range list {
		wg.Go(func() {
			if err := r.apply(ctx, w); err != nil {
				errs[i] = fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Evict stops all pods, as the termination of their node does. It keeps the objects,
// which are on the node's volume: Restore starts their pods on the next node.
func (r *Runner) Evict(ctx context.Context) {
	var wg sync.WaitGroup
	for _, w := range r.workloads() {
		wg.Go(func() {
			defer r.lockWorkload(w.key())()
			r.stop(ctx, w)
		})
	}
	wg.Wait()
}

// DeleteAll deletes every object, as the loss of the node's volume does, which holds
// the claims too.
func (r *Runner) DeleteAll() error {
	if err := r.change(func(o *objects) { *o = emptyObjects() }); err != nil {
		return fmt.Errorf("delete every Kubernetes object: %w", err)
	}
	return nil
}

func podName(workload string) string { return "pod-" + workload }
