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
