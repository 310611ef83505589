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

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// readyDeadline is the time in which a workload must become ready if its manifest
// sets no spec.progressDeadlineSeconds. Kubernetes' default is 10 minutes, but here
// there is no image to pull.
const readyDeadline = 3 * time.Minute

// awaitReady waits until the readiness probe succeeds; without one, until the process
// runs.
func (p *pod) awaitReady(ctx context.Context, deadline time.Duration) error {
	err := poll.Until(ctx, poll.Options{Interval: 150 * time.Millisecond, Timeout: deadline}, func(ctx context.Context) error {
		if err := p.checkRunning(ctx); err != nil {
			return err
		}
		return p.probe(ctx, p.container.ReadinessProbe)
	})
	if err != nil {
		return fmt.Errorf("not ready %w", err)
	}
	return nil
}

// checkRunning fails if the container's process does not run, with the reason.
func (p *pod) checkRunning(ctx context.Context) error {
	u, err := p.unit(ctx)
	if err == nil && !u.Active {
		err = fmt.Errorf("its process does not run (started %d times): %s", u.Restarts+1, u.Result)
	}
	return err
}

// unit returns the state of the container's unit.
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

// probe runs a probe once; without a probe it succeeds.
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
	return errors.New("a probe that the local cloud does not support; it supports httpGet, tcpSocket and exec")
}

// startLivenessProbe runs the liveness probe for the life of the pod, and restarts the
// container when the probe has failed failureThreshold times in a row.
func (r *Runner) startLivenessProbe(p *pod) {
	probe := p.container.LivenessProbe
	if probe == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.livenessProbes.Store(p.Name, cancel)
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
			r.Log.Warn("liveness probe failed, restart container", "pod", p.Name, "failures", failures)
			p.kill(ctx)
			failures, pause = 0, time.Duration(probe.InitialDelaySeconds)*time.Second+period(probe)
		}
	}()
}

func (r *Runner) stopLivenessProbe(name string) {
	probe, _ := r.livenessProbes.LoadAndDelete(name)
	if cancel, runs := probe.(context.CancelFunc); runs {
		cancel()
	}
}

// period returns the interval of a probe; Kubernetes' default is 10 s.
func period(p *corev1.Probe) time.Duration {
	if p.PeriodSeconds == 0 {
		return 10 * time.Second
	}
	return time.Duration(p.PeriodSeconds) * time.Second
}

// threshold returns how many failures in a row a probe allows; Kubernetes' default is 3.
func threshold(p *corev1.Probe) int32 {
	if p.FailureThreshold == 0 {
		return 3
	}
	return p.FailureThreshold
}

// kill kills the container's process; its unit restarts it.
func (p *pod) kill(ctx context.Context) {
	u, err := p.unit(ctx)
	if err != nil || u.PID == 0 {
		return
	}
	const script = `kill -TERM "$0"; timeout "$1" tail --pid="$0" -f /dev/null || kill -KILL "$0"`
	_ = p.Must(ctx, machine.Exec{Argv: []string{"bash", "-c", script, strconv.Itoa(u.PID), strconv.Itoa(int(p.grace.Seconds()))}})
}

// probeHTTP sends the request of an httpGet probe; a status of 400 or more fails.
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
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as the kubelet's probes
	}}
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

// portOf returns a port's number; it may be given by its name in the container.
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
