package kube_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
)

// nodePort returns a Service that opens a workload's port on the node.
func nodePort(workload string, node, target int) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: workload, Namespace: namespace},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Selector: map[string]string{"app": workload},
			Ports: []corev1.ServicePort{{Port: int32(node), NodePort: int32(node), TargetPort: intstr.FromInt(target)}},
		},
	}
}

// What stands in for an absent workload is reached at the workload's node ports,
// whichever of Service and workload exists first. The workload still counts as absent.
func TestStandInIsReachedAtTheNodePorts(t *testing.T) {
	c := newCluster(t)
	l, err := net.Listen("tcp", regiontest.Gateway+":0")
	require.NoError(t, err)
	defer l.Close()
	address, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok)
	other := func(_ *appsv1.Deployment, main *corev1.Container) { main.Image = "docker.io/test/stand-in:1" }
	for i, order := range [][]string{{"Service", "Deployment"}, {"Deployment", "Service"}} {
		name, node := fmt.Sprintf("standin-%d", i), 8090+i
		for _, kind := range order {
			if kind == "Service" {
				c.mustApply(kind, nodePort(name, node, address.Port))
			} else {
				c.mustApply(kind, deployment(name, "", other))
			}
		}
		require.NoError(t, dial(t, fmt.Sprintf("%s:%d", controlAddress, node)))
		require.Equal(t, "it has no build", c.status(name).Reason)
		require.NoError(t, c.Delete(context.Background(), "Service", namespace, name))
		require.Error(t, dial(t, fmt.Sprintf("%s:%d", controlAddress, node)))
	}
	c.mustApply("Deployment", deployment("closed", "", func(_ *appsv1.Deployment, main *corev1.Container) {
		main.Image = "docker.io/test/none:1"
	}))
	c.mustApply("Service", nodePort("closed", 8099, address.Port))
	require.Error(t, dial(t, fmt.Sprintf("%s:8099", controlAddress)), "nothing stands in for it")
}

// With externalTrafficPolicy Local a pod sees the addresses of its clients, as limits for each
// client need; otherwise that of its node, as Kubernetes has it by default.
func TestNodePortsKeepTheAddressesOfClients(t *testing.T) {
	c := newCluster(t)
	instance, err := c.Region.Boot(t.Context(), machine.Spec{
		Name: "i-client", Hostname: "ip-10-0-1-5", Domain: "ec2.internal",
		Addresses: []string{fmt.Sprintf("10.0.1.5/%d", regiontest.Prefix)}, Gateway: regiontest.Gateway,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Region.Remove("i-client")) })
	const program = `
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200); self.end_headers(); self.wfile.write(self.client_address[0].encode())
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()`
	server := func(_ *appsv1.Deployment, main *corev1.Container) {
		main.Env = []corev1.EnvVar{{Name: "PROGRAM", Value: program}}
		main.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}}
	}
	for _, name := range []string{"local", "cluster"} {
		c.mustApply("Deployment", deployment(name, `exec python3 -c "$PROGRAM"`, server))
	}
	local := nodePort("local", 30081, 8080)
	local.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	c.mustApply("Service", local)
	c.mustApply("Service", nodePort("cluster", 30082, 8080))
	ask := func(m *region.Machine, port int) string {
		url := fmt.Sprintf("http://%s:%d/", controlAddress, port)
		out, err := m.Run(t.Context(), machine.Exec{Argv: []string{"curl", "-s", "--max-time", "20", url}})
		require.NoError(t, err)
		return out.Tail
	}
	control, _, err := c.Control()
	require.NoError(t, err)
	for range 2 {
		require.Equal(t, "10.0.1.5", ask(instance, 30081))
		require.Equal(t, nodeInPods, ask(instance, 30082))
		require.Equal(t, nodeInPods, ask(control, 30081), "the node itself")
		require.Equal(t, nodeInPods, ask(c.pod("cluster"), 30081), "another pod")
		require.NoError(t, dial(t, fmt.Sprintf("%s:30081", controlAddress)), "the region, as an operator's workstation")
		require.NoError(t, dial(t, c.pod("local").Address()+":8080"), "within the pods' network")
		c.mustApply("Service", local) // again
	}
}
