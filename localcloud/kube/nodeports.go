package kube

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// applyService stores a Service and opens its node ports if the pod that it selects
// runs, or something in its place; otherwise they open when the pod starts.
func (r *Runner) applyService(ctx context.Context, raw []byte) error {
	s, err := decode[corev1.Service]("Service", raw)
	if err != nil {
		return err
	}
	for i, p := range s.Spec.Ports {
		if s.Spec.Type == corev1.ServiceTypeNodePort && p.NodePort == 0 {
			return fmt.Errorf("service %s: spec.ports[%d].nodePort is not set: the local cloud allocates none; set one", s.Name, i)
		}
	}
	if err := r.replaceService(ctx, s); err != nil {
		return fmt.Errorf("replace service %s: %w", s.Name, err)
	}
	return nil
}

// replaceService closes the node ports of the old Service, stores the new one, opens
// its node ports and updates host names.
func (r *Runner) replaceService(ctx context.Context, s corev1.Service) error {
	if err := r.closeNodePorts(ctx, s.Namespace, s.Name); err != nil {
		return err
	}
	if err := r.change(func(o *objects) { o.Services[key(s.Namespace, s.Name)] = s }); err != nil {
		return err
	}
	for _, w := range r.workloads() {
		if err := r.openNodePorts(ctx, w); err != nil {
			return err
		}
	}
	return r.writeHosts()
}

// endpoint returns the host that a workload's node ports lead to: its pod, or what
// stands in for it; "" if neither runs.
func (r *Runner) endpoint(w workload) string {
	if _, runs := r.Region.Machine(podName(w.Name)); runs {
		return r.address(w.Name)
	}
	image, err := r.image(w.Template.Spec.Containers[0].Image)
	if err != nil {
		return ""
	}
	return image.StandIn
}

// openNodePorts forwards the node ports of all Services that select w's pod to it, or
// to what stands in for it; it reopens ports that are open. Call it after w is stored:
// if a pod and its Service are applied at the same time, the later one then finds the
// other.
func (r *Runner) openNodePorts(ctx context.Context, w workload) error {
	endpoint := r.endpoint(w)
	if endpoint == "" {
		return nil
	}
	control, _, err := r.Control()
	if err != nil {
		return err
	}
	for _, f := range r.nodePorts(w, endpoint) {
		if f.KeepSource {
			if err := r.replyThroughNode(ctx, w, f.To); err != nil {
				return err
			}
		}
		if err := control.Forward(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// replyThroughNode has a workload's pod send what it answers at an address back to the node, which
// forwards connections to it with their clients' addresses.
func (r *Runner) replyThroughNode(ctx context.Context, w workload, address string) error {
	pod, runs := r.Region.Machine(podName(w.Name))
	if !runs {
		return nil // it has ended since
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("node ports of %s: %w", w.Name, err)
	}
	return pod.ReplyThrough(ctx, machine.ReplyThrough{Port: int(target.Port()), Router: r.Node})
}

// nodePorts returns the forwards from the node to the endpoint of w.
func (r *Runner) nodePorts(w workload, endpoint string) []machine.Forward {
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
			out = append(out, machine.Forward{
				Port: int(p.NodePort), To: net.JoinHostPort(endpoint, target),
				KeepSource: s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && endpoint == r.objects.Addresses[w.Name],
			})
		}
	}
	return out
}

// closeNodePorts closes the node ports of a Service.
func (r *Runner) closeNodePorts(ctx context.Context, namespace, name string) error {
	r.mu.Lock()
	s := r.objects.Services[key(namespace, name)]
	r.mu.Unlock()
	if s.Spec.Type != corev1.ServiceTypeNodePort {
		return nil
	}
	control, _, err := r.Control()
	if err != nil {
		return nil //nolint:nilerr // without the node, its ports are closed
	}
	for _, p := range s.Spec.Ports {
		if err := control.Forward(ctx, machine.Forward{Port: int(p.NodePort)}); err != nil {
			return err
		}
	}
	return nil
}
