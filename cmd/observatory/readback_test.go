package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/status"
)

// storesOnS3 are the servers whose blocks lie in S3, and their programs.
func storesOnS3() map[platform.Workload]string {
	return map[platform.Workload]string{platform.WorkloadTempo: "/tempo", platform.WorkloadPyroscope: "/usr/bin/pyroscope"}
}

// flush has Tempo and Pyroscope write to S3 what they hold, through their own
// endpoints, and then by ending them as Kubernetes does: Pyroscope ships its
// blocks every five minutes, and when it is told to end.
func flush(t *testing.T, c *cloud) {
	t.Helper()
	c.get(t, string(platform.WorkloadTempo), "/flush", nil)
	require.NoError(t, c.send(t, http.MethodPost, string(platform.WorkloadPyroscope), "/ingester.v1.IngesterService/Flush", strings.NewReader("{}"), nil))
	for workload, program := range storesOnS3() {
		end(c.process(t, program))
		require.Eventuallyf(t, func() bool { return ready(c, t, workload) }, 2*time.Minute, 500*time.Millisecond, "%s is ready again", workload)
	}
}

// end is what the kubelet does to a container: it is asked, and killed after
// the grace period. Tempo waits for its senders' connections without end.
func end(pid int) {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	for deadline := time.Now().Add(corev1.DefaultTerminationGracePeriodSeconds * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func objectsUnderEachPath(t *testing.T, c *cloud) {
	flush(t, c)
	have := c.outputs(t)
	tellsWhatTheStackTells(t, c.status(t), have)
	var told struct{ Platform status.Status }
	require.NoError(t, json.Unmarshal([]byte(c.run(t, "status", "--json")), &told))
	tellsWhatTheStackTells(t, told.Platform, have)
	text := c.run(t, "status")
	for _, want := range append(c.coreHosts(t), have.EMRClusterID, string(platform.WorkloadTempo), "Recorded only") {
		require.Contains(t, text, want)
	}
	for _, p := range platform.Prefixes() {
		require.Eventuallyf(t, func() bool { return len(c.keys(t, have.DataBucket, string(p))) > 0 }, time.Minute, time.Second, "objects under %s", p)
	}
	logs := strings.Join(c.keys(t, have.DataBucket, string(platform.PrefixEMRLogs)), "\n")
	for _, want := range []string{`/steps/s-[A-Z0-9]+/stderr\.gz`, `/steps/s-[A-Z0-9]+/controller\.gz`, `/node/i-[0-9a-f]+/bootstrap-actions/1/stdout\.gz`, `/containers/application_\d+_\d+/container_\S+/stderr\.gz`} {
		require.Regexp(t, want, logs)
	}
}

// tellsWhatTheStackTells: /status and the stack's outputs come from the same
// values.
func tellsWhatTheStackTells(t *testing.T, told status.Status, have outputs.Outputs) {
	t.Helper()
	require.Equal(t, have.S3Paths, told.S3Paths)
	require.Equal(t, []string{have.GrafanaURL, have.StatusURL}, []string{told.Control.GrafanaURL, told.Control.StatusURL})
	for workload, url := range have.Endpoints {
		require.Equal(t, url, told.Endpoints[platform.Workload(workload)], workload)
	}
	require.Len(t, told.Endpoints, len(have.Endpoints))
	require.Equal(t, []status.Cluster{{ID: have.EMRClusterID, Nodes: map[string]int{platform.RoleMaster: 1, platform.RoleCore: 2}}}, told.Clusters)
	require.Len(t, told.Bootstrap, 3)
	for _, b := range told.Bootstrap {
		require.Equal(t, status.BootstrapComplete, b.Result, b.Host)
	}
}

// readBackFromS3 takes Tempo's disk away and asks a second Pyroscope that never
// had one: what they answer can only come from S3.
func readBackFromS3(t *testing.T, c *cloud, trace string) {
	found := func() bool {
		var answer struct{ Batches []any }
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+trace, &answer) == nil && len(answer.Batches) > 0
	}
	require.Eventually(t, found, time.Minute, time.Second, "the step's trace")
	hosts := c.profiledHosts(t)
	require.NotEmpty(t, hosts)
	bucket := c.outputs(t).DataBucket
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(c.keys(t, bucket, string(platform.PrefixTempo)), func(k string) bool { return strings.HasSuffix(k, "/meta.json") })
	}, 2*time.Minute, time.Second, "Tempo's blocks in S3")
	volumes, err := filepath.Glob(filepath.Join(c.state, "kube", "claims", "*", string(platform.WorkloadTempo)+"-data", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, volumes)
	for _, v := range volumes {
		require.NoError(t, os.RemoveAll(v))
	}
	for workload, program := range storesOnS3() {
		require.NoError(t, syscall.Kill(c.process(t, program), syscall.SIGKILL))
		require.Eventuallyf(t, func() bool { return ready(c, t, workload) }, 2*time.Minute, 500*time.Millisecond, "%s is ready again", workload)
	}
	require.Eventually(t, found, 2*time.Minute, time.Second, "the step's trace, read from S3")
	all := func(url string) bool {
		now, err := profiled(t, url)
		return err == nil && !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(now, h) })
	}
	require.Eventually(t, func() bool { return all(c.running(t).URL(string(platform.WorkloadPyroscope))) }, 2*time.Minute, time.Second, "profiles of all hosts after the restart")
	second := secondPyroscope(t, c, bucket)
	require.Eventually(t, func() bool { return all(second) }, 2*time.Minute, time.Second, "profiles of all hosts, read from S3")
}

// secondPyroscope is a Pyroscope with an empty disk on the same bucket, as one
// that lost its volume. It asks S3 for all times and blocks: left alone it asks
// its own disk for the last four hours (querier.query_store_after) and passes
// over blocks of the last three (ignore_blocks_within).
func secondPyroscope(t *testing.T, c *cloud, bucket string) (url string) {
	t.Helper()
	const port, grpc = "19040", "19095"
	binary, err := servers.Find(t.Context(), string(platform.WorkloadPyroscope))
	require.NoError(t, err)
	config, err := workloadconfig.Pyroscope(24 * time.Hour)
	require.NoError(t, err)
	dir := t.TempDir()
	rebase := strings.NewReplacer(workloadconfig.ConfigDir, dir, workloadconfig.DataDir, dir)
	for name, body := range config.Files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(rebase.Replace(body)), 0o600))
	}
	var args []string
	for _, arg := range config.Args {
		args = append(args, rebase.Replace(arg))
	}
	args = append(args, "-querier.query-store-after=0s", "-blocks-storage.bucket-store.ignore-blocks-within=0s",
		"-server.http-listen-address=127.0.0.1", "-server.http-listen-port="+port, "-server.grpc-listen-port="+grpc)
	secret, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), platform.ConfigBucket+"="+bucket, platform.ConfigS3Endpoint+"="+c.running(t).Addresses["s3"],
		platform.ConfigS3Insecure+"=true", platform.ConfigS3PathStyle+"=true")
	for k, v := range c.running(t).Environment(secret) {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the second Pyroscope said:\n%s", said[max(0, len(said)-3000):])
		}
	})
	return "http://127.0.0.1:" + port
}

// ready says that a store takes requests.
func ready(c *cloud, t *testing.T, w platform.Workload) bool {
	return c.tryGet(t, string(w), "/ready", nil) == nil
}
