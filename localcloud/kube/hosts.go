package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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
	for _, w := range r.workloads() {
		if m, ok := r.Region.Machine(podName(w.Namespace, w.Name)); ok {
			if err := os.WriteFile(filepath.Join(m.Root, "etc/hosts"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil { //nolint:gosec // as on any Linux
				return err
			}
		}
	}
	return nil
}
