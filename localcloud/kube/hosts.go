package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// address returns a workload's pod address, which never changes. The Service with
// the workload's name resolves to it.
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

// serviceHosts returns the host names of Services by pod address. NodePort Services
// have none: they are for clients outside the cluster.
func (r *Runner) serviceHosts() map[string][]string {
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

// writeHosts updates /etc/hosts of every running pod.
func (r *Runner) writeHosts() error {
	content := strings.Join(machine.HostsLines(r.serviceHosts()), "\n") + "\n"
	for _, w := range r.runningWorkloads() {
		path := filepath.Join(r.Region.Root(podName(w.Name)), "etc/hosts")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return fmt.Errorf("update the host names of pod %s: %w", w.Name, err)
		}
	}
	return nil
}

// runningWorkloads lists the workloads whose pods run.
func (r *Runner) runningWorkloads() []workload {
	return slices.DeleteFunc(r.workloads(), func(w workload) bool {
		_, runs := r.Region.Machine(podName(w.Name))
		return !runs
	})
}
