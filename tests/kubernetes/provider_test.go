package kubernetes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

const onlyLong = "make test-long builds pulumi-kubernetes' own plugin; the local cloud's provider, which waits for less, stands for it"

// TestKubernetesProvider takes the dev stack through its life with pulumi-kubernetes' own
// plugin, which waits until objects are ready and reads them back from the API server.
func TestKubernetesProvider(t *testing.T) {
	testenv.RequireLong(t, onlyLong)
	s := openScene(t)
	start := time.Now()
	_, err := s.firstUp(t)
	require.NoError(t, err)
	t.Logf("the first update took %s", time.Since(start).Round(time.Second))
	s.requireReady(t)

	run := func(name string, test func(*testing.T, *scene)) {
		if !t.Run(name, func(t *testing.T) { test(t, s) }) {
			t.FailNow() // each needs the one before it
		}
	}
	run("nothing changes", testNothingChanges)
	run("a stack whose Services wait", testStackOfAwaitedServices)
	run("Services whose pods are not ready", testUnreadyPods)
	run("edit of one workload", testEditOfOneWorkload)
	run("refresh", testRefresh)
	s.api.kill()
	run("the API is away", testAPIIsAway)
	s.api.start(t)
	run("the API is back", testRefresh)
	run("destroy", testDestroy)
}

// requireReady requires a ready pod of every workload, and behind every Service.
func (s *scene) requireReady(t *testing.T) {
	t.Helper()
	require.Empty(t, s.unready(t), "a workload without a ready pod")
}

// unready returns a workload that has no ready pod, or "".
func (s *scene) unready(t *testing.T) platform.Workload {
	t.Helper()
	pods := s.runningPods(t)
	for _, w := range platform.Workloads() {
		ready := slices.ContainsFunc(pods[string(w.Name)].Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if !ready {
			return w.Name
		}
	}
	return ""
}

// runningPods returns the pods by their workloads.
func (s *scene) runningPods(t *testing.T) map[string]corev1.Pod {
	t.Helper()
	list, err := s.client.typed.CoreV1().Pods(platform.Name).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	out := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			out[pod.Labels["app.kubernetes.io/name"]] = pod
		}
	}
	return out
}

// serviceIDs returns the identities that the API server gave the Services.
func (s *scene) serviceIDs(t *testing.T) map[string]string {
	t.Helper()
	list, err := s.client.typed.CoreV1().Services(platform.Name).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	out := map[string]string{}
	for _, service := range list.Items {
		out[service.Name] = string(service.UID)
	}
	return out
}

// upAs updates the stack and requires a preview and the update to do the same: nothing
// but these updates and restarts in place.
func (s *scene) upAs(t *testing.T, updated, restarted []string) {
	t.Helper()
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Equal(t, updated, slices.Sorted(slices.Values(plan.Names(changes.Updated))), "%s", plan)
	require.Equal(t, restarted, slices.Sorted(slices.Values(plan.Names(changes.Restarted))), "%s", plan)
	require.Len(t, plan, len(updated)+len(restarted), "%s", plan)
	r, err := s.up(t)
	require.NoError(t, err)
	did := maps.Clone(*r.Summary.ResourceChanges)
	delete(did, "same")
	want := []string{"update"} // of the component too
	if len(plan) == 0 {
		want = nil
	}
	require.Equal(t, want, slices.Collect(maps.Keys(did)), "%v", did)
	s.requireReady(t)
}

func testNothingChanges(t *testing.T, s *scene) { s.upAs(t, nil, nil) }

// testStackOfAwaitedServices updates a stack as it was before the annotation: its
// Services are updated in place, and stay the same objects.
func testStackOfAwaitedServices(t *testing.T, s *scene) {
	var names []string
	for _, r := range s.objects(t) {
		if r.Type == "kubernetes:core/v1:Service" {
			names = append(names, r.URN.Name())
		}
	}
	slices.Sort(names)
	before := s.serviceIDs(t)
	require.Len(t, before, len(names))
	s.awaited = "5m"
	s.upAs(t, names, nil)
	s.awaited = ""
	s.upAs(t, names, nil)
	require.Equal(t, before, s.serviceIDs(t))
}

// testUnreadyPods shows what the annotation is for. While pods have an address and are not
// ready, as for minutes on a node that pulls their images, an update that waits for Services
// fails: they hold all workers until the limit, which is ten minutes by default and less
// here. For a Service without any pod the plugin waits for ten seconds.
func testUnreadyPods(t *testing.T, s *scene) {
	s.kubelet.kill()
	pods, endpoints := s.client.typed.CoreV1().Pods(platform.Name), s.client.typed.DiscoveryV1().EndpointSlices(platform.Name)
	for _, pod := range s.runningPods(t) {
		for i, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				pod.Status.Conditions[i].Status = corev1.ConditionFalse
			}
		}
		_, err := pods.UpdateStatus(t.Context(), &pod, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	testenv.Eventually(t, func() bool {
		slices, err := endpoints.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for _, slice := range slices.Items {
			for _, e := range slice.Endpoints {
				if *e.Conditions.Ready {
					return false
				}
			}
		}
		return true
	}, testenv.Arrival, 100*time.Millisecond, "no Service has a ready endpoint")

	s.awaited = "15s"
	_, err := s.up(t)
	require.ErrorContains(t, err, "Finding Pods to direct traffic to")
	s.awaited = ""
	_, err = s.up(t)
	require.NoError(t, err, "no Service waits")

	s.kubelet = s.startKubelet()
	require.NoError(t, pods.DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{}))
	testenv.Eventually(t, func() bool { return s.unready(t) == "" }, testenv.Arrival, 100*time.Millisecond, "ready pods")
	testNothingChanges(t, s)
}

// testEditOfOneWorkload edits an argument of a server: its pod alone is another one.
func testEditOfOneWorkload(t *testing.T, s *scene) {
	const edited = string(platform.WorkloadVictoriaMetrics)
	before := s.runningPods(t)
	s.values["retention"] = `{"victoriaMetricsDays":7}`
	s.upAs(t, nil, []string{"workloads-" + edited})
	for name, pod := range s.runningPods(t) {
		require.Equal(t, name != edited, pod.UID == before[name].UID, name)
	}
}

// testRefresh requires the API server to give objects back as they were declared.
func testRefresh(t *testing.T, s *scene) {
	before := s.objects(t)
	_, err := s.Stack.Refresh(t.Context(), optrefresh.SuppressProgress())
	require.NoError(t, err)
	require.Len(t, s.objects(t), len(before))
	testNothingChanges(t, s)
}

// testAPIIsAway shows what each refresh does while the control node does not answer, as
// the guides describe it. A cluster has ended meanwhile.
func testAPIIsAway(t *testing.T, s *scene) {
	const unreachable = "failed to read resource state due to unreachable cluster"
	before := s.objects(t)
	cluster := s.cluster(t)
	require.NotEmpty(t, cluster)
	s.Servers.Account.End(cluster)

	_, err := s.Stack.Refresh(t.Context(), optrefresh.SuppressProgress())
	require.ErrorContains(t, err, unreachable)
	require.Equal(t, before, s.objects(t), "the failed refresh forgets nothing")
	_, err = changes.Preview(t.Context(), s.Stack, optpreview.Refresh())
	require.ErrorContains(t, err, unreachable)

	// The plugin's own advice forgets every object, and the next update fails since they exist.
	const advice = "PULUMI_K8S_DELETE_UNREACHABLE"
	s.setEnv(t, advice, "true")
	forgotten, err := s.Stack.PreviewRefresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(before), forgotten.ChangeSummary["delete"])
	s.setEnv(t, advice, "false")

	_, err = s.Stack.Refresh(t.Context(), optrefresh.Target([]string{platform.ClustersTarget}), optrefresh.SuppressProgress())
	require.NoError(t, err)
	require.Equal(t, before, s.objects(t))
	require.Empty(t, s.cluster(t))
	plan, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)
	require.Equal(t, []string{"emr-main-cluster"}, plan.Names(changes.Created), "%s", plan)
	require.Len(t, plan, 1, "%s", plan)
	_, err = s.up(t)
	require.NoError(t, err)
	require.NotContains(t, []string{"", cluster}, s.cluster(t))
	require.Equal(t, before, s.objects(t))
}

// cluster returns the id of the EMR cluster in the state, or "".
func (s *scene) cluster(t *testing.T) string {
	t.Helper()
	all, err := changes.Resources(t.Context(), s.Stack)
	require.NoError(t, err)
	for _, r := range all {
		if strings.HasSuffix(string(r.URN), "::emr-main-cluster") {
			return string(r.ID)
		}
	}
	return ""
}

func testDestroy(t *testing.T, s *scene) {
	_, err := s.Stack.Destroy(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.objects(t))
}
