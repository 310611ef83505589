package kube

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// readyDeadline is how long a workload may take to be ready where its manifest
// does not say (spec.progressDeadlineSeconds). Kubernetes' own is 10 minutes;
// nothing has to be pulled here.
const readyDeadline = 3 * time.Minute

// ready waits for the readiness probe, or without one for a running process.
func (p *pod) ready(ctx context.Context, deadline time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	var why error
	for {
		err := p.runs(ctx)
		if err == nil {
			err = p.probe(ctx, p.container.ReadinessProbe)
		}
		if err == nil {
			return nil
		}
		if why == nil || ctx.Err() == nil { // the deadline's own error says nothing
			why = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w", deadline, why)
		case <-tick.C:
		}
	}
}

// runs tells why the container's process does not run.
func (p *pod) runs(ctx context.Context) error {
	u, err := p.unit(ctx)
	if err == nil && !u.Active {
		err = fmt.Errorf("its process does not run (started %d times): %s", u.Restarts+1, u.Result)
	}
	return err
}

func (p *pod) unit(ctx context.Context) (machine.Unit, error) {
	units, err := p.Units(ctx)
	if err == nil && len(units) == 0 {
		err = errors.New("its process was not started")
	}
	if err != nil {
		return machine.Unit{}, err
	}
	return units[0], nil
}

// probe asks once; no probe is a success.
func (p *pod) probe(ctx context.Context, probe *corev1.Probe) error {
	if probe == nil {
		return nil
	}
	timeout := time.Duration(max(probe.TimeoutSeconds, 1)) * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		return probeHTTP(ctx, p.Machine, p.container, probe.HTTPGet)
	case probe.TCPSocket != nil:
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(p.Address(), portOf(probe.TCPSocket.Port, p.container)))
		if err == nil {
			conn.Close()
		}
		return err
	case probe.Exec != nil:
		return p.Must(ctx, machine.Exec{Argv: probe.Exec.Command, Env: p.env, User: p.user})
	}
	return errors.New("a probe that the local cloud does not know (httpGet, tcpSocket, exec)")
}

// watch asks the liveness probe for as long as the pod is there, and has the
// container start again when it failed as often as the probe allows.
func (r *Runner) watch(p *pod) {
	probe := p.container.LivenessProbe
	if probe == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.mu.Lock()
	if r.watches == nil {
		r.watches = map[string]context.CancelFunc{}
	}
	r.watches[p.Name] = cancel
	r.mu.Unlock()
	go func() {
		pause := time.Duration(probe.InitialDelaySeconds) * time.Second
		for failures := int32(0); ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			pause = period(probe)
			if err := p.probe(ctx, probe); err == nil {
				failures = 0
				continue
			}
			if failures++; failures < threshold(probe) {
				continue
			}
			r.Log.Warn("liveness probe failed, container starts again", "pod", p.Name, "failures", failures)
			p.kill(ctx)
			failures, pause = 0, time.Duration(probe.InitialDelaySeconds)*time.Second+period(probe)
		}
	}()
}

func (r *Runner) unwatch(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.watches[name]; cancel != nil {
		cancel()
		delete(r.watches, name)
	}
}

// Kubernetes' defaults of a probe: every 10 s, 3 failures.
func period(p *corev1.Probe) time.Duration {
	if p.PeriodSeconds == 0 {
		return 10 * time.Second
	}
	return time.Duration(p.PeriodSeconds) * time.Second
}

func threshold(p *corev1.Probe) int32 {
	if p.FailureThreshold == 0 {
		return 3
	}
	return p.FailureThreshold
}

// kill ends the container's process, which its unit then starts again.
func (p *pod) kill(ctx context.Context) {
	u, err := p.unit(ctx)
	if err != nil || u.PID == 0 {
		return
	}
	const script = `kill -TERM "$0"; timeout "$1" tail --pid="$0" -f /dev/null || kill -KILL "$0"`
	_ = p.Must(ctx, machine.Exec{Argv: []string{"bash", "-c", script, strconv.Itoa(u.PID), strconv.Itoa(int(p.grace.Seconds()))}})
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
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as the kubelet's probes
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
