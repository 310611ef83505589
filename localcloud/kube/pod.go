package kube

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// unitName is the unit that a pod's container is in its machine.
const unitName = "container"

// containerLog is where the container's output goes in its machine.
const containerLog = "/var/log/container.log"

// pod is a workload's machine with what its container runs as.
type pod struct {
	*region.Machine
	container corev1.Container
	grace     time.Duration
	user      string
	env       map[string]string
}

// start boots the pod's machine, runs its init containers and its container,
// and waits until it is ready.
func (r *Runner) start(ctx context.Context, w workload, image Image) error {
	control, meta, err := r.Control()
	if err != nil {
		return err
	}
	spec := w.Template.Spec
	ip := r.address(w.Name)
	facts := map[string]string{
		"status.podIP": ip, "status.hostIP": control.Address(), "spec.nodeName": control.Hostname,
		"metadata.name": podName(w.Namespace, w.Name), "metadata.namespace": w.Namespace, "spec.serviceAccountName": spec.ServiceAccountName,
	}
	env, err := r.environment(w.Namespace, spec.Containers[0], facts)
	if err != nil {
		return err
	}
	m, err := r.boot(ctx, w, image, meta, control.Root, ip)
	if err != nil {
		return err
	}
	p := &pod{Machine: m, container: spec.Containers[0], grace: gracePeriod(spec), user: user(spec, spec.Containers[0]), env: env}
	if err := r.run(ctx, w, image, p, facts); err != nil {
		end := logTail(filepath.Join(m.Root, containerLog))
		r.Region.Stop(m.Name)
		return fmt.Errorf("%w%s", err, end)
	}
	for _, port := range p.container.Ports {
		to := net.JoinHostPort(ip, strconv.Itoa(int(port.ContainerPort)))
		if port.HostPort != 0 {
			if err := control.Forward(ctx, machine.Forward{Port: int(port.HostPort), To: to}); err != nil {
				return err
			}
		}
		r.Expose(w.Name, port.ContainerPort, to)
	}
	r.watch(p)
	return nil
}

// boot boots the pod's machine with its volumes. A pod's own file system does
// not outlive it.
func (r *Runner) boot(ctx context.Context, w workload, image Image, meta machine.Metadata, controlRoot, ip string) (*region.Machine, error) {
	name := podName(w.Namespace, w.Name)
	if err := os.RemoveAll(r.Region.Root(name)); err != nil {
		return nil, err
	}
	mounts, err := r.volumes(w, controlRoot)
	if err != nil {
		return nil, err
	}
	binds := append([]machine.Bind{}, r.Binds...)
	if image.Binary != "" {
		binds = append(binds, machine.Bind{From: image.Binary, To: image.Entrypoint[0], ReadOnly: true})
	}
	return r.Region.Boot(ctx, machine.Spec{
		Name: name, Hostname: w.Name, Addresses: []string{ip + "/24"}, Gateway: r.Gateway, Binds: append(binds, mounts...),
		Hosts: r.hosts(), Env: r.Env, Metadata: meta, OneUser: region.OneUser(),
	})
}

func (r *Runner) run(ctx context.Context, w workload, image Image, p *pod, facts map[string]string) error {
	if r.Prepare != nil {
		if err := r.Prepare(p.Root); err != nil {
			return err
		}
	}
	for _, c := range w.Template.Spec.InitContainers {
		img, err := r.image(c.Image)
		if err != nil {
			return err
		}
		env, err := r.environment(w.Namespace, c, facts)
		if err != nil {
			return err
		}
		res, err := p.Run(ctx, machine.Exec{Argv: argv(c, img, env), Env: env, Dir: c.WorkingDir, User: user(w.Template.Spec, c)})
		if err != nil {
			return fmt.Errorf("init container %s: %w", c.Name, err)
		}
		if res.ExitCode != 0 {
			return fmt.Errorf("init container %s ended with %d: %s", c.Name, res.ExitCode, res.Tail)
		}
	}
	unit, err := unitFile(p, image)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.Root, "etc/systemd/system", unitName+".service"), []byte(unit), 0o600); err != nil {
		return err
	}
	// The variables go by memory: some are secrets.
	if err := p.StartUnitWith(ctx, machine.UnitStart{Name: unitName, Env: p.env}); err != nil {
		return err
	}
	return p.ready(ctx, w.deadline())
}

// unitFile is the container as a unit. It starts again as the kubelet does, by
// growing pauses, a tenth as long: nothing has to be pulled.
func unitFile(p *pod, image Image) (string, error) {
	var line []string
	for _, word := range argv(p.container, image, p.env) {
		q, err := quote(word)
		if err != nil {
			return "", err
		}
		line = append(line, q)
	}
	return fmt.Sprintf("[Service]\nExecStart=%s\nUser=%s\nWorkingDirectory=%s\nRestart=always\nRestartSec=1\nRestartSteps=5\nRestartMaxDelaySec=30\nStandardOutput=append:%s\n",
		strings.Join(line, " "), p.user, p.container.WorkingDir, containerLog), nil
}

// stop ends a workload's pod as the kubelet does: its container is told, and
// killed when it has not ended within its grace period (the machine's units
// allow 15 s at most).
func (r *Runner) stop(ctx context.Context, w workload) {
	name := podName(w.Namespace, w.Name)
	r.unwatch(name)
	if m, ok := r.Region.Machine(name); ok {
		told, cancel := context.WithTimeout(ctx, gracePeriod(w.Template.Spec))
		if err := m.StopUnit(told, unitName); err != nil && told.Err() == nil {
			r.Log.Warn("end container", "pod", name, "error", err)
		}
		cancel()
	}
	r.Region.Stop(name)
}

// gracePeriod is how long a container may take to end; Kubernetes' default is
// 30 s.
func gracePeriod(spec corev1.PodSpec) time.Duration {
	if spec.TerminationGracePeriodSeconds != nil {
		return time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second
	}
	return 30 * time.Second
}

// argv is the container's command line: its own command and args over the
// image's, with $(VAR) expanded as Kubernetes does.
func argv(c corev1.Container, image Image, env map[string]string) []string {
	words := image.Entrypoint
	args := image.Cmd
	if len(c.Command) > 0 {
		words, args = c.Command, nil
	}
	if len(c.Args) > 0 {
		args = c.Args
	}
	out := make([]string, 0, len(words)+len(args))
	for _, w := range append(append([]string{}, words...), args...) {
		out = append(out, expand(w, env))
	}
	return out
}

func expand(s string, env map[string]string) string {
	for k, v := range env {
		s = strings.ReplaceAll(s, "$("+k+")", v)
	}
	return s
}

// quote writes a word for a unit's ExecStart.
func quote(word string) (string, error) {
	for _, q := range []string{`"`, "'"} {
		if !strings.Contains(word, q) && !strings.Contains(word, "\n") {
			return q + word + q, nil
		}
	}
	return "", fmt.Errorf("argument %q holds both kinds of quotes or a line break", word)
}

// user is what a container runs as, uid:gid; empty is root. The container's own
// setting is over the pod's; the group is 0 where none is set, as on Kubernetes.
func user(pod corev1.PodSpec, c corev1.Container) string {
	var uid, gid *int64
	if pod.SecurityContext != nil {
		uid, gid = pod.SecurityContext.RunAsUser, pod.SecurityContext.RunAsGroup
	}
	if own := c.SecurityContext; own != nil {
		uid, gid = first(own.RunAsUser, uid), first(own.RunAsGroup, gid)
	}
	if uid == nil {
		return ""
	}
	var group int64
	if gid != nil {
		group = *gid
	}
	return fmt.Sprintf("%d:%d", *uid, group)
}

func first(a, b *int64) *int64 {
	if a != nil {
		return a
	}
	return b
}

func logTail(path string) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return ""
	}
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return "\nthe end of its log:\n" + string(b)
}
