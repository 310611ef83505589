package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// applyService keeps a Service and opens its node ports, if the pod behind it
// runs already; otherwise they open when it starts.
func (r *Runner) applyService(ctx context.Context, raw []byte) error {
	var s corev1.Service
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	for i, p := range s.Spec.Ports {
		if s.Spec.Type == corev1.ServiceTypeNodePort && p.NodePort == 0 {
			return fmt.Errorf("Service %s: spec.ports[%d].nodePort is not set: the local cloud allots none; name one", s.Name, i)
		}
	}
	if err := r.closeNodePorts(ctx, s.Namespace, s.Name); err != nil {
		return err
	}
	if err := keep(r, raw, func(o *objects, v corev1.Service) { o.Services[key(v.Namespace, v.Name)] = v }); err != nil {
		return err
	}
	for _, w := range r.running() {
		if err := r.openNodePorts(ctx, w); err != nil {
			return err
		}
	}
	return r.writeHosts()
}

// running gives the workloads whose pods run.
func (r *Runner) running() []workload {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []workload
	for _, w := range r.objects.Workloads {
		if _, ok := r.Region.Machine(podName(w.Namespace, w.Name)); ok {
			out = append(out, w)
		}
	}
	return out
}

// openNodePorts leads the node ports of all Services that select w's pod there.
// A port that is open already is opened anew. It is called once w is kept, so
// that of a pod and a Service at the same time the later one finds the other.
func (r *Runner) openNodePorts(ctx context.Context, w workload) error {
	control, _, err := r.Control()
	if err != nil {
		return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
	}
	ip := r.address(w.Name)
	for _, f := range r.nodePorts(w, ip) {
		if err := control.Forward(ctx, f); err != nil {
			return fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
		}
	}
	return nil
}

func (r *Runner) nodePorts(w workload, ip string) []machine.Forward {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []machine.Forward
	for _, s := range r.objects.Services {
		selects := len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(w.Template.Labels))
		if s.Spec.Type != corev1.ServiceTypeNodePort || s.Namespace != w.Namespace || !selects {
			continue
		}
		for _, p := range s.Spec.Ports {
			target := portOf(p.TargetPort, w.Template.Spec.Containers[0])
			if target == "0" { // Kubernetes' default
				target = strconv.Itoa(int(p.Port))
			}
			out = append(out, machine.Forward{Port: int(p.NodePort), To: net.JoinHostPort(ip, target)})
		}
	}
	return out
}

// closeNodePorts ends what a Service opened.
func (r *Runner) closeNodePorts(ctx context.Context, namespace, name string) error {
	r.mu.Lock()
	s := r.objects.Services[key(namespace, name)]
	r.mu.Unlock()
	if s.Spec.Type != corev1.ServiceTypeNodePort {
		return nil
	}
	control, _, err := r.Control()
	if err != nil {
		return nil //nolint:nilerr // without the node its ports are closed
	}
	for _, p := range s.Spec.Ports {
		if err := control.Forward(ctx, machine.Forward{Port: int(p.NodePort)}); err != nil {
			return fmt.Errorf("Service %s: %w", name, err)
		}
	}
	return nil
}
