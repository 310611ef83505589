package cloud_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/tests/canary"
)

// Bounds of what one host and one JVM may add to VictoriaMetrics after one job.
// Measured on this job: at most 269 series of a node, 470 of the control node
// with all of its servers, 60 of a JVM.
const (
	seriesPerHost = 600
	seriesPerJVM  = 80

	// Of the Spark plugin and of S3A's uploads and commits, in a driver and in an executor.
	seriesPerApplication = 300
	seriesPerExecutor    = 20
)

// ofPlugin matches the names of these. S3A's other counters are the JVM's.
const ofPlugin = "spark_.*|hadoop_s3a_(object_multipart|multipart_upload|committer|stream_write_(queue|time))_.*"

// seriesOfPlugin is how many of these series the JVM of a sample may add.
func seriesOfPlugin(s sample) int {
	if s.Metric[platform.SparkExecutorID.Metric()] == platform.DriverID {
		return seriesPerApplication
	}
	return seriesPerExecutor
}

// signalsAreLabelled checks that metrics, logs, spans and profiles of a job carry
// the same identity, and that nothing else identifies a series.
func signalsAreLabelled(t *testing.T, c *cloud, trace string) {
	stack := c.outputs(t)
	hosts := c.coreHosts(t)
	for _, s := range c.query(t, `count by (host_name) (last_over_time({host_name!="",spark_executor_id=""}[15m]))`) {
		require.LessOrEqualf(t, s.number(t), float64(seriesPerHost), "series of %s", s.Metric)
	}
	jvms := c.query(t, `count by (cluster, node_role, host_name, spark_app_id, spark_executor_id, service_name) `+
		`(last_over_time({spark_executor_id!=""}[15m]))`)
	require.GreaterOrEqual(t, len(jvms), 2, "a driver and an executor at least")
	for _, s := range jvms {
		require.LessOrEqualf(t, s.number(t), float64(seriesPerJVM+seriesOfPlugin(s)), "series of %s", s.Metric)
		for _, l := range slices.Concat(platform.HostLabels(), platform.JVMLabels()) {
			require.NotEmptyf(t, s.Metric[l.Metric()], "%s of %s", l.Metric(), s.Metric)
		}
		require.Equal(t, stack.Clusters["main"].ID, s.Metric[platform.Cluster.Metric()])
	}
	added := c.query(t, fmt.Sprintf(
		`count by (spark_app_id, spark_executor_id) (last_over_time({__name__=~%q,spark_executor_id!=""}[15m]))`, ofPlugin))
	require.GreaterOrEqual(t, len(added), 2, "a driver and an executor at least")
	for _, s := range added {
		require.LessOrEqualf(t, s.number(t), float64(seriesOfPlugin(s)), "series of the Spark plugin and of S3A in %s", s.Metric)
	}
	// What identifies an agent's process changes with each start and must not label a
	// series: no process ids, command lines or random instance ids.
	allowed := map[string]bool{"__name__": true, "job": true, "instance": true} // instance: of targets that VictoriaMetrics scrapes itself
	for _, m := range contract.Metrics() {
		for _, l := range m.AllLabels() {
			allowed[l] = true
		}
	}
	var named struct{ Data []string }
	c.get(t, string(platform.WorkloadVictoriaMetrics), "/api/v1/labels", &named)
	require.Empty(t, slices.DeleteFunc(named.Data, func(l string) bool { return allowed[l] }), "labels that no metric of the contract has")
	// Relayed data keeps its own host: the control node has no JVM and no YARN.
	nodes := c.status(t).Nodes
	control := nodes[slices.IndexFunc(nodes, func(n status.Node) bool { return n.Role == platform.RoleControl })].Host
	daemons := `__name__=~"jvm_.*|node_manager_.*|queue_metrics_.*"`
	require.Empty(t, c.query(t, fmt.Sprintf(`last_over_time({host_name=%q,%s}[15m])`, control, daemons)))

	for _, service := range []string{"spark-executor", "spark-driver", "yarn-container", "emr-step", "emr-bootstrap"} {
		filter := fmt.Sprintf(`"service.name":=%q`, service)
		for _, row := range c.logs(t, filter, 50) {
			require.Equalf(t, stack.Clusters["main"].ID, row[string(platform.Cluster)], "%s: %v", filter, row)
			require.NotEmptyf(t, row[string(platform.NodeRole)], "%s: %v", filter, row)
			require.NotEqualf(t, control, row[string(platform.HostName)], "%s: %v", filter, row)
			require.NotEmptyf(t, row[string(platform.HostName)], "%s: %v", filter, row)
		}
	}
	labels := slices.Concat(platform.HostLabels(), platform.JVMLabels())
	profiles := c.profileSeries(t, labels...)
	require.NotEmpty(t, profiles)
	for _, profile := range profiles {
		require.Len(t, profile, len(labels), "labels of a profile: %v", profile)
		require.NotContains(t, slices.Collect(maps.Values(profile)), "", "%v", profile)
	}
	require.Subset(t, c.profiledHosts(t), hosts)

	var spans bytes.Buffer
	testenv.Eventually(t, func() bool { // the control node reads the steps in the background
		var answer json.RawMessage
		spans.Reset()
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+trace, &answer) == nil && json.Compact(&spans, answer) == nil &&
			strings.Contains(spans.String(), platform.ServiceStep)
	}, testenv.Arrival, time.Second, "the step's span")
	master := nodes[slices.IndexFunc(nodes, func(n status.Node) bool {
		return n.Role == platform.RoleMaster && n.Cluster == stack.Clusters["main"].ID
	})].Host
	for label, value := range map[platform.Label]string{
		platform.Cluster: stack.Clusters["main"].ID, platform.NodeRole: platform.RoleMaster,
		platform.HostName: master, platform.ServiceName: platform.ServiceStep,
	} {
		require.Contains(t, spans.String(), fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, label, value), "the step's span")
	}
}

// profileSeries returns the values of labels, by name, of each combination that the last
// hour's profiles in Pyroscope have.
func (c *cloud) profileSeries(t *testing.T, labels ...platform.Label) (series []map[string]string) {
	t.Helper()
	names := []string{}
	for _, l := range labels {
		names = append(names, l.Metric())
	}
	now := time.Now()
	request, err := json.Marshal(map[string]any{"labelNames": names, "start": now.Add(-time.Hour).UnixMilli(), "end": now.UnixMilli()})
	require.NoError(t, err)
	var answer struct {
		LabelsSet []struct {
			Labels []struct{ Name, Value string }
		}
	}
	require.NoError(t, c.send(t, http.MethodPost, string(platform.WorkloadPyroscope), "/querier.v1.QuerierService/Series",
		bytes.NewReader(request), &answer))
	for _, set := range answer.LabelsSet {
		values := map[string]string{}
		for _, l := range set.Labels {
			values[l.Name] = l.Value
		}
		series = append(series, values)
	}
	return series
}

// traces returns the ids of at most 20 traces of the last hour that a TraceQL query finds.
func (c *cloud) traces(t *testing.T, query string) (ids []string) {
	t.Helper()
	now := time.Now()
	params := url.Values{
		"q": {query}, "start": {strconv.FormatInt(now.Add(-time.Hour).Unix(), 10)}, "end": {strconv.FormatInt(now.Unix(), 10)},
	}
	var answer struct {
		Traces []struct{ TraceID string }
	}
	c.get(t, string(platform.WorkloadTempo), "/api/search?"+params.Encode(), &answer)
	for _, found := range answer.Traces {
		ids = append(ids, found.TraceID)
	}
	return ids
}

// logs returns rows of VictoriaLogs and requires at least one.
func (c *cloud) logs(t *testing.T, query string, limit int) []map[string]string {
	t.Helper()
	rows, err := c.tryLogs(t, query, limit)
	require.NoError(t, err)
	require.NotEmptyf(t, rows, "logs of %s", query)
	return rows
}

// tryLogs runs a LogsQL query and returns at most limit rows, which may be none.
func (c *cloud) tryLogs(t *testing.T, query string, limit int) ([]map[string]string, error) {
	var answer []byte
	params := url.Values{"query": {query}, "limit": {strconv.Itoa(limit)}}
	if err := c.tryGet(t, string(platform.WorkloadVictoriaLogs), "/select/logsql/query?"+params.Encode(), &answer); err != nil {
		return nil, err
	}
	var rows []map[string]string
	for lines := json.NewDecoder(bytes.NewReader(answer)); lines.More(); {
		var row map[string]string
		if err := lines.Decode(&row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// caDir is where K3s stores its CA keys on the data volume, which is encrypted on
// AWS. They may be in plain text nowhere else.
const caDir = "/fs/k3s/server/tls/"

// noSecretInPlainText searches for the stack's secrets in the state folder, in the
// command lines of the running processes and of the up, and in the logs.
func noSecretInPlainText(t *testing.T, c *cloud) {
	all := c.plainOutputs(t)
	local, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	administrator := clientData(t, fmt.Sprint(all["kubeconfig"]), "key")
	words := []canary.Secret{
		{Name: "Grafana's password", Value: fmt.Sprint(all["grafanaPassword"])},
		{Name: "status page's password", Value: fmt.Sprint(all["statusPassword"])},
		{Name: "token of the tools", Value: fmt.Sprint(all["toolsToken"])},
		{Name: "passphrase of the state", Value: local.Passphrase},
		{Name: "AWS secret key", Value: local.SecretAccessKey},
	}
	for role, keys := range c.roleKeys(t) {
		for _, k := range keys {
			words = append(words, canary.Secret{Name: "secret key of " + role, Value: k.SecretAccessKey})
		}
	}
	public := []string{publicKey(t, administrator)}
	secrets := append(slices.Clone(words), canary.Secret{Name: "administrator's key", Value: administrator})
	keys, err := filepath.Glob(filepath.Join(c.state, "ec2/volumes/*"+caDir+"*-ca.key"))
	require.NoError(t, err)
	require.Len(t, keys, 3, "CA keys of K3s")
	for _, path := range keys {
		key, err := os.ReadFile(path)
		require.NoError(t, err)
		public = append(public, publicKey(t, string(key)))
		secrets = append(secrets, canary.Secret{Name: filepath.Base(path), Value: string(key)})
	}
	search, err := canary.New(public, secrets...)
	require.NoError(t, err)
	for _, word := range words { // by query: VictoriaLogs compresses its files
		rows, err := c.tryLogs(t, strconv.Quote(word.Value), 1)
		require.NoError(t, err)
		require.Emptyf(t, rows, "logs with %s", word.Name)
	}
	var leaks []canary.Leak
	for _, line := range c.processes(t) {
		leaks = append(leaks, search.Search("a command line", []byte(line))...)
	}
	for line := range c.commandLines {
		leaks = append(leaks, search.Search("a command line during up", []byte(line))...)
	}
	entries, err := os.ReadDir(c.state)
	require.NoError(t, err)
	for _, e := range entries {
		path := filepath.Join(c.state, e.Name())
		switch {
		case e.Name() == "credentials.json": // the place for secrets, readable by its owner only
			info, err := e.Info()
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077)
		case e.Name() == "s3" || e.IsDir() && e.Name() != "machines":
			found, _, err := search.SearchTree(path)
			require.NoError(t, err)
			leaks = append(leaks, found...)
		case e.Name() == "machines":
			found, err := searchMachines(search, path)
			require.NoError(t, err)
			leaks = append(leaks, found...)
		default:
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			leaks = append(leaks, search.Search(path, content)...)
		}
	}
	require.Empty(t, slices.DeleteFunc(leaks, func(l canary.Leak) bool {
		inAccounts := strings.HasPrefix(l.Source, "iam/iam.json") // the local IAM's own file, readable by its owner only
		return strings.Contains(l.Source, caDir) && strings.HasSuffix(l.Source, ".key") || inAccounts
	}))
}

// clientData returns the key or the certificate of a kubeconfig's user; what is
// "key" or "certificate".
func clientData(t *testing.T, kubeconfig, what string) string {
	t.Helper()
	m := regexp.MustCompile(`"?client-` + what + `-data"?:\s*"?([A-Za-z0-9+/=]+)`).FindStringSubmatch(kubeconfig)
	require.NotNilf(t, m, "a kubeconfig with a client's %s", what)
	data, err := base64.StdEncoding.DecodeString(m[1])
	require.NoError(t, err)
	return string(data)
}

// publicKey returns the public half of a private key, both as PEM. The file of a
// private key contains it too.
func publicKey(t *testing.T, private string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(private))
	require.NotNil(t, block)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// searchMachines searches the files that the machines wrote. It skips what links or
// mounts of the host provide.
func searchMachines(search *canary.Searcher, dir string) (leaks []canary.Leak, err error) {
	roots, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		if slices.Contains([]string{".host", "usr", "proc", "sys"}, filepath.Base(root)) {
			continue
		}
		info, err := os.Lstat(root)
		if err != nil || !info.IsDir() {
			continue
		}
		found, _, err := search.SearchTree(root)
		if err != nil {
			return nil, err
		}
		leaks = append(leaks, found...)
	}
	return leaks, nil
}
