package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// unitName is the systemd unit of the container in its pod's machine.
const unitName = "container"

// containerLog is the container's output in its pod's machine.
const containerLog = "/var/log/container.log"

// pod is a workload's machine, with its container, account and environment.
type pod struct {
	*region.Machine
	container corev1.Container
	grace     time.Duration
	user      string
	env       map[string]string
}

// start boots the pod's machine, runs its init containers and its container,
// waits until it is ready, and opens its ports.
func (r *Runner) start(ctx context.Context, w workload, image Image) error {
	control, meta, err := r.Control()
	if err != nil {
		return err
	}
	spec := w.Template.Spec
	ip := r.address(w.Name)
	fields := map[string]string{
		"status.podIP": ip, "status.hostIP": control.Address(), "spec.nodeName": control.Hostname,
		"metadata.name": podName(w.Name), "metadata.namespace": w.Namespace, "spec.serviceAccountName": spec.ServiceAccountName,
	}
	env, err := r.environment(w.Namespace, spec.Containers[0], fields)
	if err != nil {
		return err
	}
	maps.Copy(env, image.Env)
	m, err := r.boot(ctx, w, image, meta, ip)
	if err != nil {
		return err
	}
	for _, f := range r.Forwards {
		if err := m.Forward(ctx, f); err != nil {
			r.Region.Stop(m.Name)
			return err
		}
	}
	p := &pod{Machine: m, container: spec.Containers[0], grace: gracePeriod(spec), user: runAsUser(spec, spec.Containers[0]), env: env}
	if err := r.runContainers(ctx, w, image, p, fields); err != nil {
		end := logTail(filepath.Join(m.Root, containerLog))
		r.Region.Stop(m.Name)
		return fmt.Errorf("%w%s", err, end)
	}
	if err := r.openPorts(ctx, p, control, w.Name); err != nil {
		return err
	}
	r.startLivenessProbe(p)
	return nil
}

// openPorts forwards the container's host ports from the node, and exposes every
// port of the container.
func (r *Runner) openPorts(ctx context.Context, p *pod, control *region.Machine, workload string) error {
	for _, port := range p.container.Ports {
		to := net.JoinHostPort(p.Address(), strconv.Itoa(int(port.ContainerPort)))
		if port.HostPort != 0 {
			if err := control.Forward(ctx, machine.Forward{Port: int(port.HostPort), To: to}); err != nil {
				return err
			}
		}
		r.Expose(workload, port.ContainerPort, to)
	}
	return nil
}

// boot boots the pod's machine with its volumes. The pod's own file system starts
// empty.
func (r *Runner) boot(ctx context.Context, w workload, image Image, meta machine.Metadata, ip string) (*region.Machine, error) {
	name := podName(w.Name)
	if err := os.RemoveAll(r.Region.Root(name)); err != nil {
		return nil, err
	}
	mounts, err := r.prepareVolumes(w)
	if err != nil {
		return nil, err
	}
	binds := slices.Concat(r.Binds, image.Binds)
	if image.Binary != "" {
		binds = append(binds, machine.Bind{From: image.Binary, To: image.Entrypoint[0], ReadOnly: true})
	}
	return r.Region.Boot(ctx, machine.Spec{
		Name: name, Hostname: w.Name, Addresses: []string{ip + "/24"}, Gateway: r.Gateway, Binds: append(binds, mounts...),
		Hosts: r.serviceHosts(), Env: r.Env, Metadata: meta,
	})
}

// runContainers runs the init containers, starts the container and waits until it is ready.
func (r *Runner) runContainers(ctx context.Context, w workload, image Image, p *pod, fields map[string]string) error {
	if r.Prepare != nil {
		if err := r.Prepare(p.Root); err != nil {
			return err
		}
	}
	for _, c := range w.Template.Spec.InitContainers {
		if err := r.runInit(ctx, w, c, p, fields); err != nil {
			return fmt.Errorf("init container %s %w", c.Name, err)
		}
	}
	unit, err := unitFile(p, image)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.Root, "etc/systemd/system", unitName+".service"), []byte(unit), 0o600); err != nil {
		return err
	}
	// The environment may hold secrets, so it is in no file.
	if err := p.StartUnitWith(ctx, machine.UnitStart{Name: unitName, Env: p.env}); err != nil {
		return err
	}
	return p.awaitReady(ctx, w.deadline())
}

// runInit runs an init container to its end. Its error continues a sentence that
// begins with the container.
func (r *Runner) runInit(ctx context.Context, w workload, c corev1.Container, p *pod, fields map[string]string) error {
	image, err := r.image(c.Image)
	if err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	env, err := r.environment(w.Namespace, c, fields)
	if err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	res, err := p.Run(ctx, machine.Exec{
		Argv: argv(c, image, env), Env: env, Dir: c.WorkingDir, User: runAsUser(w.Template.Spec, c),
	})
	if err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	if res.ExitCode != 0 {
		return fmt.Errorf("ended with %d: %s", res.ExitCode, res.Tail)
	}
	return nil
}

// unitFile renders the container as a unit. It restarts with a growing delay, as
// under the kubelet, but ten times sooner: there is no image to pull.
func unitFile(p *pod, image Image) (string, error) {
	var words []string
	for _, word := range argv(p.container, image, p.env) {
		quoted, err := quote(word)
		if err != nil {
			return "", err
		}
		words = append(words, quoted)
	}
	return fmt.Sprintf(`[Service]
ExecStart=%s
User=%s
WorkingDirectory=%s
Restart=always
RestartSec=1
RestartSteps=5
RestartMaxDelaySec=30
StandardOutput=append:%s
`, strings.Join(words, " "), p.user, p.container.WorkingDir, containerLog), nil
}

// stop stops a workload's pod as the kubelet does: SIGTERM to its container, and
// SIGKILL after its grace period, or after machined's limit of 15 s.
func (r *Runner) stop(ctx context.Context, w workload) {
	name := podName(w.Name)
	r.stopLivenessProbe(name)
	if m, ok := r.Region.Machine(name); ok {
		limited, cancel := context.WithTimeout(ctx, gracePeriod(w.Template.Spec))
		if err := m.StopUnit(limited, unitName); err != nil && limited.Err() == nil {
			r.Log.Warn("stop container", "pod", name, "error", err)
		}
		cancel()
	}
	r.Region.Stop(name)
}

// gracePeriod returns the time between SIGTERM and SIGKILL; Kubernetes' default is 30 s.
func gracePeriod(spec corev1.PodSpec) time.Duration {
	if spec.TerminationGracePeriodSeconds != nil {
		return time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second
	}
	return 30 * time.Second
}

// argv returns the container's command line: its command and args, or the image's,
// with $(VAR) expanded as Kubernetes does.
func argv(c corev1.Container, image Image, env map[string]string) []string {
	words, args := image.Entrypoint, image.Cmd
	if len(c.Command) > 0 {
		words, args = c.Command, nil
	}
	if len(c.Args) > 0 {
		args = c.Args
	}
	out := slices.Concat(words, args)
	for i, w := range out {
		out[i] = expand(w, env)
	}
	return out
}

// expand replaces $(NAME) by the variable's value.
func expand(s string, env map[string]string) string {
	for k, v := range env {
		s = strings.ReplaceAll(s, "$("+k+")", v)
	}
	return s
}

// quote quotes a word for a unit's ExecStart=.
func quote(word string) (string, error) {
	for _, q := range []string{`"`, "'"} {
		if !strings.Contains(word, q) && !strings.Contains(word, "\n") {
			return q + word + q, nil
		}
	}
	return "", fmt.Errorf("argument %q holds both kinds of quotes or a line break", word)
}

// runAsUser returns the account that a container runs as, for machine.Exec.User.
func runAsUser(pod corev1.PodSpec, c corev1.Container) string {
	uid, gid, root := runAsIDs(pod, c)
	if root {
		return ""
	}
	return fmt.Sprintf("%d:%d", uid, gid)
}

// runAsIDs returns a container's runAsUser and runAsGroup, or root if the first is not
// set. The container's settings override the pod's; the group defaults to 0, as
// on Kubernetes.
func runAsIDs(pod corev1.PodSpec, c corev1.Container) (uid, gid int64, root bool) {
	var runAsUser, runAsGroup *int64
	if s := pod.SecurityContext; s != nil {
		runAsUser, runAsGroup = s.RunAsUser, s.RunAsGroup
	}
	if s := c.SecurityContext; s != nil {
		runAsUser, runAsGroup = cmp.Or(s.RunAsUser, runAsUser), cmp.Or(s.RunAsGroup, runAsGroup)
	}
	if runAsUser == nil {
		return 0, 0, true
	}
	if runAsGroup != nil {
		gid = *runAsGroup
	}
	return *runAsUser, gid, false
}

// logTail returns the end of a container's log in words that end an error's text; ""
// if there is no log.
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
