package kube

import (
	"context"
	"slices"
	"strings"
)

// Status is the state of a workload.
type Status struct {
	Kind, Namespace, Name string
	Running               bool
	Restarts              int
	Reason                string // why it does not run
}

// Absent returns the workloads whose images do not run here, with the reasons.
func (r *Runner) Absent() map[string]string {
	reasons := map[string]string{}
	for _, w := range r.workloads() {
		if w.Absent != "" {
			reasons[w.Name] = w.Absent
		}
	}
	return reasons
}

// Statuses lists the workloads by name.
func (r *Runner) Statuses(ctx context.Context) []Status {
	list := r.workloads()
	out := make([]Status, 0, len(list))
	for _, w := range list {
		st := Status{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, Reason: w.Absent}
		if m, ok := r.Region.Machine(podName(w.Name)); ok {
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
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return out
}
