package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/platform"
)

// A job's answers, if it asks for what is not its own.
const (
	forbidden = "403"
	refused   = "refused" // nothing listens
	denied    = "denied"
)

// intruderFails submits a job that asks the control node and S3 for what is of other jobs. It may
// send what it measures, and nothing else, and misleads nobody who reads its logs. Security groups keep it from the operators' ports, too
// (tests/controls); the local cloud has none between machines of a VPC (localcloud/coverage.go).
func intruderFails(t *testing.T, c *cloud) {
	stack := c.outputs(t)
	want := map[string]string{}
	at := func(port platform.Port, request string) string {
		var method, path string
		_, err := fmt.Sscan(request, &method, &path)
		require.NoError(t, err)
		return fmt.Sprintf("%s http://%s:%d%s", method, stack.ControlPrivateIP, port, path)
	}
	for _, w := range platform.Workloads() { // whatever a Service has inside the cluster
		for _, p := range w.Ports {
			if !p.Node {
				want[at(p.Number, "GET /metrics")] = refused
			}
		}
	}
	for _, request := range []string{
		"POST /querier.v1.QuerierService/Series", "POST /querier.v1.QuerierService/SelectMergeProfile", "GET /pyroscope/render",
		"GET /ops/object-store/tenants", "POST /push.v1.PusherService/Push", "GET /ingest", "GET /metrics", "GET /debug/pprof/heap",
	} {
		want[at(platform.Pyroscope, request)] = forbidden
	}
	want[at(platform.Pyroscope, "POST /ingest")] = "400" // no profile, as Pyroscope says itself
	want[at(platform.OTLPHTTP, "GET /v1/logs")] = "405"
	want[platform.PrefixHistory.URI(stack.DataBucket)+"applications/"] = denied

	argument, err := json.Marshal(want)
	require.NoError(t, err)
	const line = "the intruder's container logs on"
	began := time.Now().UTC().Format(time.RFC3339)
	require.Contains(t, c.run(t, "submit", "--wait", "--name", "intruder", "tests/cloud/testdata/intruder.py", string(argument),
		platform.NodeCollectorEnv, line), "COMPLETED")
	logged := func(text string) string { // by containers, not by the step, which logs its arguments
		return fmt.Sprintf("_time:>%s AND %q:=%q AND %q", began, platform.ServiceName, platform.ServiceContainer, text)
	}
	testenv.Eventually(t, func() bool {
		rows, err := c.tryLogs(t, logged(line+" 9"), 1)
		return err == nil && len(rows) == 1
	}, testenv.Arrival, time.Second, "the node's logs, despite a FIFO among them")
	linked, err := c.tryLogs(t, logged(platform.EnvHDFSTargets), 1)
	require.NoError(t, err)
	require.Empty(t, linked, "a file that the job has no right to")
}

// outsidersAreRefused asks everything that the local cloud serves on 127.0.0.1 as another user of
// the machine, as a page of another host, and EMR and IAM without a signature.
func outsidersAreRefused(t *testing.T, c *cloud) {
	running := c.running(t)
	var refusing []string
	for service, address := range running.Addresses {
		answer := said(t, nil, address, "GET / HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n")
		if answer != "" { // nothing runs behind it, such as the page of a second cluster
			require.Contains(t, answer, "HTTP/1.1 421 ", service)
			refusing = append(refusing, service)
		}
		if os.Getuid() != 0 {
			continue // it cannot become another user; localcloud/loopback has other users' ids
		}
		stranger := &syscall.Credential{Uid: 12345, Gid: 12345}
		require.Empty(t, said(t, stranger, address, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), service)
	}
	require.Subset(t, refusing, []string{
		localcloud.ServiceS3, localcloud.ServiceEMR, localcloud.ServiceIAM, localcloud.ServiceControl, emr.ResourceManager,
		string(platform.WorkloadVictoriaMetrics), string(platform.WorkloadPyroscope), string(platform.WorkloadStatus),
	})
	for service, code := range map[string]string{
		localcloud.ServiceEMR: "MissingAuthenticationTokenException", localcloud.ServiceIAM: "MissingAuthenticationToken",
	} {
		answer := said(t, nil, running.Addresses[service], "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
			"X-Amz-Target: ElasticMapReduce.ListClusters\r\nContent-Type: application/x-amz-json-1.1\r\nContent-Length: 2\r\n\r\n{}")
		require.Contains(t, answer, code, service)
	}
}

// said sends a text to an address as a user, nil for this one, and returns the answer.
func said(t *testing.T, as *syscall.Credential, address, text string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	const exchange = `trap "" PIPE; exec 3<>"/dev/tcp/$1/$2"; printf %s "$3" 2>/dev/null >&3; cat 2>/dev/null <&3; true`
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Answer.Scaled())
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", exchange, "-", host, port, text)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: as}
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, problems.String())
	return string(out)
}
