package kube_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// serverScript serves HTTP on port 8080 a second after its start: 200 for /ok, else 404.
const serverScript = `mkdir -p /tmp/www && touch /tmp/www/ok; sleep 1; cd /tmp/www && exec python3 -m http.server 8080`

// withWebPort adds the port of serverScript to the container.
func withWebPort(_ *appsv1.Deployment, c *corev1.Container) {
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, HostPort: 18080}}
}

func httpProbe(path string) corev1.ProbeHandler {
	return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http")}}
}

func TestApplyWaitsForReadiness(t *testing.T) {
	for name, h := range map[string]corev1.ProbeHandler{
		"http": httpProbe("/ok"),
		"tcp":  {TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}},
		"exec": execProbe("bash", "-c", "exec 3<>/dev/tcp/localhost/8080"),
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.mustApply("Deployment", deployment("web", serverScript, withWebPort, readiness(h)))
			require.NoError(t, dial(t, c.pod("web").Address()+":8080"), "it is ready once it is applied")
			require.Equal(t, c.pod("web").Address()+":8080", c.exposed["web"])
			require.NoError(t, dial(t, net.JoinHostPort(controlAddress, "18080")), "the node forwards the host port")
		})
	}
}

func TestApplyFailsIfNeverReady(t *testing.T) {
	for name, p := range map[string]struct {
		probe   corev1.ProbeHandler
		seconds int32
		want    string
	}{
		"http": {httpProbe("/none"), 30, "/none answers 404"}, // once Python has started
		"tcp":  {corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(81)}}, 3, "connection refused"},
		"exec": {execProbe("bash", "-c", "echo not yet; exit 1"), 8, "ended with 1: not yet"},
		"grpc": {corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}, 3, "a probe that the local cloud does not support"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			err := c.apply("Deployment", deployment("web", serverScript, withWebPort, readiness(p.probe), progressDeadline(p.seconds),
				func(_ *appsv1.Deployment, c *corev1.Container) { c.ReadinessProbe.TimeoutSeconds = 10 })) // bash may need more than 1 s
			require.ErrorContains(t, err, fmt.Sprintf("Deployment web: not ready within %ds: ", p.seconds))
			require.ErrorContains(t, err, p.want)
			_, runs := c.Region.Machine("pod-web")
			require.False(t, runs, "a pod that failed does not stay")
		})
	}
}

func TestLivenessProbeRestartsTheContainer(t *testing.T) {
	c := newCluster(t)
	const script = "trap '' TERM; touch /tmp/alive; while :; do sleep 0.1; done"
	c.mustApply("Deployment", deployment("hanging", script, readiness(execProbe("test", "-e", "/tmp/alive")),
		func(d *appsv1.Deployment, main *corev1.Container) {
			grace := int64(1)
			d.Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
			main.LivenessProbe = &corev1.Probe{ProbeHandler: execProbe("test", "-e", "/tmp/alive"), PeriodSeconds: 1, FailureThreshold: 2}
		}))
	c.runIn("hanging", "rm /tmp/alive")
	testenv.Eventually(t, func() bool {
		return c.status("hanging").Restarts == 1 && c.status("hanging").Running
	}, testTimeout, 50*time.Millisecond)
	// The process runs, but its script may not have started.
	c.runIn("hanging", "for i in $(seq 600); do test -e /tmp/alive && exit; sleep 0.05; done; exit 1")
}

func TestPodsReachAForwardAtTheirOwnLoopback(t *testing.T) {
	c := newCluster(t)
	c.mustApply("Deployment", deployment("web", serverScript, withWebPort, readiness(httpProbe("/ok"))))
	c.Forwards = []machine.Forward{{Port: 7075, To: c.exposed["web"]}}
	c.mustApply("Deployment", deployment("client", "sleep infinity"))
	require.Equal(t, "200", c.runIn("client", "curl -so /dev/null -w '%{http_code}' http://127.0.0.1:7075/ok"))
}

func TestServicesHaveHostNamesAndNodePorts(t *testing.T) {
	c := newCluster(t)
	service := func(name string, kind corev1.ServiceType, port corev1.ServicePort) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
			Spec: corev1.ServiceSpec{Type: kind, Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{port}}}
	}
	c.mustApply("Deployment", deployment("client", "sleep infinity"))
	c.mustApply("Deployment", deployment("web", serverScript, withWebPort, readiness(httpProbe("/ok"))))
	c.mustApply("Service", service("web", corev1.ServiceTypeClusterIP, corev1.ServicePort{Port: 8080}))
	status := c.runIn("client", "curl -so /dev/null -w '%{http_code}' http://web.observatory.svc:8080/ok")
	require.Equal(t, "200", status, "a running pod resolves a new Service")

	outside := service("web-outside", corev1.ServiceTypeNodePort, corev1.ServicePort{
		Port: 80, TargetPort: intstr.FromString("http"), NodePort: 30080,
	})
	c.mustApply("Service", outside)
	address := net.JoinHostPort(controlAddress, "30080")
	require.NoError(t, dial(t, address))
	require.NoError(t, c.Delete(t.Context(), "Service", namespace, "web-outside"))
	require.Error(t, dial(t, address))
	outside.Spec.Ports[0].NodePort = 0
	require.ErrorContains(t, c.apply("Service", outside), "spec.ports[0].nodePort is not set")
}
