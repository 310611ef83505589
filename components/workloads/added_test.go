package workloads_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// alertsServer returns a workload that the platform does not have: one record and
// one function.
func alertsServer() workloadconfig.Server {
	return workloadconfig.Server{
		WorkloadRecord: platform.WorkloadRecord{
			Name: "alerts", AWSRole: true, OwnBinary: platform.BinaryControl, User: 10001, MemoryMiB: 100, DiskGiB: 3,
			Image:   platform.Image{Repository: "docker.io/example/alerts", Tag: "1.2.3"},
			Ports:   []platform.WorkloadPort{{Name: "http", Number: 8081, Node: true}, {Name: "intake", Number: 8082}},
			Ready:   platform.Readiness{Path: "/up"},
			Metrics: platform.OwnMetrics{Port: 8081, Keep: []string{"alerts_fired_total"}},
			Intake:  &platform.Intake{Signal: "profiles", Port: 8082, Path: "/v1/profiles", QueueGiB: 4}, OperatorPort: 8081,
		},
		Configure: func(_ platform.WorkloadRecord, s workloadconfig.Settings) (workloadconfig.Config, error) {
			metrics, err := s.Workloads.Get(platform.WorkloadVictoriaMetrics)
			return workloadconfig.Config{
				Args:  []string{"guard", "--", "/alerts", "-source=" + metrics.URL()},
				Env:   map[string]string{"LEVEL": "info"},
				Files: map[string]string{"rules.yaml": "rules: []"},
				SecretEnv: map[string]workloadconfig.SecretKey{
					"TOKEN": {Secret: platform.AccessSecret(platform.WorkloadGrafana), Key: platform.AccessPassword},
				},
				SecretFiles: []workloadconfig.SecretFiles{{Secret: platform.AccessSecret(platform.WorkloadGrafana), Volume: "ca", Dir: "/etc/ca",
					Keys: []string{platform.AccessCACert}}},
			}, err
		},
	}
}

func recordWithAlerts(t *testing.T) *recorder.Recording {
	t.Helper()
	servers := append(workloadconfig.Servers(), alertsServer())
	return recordServers(t, sampleArgs(), servers, func(ctx *pulumi.Context, w *workloads.Workloads) { ctx.Export("endpoints", w.Endpoints) })
}

// decodeObject decodes a recorded Kubernetes object.
func decodeObject(t *testing.T, rec *recorder.Recording, token, name string, into any) {
	t.Helper()
	r, err := rec.One(token, name)
	require.NoError(t, err)
	decodeInputs(t, r, into)
}

func TestAddedWorkloadIsDeployed(t *testing.T) {
	rec := recordWithAlerts(t)
	var d appsv1.Deployment
	decodeObject(t, rec, "kubernetes:apps/v1:Deployment", "workloads-alerts", &d)
	pod := d.Spec.Template.Spec
	main := pod.Containers[0]
	require.Equal(t, "docker.io/example/alerts:1.2.3", main.Image)
	require.Equal(t, []string{"/opt/bin/observatory"}, main.Command)
	require.Equal(t, []string{"guard", "--", "/alerts", "-source=http://victoria-metrics:8428"}, main.Args)
	require.Equal(t, "fetch", pod.InitContainers[0].Name)
	require.Equal(t, "100Mi", main.Resources.Limits.Memory().String())
	require.Equal(t, "50Mi", main.Resources.Requests.Memory().String())
	require.Equal(t, "/up", main.ReadinessProbe.HTTPGet.Path)
	require.EqualValues(t, 8081, main.ReadinessProbe.HTTPGet.Port.IntVal)
	require.EqualValues(t, 8081, main.LivenessProbe.TCPSocket.Port.IntVal)
	require.Equal(t, "info", main.Env[1].Value)
	require.Equal(t, platform.AccessPassword, main.Env[2].ValueFrom.SecretKeyRef.Key)
	var mounted []string
	for _, m := range main.VolumeMounts {
		mounted = append(mounted, m.MountPath)
	}
	require.Equal(t, []string{"/opt/bin", "/etc/ca", workloadconfig.ConfigDir, workloadconfig.DataDir, "/tmp"}, mounted)

	var s corev1.Service
	decodeObject(t, rec, "kubernetes:core/v1:Service", "workloads-alerts", &s)
	require.Len(t, s.Spec.Ports, 2)
	decodeObject(t, rec, "kubernetes:core/v1:Service", "workloads-alerts-node", &s)
	require.EqualValues(t, 8081, s.Spec.Ports[0].NodePort)
	var claim corev1.PersistentVolumeClaim
	decodeObject(t, rec, "kubernetes:core/v1:PersistentVolumeClaim", "workloads-alerts-data", &claim)
	require.Equal(t, "3Gi", claim.Spec.Resources.Requests.Storage().String())
	var files corev1.ConfigMap
	decodeObject(t, rec, "kubernetes:core/v1:ConfigMap", "workloads-alerts-config", &files)
	require.Equal(t, map[string]string{"rules.yaml": "rules: []"}, files.Data)
	decodeObject(t, rec, "kubernetes:core/v1:ServiceAccount", "workloads-alerts", &corev1.ServiceAccount{})
	require.Contains(t, metadataReaders(t, rec), platform.Workload("alerts"))
}

func TestOtherServersKnowAnAddedWorkload(t *testing.T) {
	rec := recordWithAlerts(t)
	file := func(w platform.Workload, name string) string {
		var cm corev1.ConfigMap
		decodeObject(t, rec, "kubernetes:core/v1:ConfigMap", "workloads-"+string(w)+"-config", &cm)
		return cm.Data[name]
	}
	args := func(w platform.Workload) []string {
		var d appsv1.Deployment
		decodeObject(t, rec, "kubernetes:apps/v1:Deployment", "workloads-"+string(w), &d)
		return d.Spec.Template.Spec.Containers[0].Args
	}
	require.Contains(t, file(platform.WorkloadStatus, workloadconfig.StatusFile), `"readyUrl": "http://alerts:8081/up"`)
	scrape := file(platform.WorkloadVictoriaMetrics, workloadconfig.ScrapeFile)
	require.Contains(t, scrape, `{targets: ["alerts:8081"], labels: {service_name: "alerts"}}`)
	require.Contains(t, scrape, "|alerts_fired_total|")
	collector := file(platform.WorkloadCollector, workloadconfig.CollectorFile)
	require.Contains(t, collector, "profiles_endpoint: http://redelivery:4319/alerts/v1/profiles")
	require.Contains(t, collector, "queue_size: 4294967296")
	require.Contains(t, args(platform.WorkloadRedelivery), "--store=alerts=http://alerts:8082")
	for _, w := range []platform.Workload{platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs} {
		require.Contains(t, args(w), "-storage.minFreeDiskSpaceBytes=13GiB", "three queues of 1 GiB, one of 4 and its copy, write-ahead logs")
	}
	require.EqualValues(t, 8081, workloadconfig.Table([]workloadconfig.Server{alertsServer()}).OperatorPorts()["alerts"])
}

func TestRefusesWorkloadWithoutConfigureFunction(t *testing.T) {
	server := alertsServer()
	server.Configure = nil
	_, err := recorder.Run(func(ctx *pulumi.Context) error {
		_, err := workloads.NewWithServers(ctx, "workloads", sampleArgs(), append(workloadconfig.Servers(), server))
		return err
	})
	require.ErrorContains(t, err, "configure alerts: no function: add one to workloadconfig.Servers")
}
