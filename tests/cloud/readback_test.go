package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// storesOnS3 maps each server that stores its blocks in S3 to its program.
func storesOnS3() map[platform.Workload]string {
	return map[platform.Workload]string{platform.WorkloadTempo: "/tempo", platform.WorkloadPyroscope: "/usr/bin/pyroscope"}
}

// flush makes Tempo and Pyroscope upload their blocks to S3. Tempo has an endpoint
// for it; Pyroscope uploads every five minutes and when it shuts down.
func flush(t *testing.T, c *cloud) {
	t.Helper()
	c.get(t, string(platform.WorkloadTempo), "/flush", nil)
	terminate(c.process(t, storesOnS3()[platform.WorkloadPyroscope]))
	testenv.Eventually(t, func() bool { return ready(c, t, platform.WorkloadPyroscope) }, testenv.Arrival, 500*time.Millisecond,
		"Pyroscope is ready again")
}

// terminate stops a process as the kubelet stops a container: SIGTERM, and SIGKILL
// after the grace period.
func terminate(pid int) {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	o := poll.Options{Interval: 100 * time.Millisecond, Timeout: corev1.DefaultTerminationGracePeriodSeconds * time.Second}
	if poll.Until(context.Background(), o, func(context.Context) error {
		if syscall.Kill(pid, 0) == nil {
			return errors.New("it runs")
		}
		return nil
	}) != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// objectsUnderEachPath requires objects under every prefix of the platform, and
// /status and the status command to agree with the stack's outputs.
func objectsUnderEachPath(t *testing.T, c *cloud) {
	flush(t, c)
	stack := c.outputs(t)
	// After a pause of the whole machine, such as for a snapshot of it, a store's parts take each other
	// for dead until their next heartbeat.
	testenv.Eventually(t, func() bool { _, _, err := c.try(t, "status"); return err == nil }, testenv.Arrival, time.Second,
		"`observatory status` finds no problem")
	statusMatchesOutputs(t, c.status(t), stack)
	var printed struct{ Platform status.Status }
	require.NoError(t, json.Unmarshal([]byte(c.run(t, "status", "--json")), &printed))
	statusMatchesOutputs(t, printed.Platform, stack)
	text := c.run(t, "status")
	for _, want := range append(c.coreHosts(t), stack.Clusters["main"].ID, string(platform.WorkloadTempo), "Recorded only") {
		require.Contains(t, text, want)
	}
	for _, p := range platform.Prefixes() {
		testenv.Eventually(t, func() bool { return len(c.keys(t, stack.DataBucket, string(p))) > 0 }, testenv.Arrival, time.Second,
			"objects under %s", p)
	}
	logs := strings.Join(c.keys(t, stack.DataBucket, string(platform.PrefixEMRLogs)), "\n")
	for _, want := range []string{
		`/steps/s-[A-Z0-9]+/stderr\.gz`, `/steps/s-[A-Z0-9]+/controller\.gz`, `/node/i-[0-9a-f]+/bootstrap-actions/1/stdout\.gz`,
		`/containers/application_\d+_\d+/container_\S+/stderr\.gz`,
	} {
		require.Regexp(t, want, logs)
	}
}

// statusMatchesOutputs requires /status to report the values of the stack's outputs.
func statusMatchesOutputs(t *testing.T, got status.Status, stack outputs.Outputs) {
	t.Helper()
	require.Equal(t, stack.S3Paths, got.S3Paths)
	require.Equal(t, []string{stack.GrafanaURL, stack.StatusURL}, []string{got.Control.GrafanaURL, got.Control.StatusURL})
	for workload, url := range stack.Endpoints {
		require.Equal(t, url, got.Endpoints[platform.Workload(workload)], workload)
	}
	require.Len(t, got.Endpoints, len(stack.Endpoints))
	require.Len(t, got.Clusters, 1)
	require.Equal(t, stack.Clusters["main"].ID, got.Clusters[0].ID)
	require.Equal(t, map[string]int{platform.RoleMaster: 1, platform.RoleCore: 2}, got.Clusters[0].Nodes)
	require.Equal(t, status.BootstrapCurrent, got.Clusters[0].Bootstrap)
	require.Equal(t, stack.Clusters["main"].Name, got.Clusters[0].Name)
	require.Len(t, got.Bootstrap, 3)
	for _, b := range got.Bootstrap {
		require.Equal(t, status.BootstrapComplete, b.Result, b.Host)
	}
}

// readBackFromS3 deletes Tempo's volume and queries a second Pyroscope that starts
// with an empty one: their answers can only come from S3.
func readBackFromS3(t *testing.T, c *cloud, trace string) {
	found := func() bool {
		var answer struct{ Batches []any }
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+trace, &answer) == nil && len(answer.Batches) > 0
	}
	testenv.Eventually(t, found, testenv.Arrival, time.Second, "the step's trace")
	hosts := c.profiledHosts(t)
	require.NotEmpty(t, hosts)
	bucket := c.outputs(t).DataBucket
	testenv.Eventually(t, func() bool {
		return slices.ContainsFunc(c.keys(t, bucket, string(platform.PrefixTempo)), func(key string) bool {
			return strings.HasSuffix(key, "/meta.json")
		})
	}, testenv.Arrival, time.Second, "Tempo's blocks in S3")
	claim := string(platform.WorkloadTempo) + "-data"
	volumes, err := filepath.Glob(filepath.Join(c.state, "ec2", "volumes", "*", "fs", "volumes", "*", claim, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, volumes)
	for _, v := range volumes {
		require.NoError(t, os.RemoveAll(v))
	}
	for workload, program := range storesOnS3() {
		require.NoError(t, syscall.Kill(c.process(t, program), syscall.SIGKILL))
		testenv.Eventually(t, func() bool { return ready(c, t, workload) }, testenv.Arrival, 500*time.Millisecond, "%s is ready again", workload)
	}
	testenv.Eventually(t, found, testenv.Arrival, time.Second, "the step's trace, read from S3")
	hasAllHosts := func(url string) bool {
		now, err := hostsWithProfiles(t, url)
		return err == nil && !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(now, h) })
	}
	first := c.running(t).URL(string(platform.WorkloadPyroscope))
	testenv.Eventually(t, func() bool { return hasAllHosts(first) }, testenv.Arrival, time.Second, "profiles of all hosts after the restart")
	second := secondPyroscope(t, c, bucket)
	testenv.Eventually(t, func() bool { return hasAllHosts(second) }, testenv.Arrival, time.Second, "profiles of all hosts, read from S3")
}

// secondPyroscope starts a Pyroscope with an empty disk on the same bucket, as after
// the loss of its volume. It is configured to read every block from S3: by default
// Pyroscope reads the last four hours from its own disk (querier.query_store_after)
// and ignores blocks of the last three hours (ignore_blocks_within).
func secondPyroscope(t *testing.T, c *cloud, bucket string) (url string) {
	t.Helper()
	const port, grpc = "19040", "19095"
	binary, err := servers.Find(t.Context(), string(platform.WorkloadPyroscope))
	require.NoError(t, err)
	record, err := platform.Workloads().Get(platform.WorkloadPyroscope)
	require.NoError(t, err)
	config, err := workloadconfig.Pyroscope(record, workloadconfig.Settings{PyroscopeRetention: 24 * time.Hour})
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
		if lines, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the end of the second Pyroscope's log:\n%s", lines[max(0, len(lines)-3000):])
		}
	})
	return "http://127.0.0.1:" + port
}

// ready reports whether a store accepts requests.
func ready(c *cloud, t *testing.T, w platform.Workload) bool {
	return c.tryGet(t, string(w), "/ready", nil) == nil
}
