package kubernetes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// localPath is the class of K3s' own volumes, and its default.
const localPath = "local-path"

// startNode adds to an API server what makes workloads ready: Kubernetes' controllers,
// and one node whose kubelet is KWOK. No container runs: a pod is ready as soon as it is
// on the node. The test puts pods there and makes their volumes, as K3s' scheduler and
// provisioner do. startKubelet starts KWOK, also after a kill.
func startNode(t *testing.T, p program) (c *cluster, startKubelet func() process) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(p.kubeconfig), 0o600))
	startServer(t, servers.KubeControllerManager, "--kubeconfig="+kubeconfig, "--leader-elect=false", "--secure-port=0", "--controllers="+
		strings.Join([]string{
			"deployment-controller", "replicaset-controller", "daemonset-controller", "endpoints-controller", "endpointslice-controller",
			"namespace-controller", "garbage-collector-controller", "persistentvolume-binder-controller",
			"persistentvolumeclaim-protection-controller",
		}, ","))
	startKubelet = func() process {
		return startServer(t, servers.KWOK, "--kubeconfig="+kubeconfig, "--manage-all-nodes=true", "--node-lease-duration-seconds=0")
	}

	c = connect(t, p.kubeconfig)
	nodes := c.typed.CoreV1().Nodes()
	node, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "control"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	// A new node is tainted until the controller of nodes sees it ready. That one is left
	// out, since on a busy machine it would see the node as dead, and its pods too.
	_, err = nodes.Patch(t.Context(), node.Name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	c.createStorageClass(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A failed round is repeated: the API server may be away.
		_ = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			_ = schedule(ctx, c.typed, node.Name)
			return false, nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c, startKubelet
}

// createStorageClass creates the class that claims get. As in K3s, a claim gets its
// volume when its first pod arrives.
func (c *cluster) createStorageClass(t *testing.T) {
	t.Helper()
	late := storagev1.VolumeBindingWaitForFirstConsumer
	_, err := c.typed.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: localPath, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "rancher.io/local-path", VolumeBindingMode: &late,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// schedule puts every pod that is on no node on the only one, and creates the volumes
// of its claims.
func schedule(ctx context.Context, api kubernetes.Interface, node string) error {
	waiting, err := api.CoreV1().Pods(platform.Name).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	if err != nil {
		return err
	}
	for _, pod := range waiting.Items {
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			if err := provision(ctx, api, pod.Namespace, v.PersistentVolumeClaim.ClaimName); err != nil {
				return err
			}
		}
		err := api.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// provision creates the volume of a claim, unless it exists.
func provision(ctx context.Context, api kubernetes.Interface, namespace, name string) error {
	claim, err := api.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	_, err = api.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, StorageClassName: localPath,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name, UID: claim.UID},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
