package contract_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

var update = flag.Bool("update", false, "write the daemons' metrics to testdata, and the reference")

// TestDaemonsExposeContractMetrics starts the Hadoop daemons that the local cloud
// runs, and compares their metrics on /prom with the contract and with testdata.
// With -update it writes testdata first.
func TestDaemonsExposeContractMetrics(t *testing.T) {
	for daemon, families := range startDaemons(t) {
		if *update {
			record(t, daemon, families)
		}
		requireContract(t, daemon, families)
		recorded := recordedFamilies(t, daemon)
		for _, m := range metricsOf(daemon) {
			require.Equal(t, families[m.Emitted], recorded[m.Emitted],
				"%s of %s: run go test ./dashboards/contract -run TestDaemonsExposeContractMetrics -update", m.Emitted, daemon)
		}
	}
}

// record writes a daemon's families to testdata.
func record(t *testing.T, daemon string, families map[string]family) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# Metrics of Hadoop %s on /prom: name, type, labels.\n", applications.Hadoop)
	b.WriteString("# Written by go test ./dashboards/contract -run TestDaemonsExposeContractMetrics -update.\n")
	for _, name := range slices.Sorted(maps.Keys(families)) {
		fmt.Fprintf(&b, "%s %s %s\n", name, families[name].kind, strings.Join(families[name].labels, ","))
	}
	require.NoError(t, os.WriteFile(filepath.Join("testdata", daemon+".txt"), []byte(b.String()), 0o644))
}

// daemon is one of Hadoop's processes with its HTTP address.
type daemon struct{ name, class, http string }

// startDaemons starts HDFS and YARN on loopback and returns each daemon's metrics
// once a DataNode and a NodeManager have registered.
func startDaemons(t *testing.T) map[string]map[string]family {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	h := hadoop{dir: t.TempDir(), jars: filepath.Join(tree, "hadoop", "lib", "*")}
	daemons := h.configure(t)
	h.run(t, "format", daemons[0].class, "-format", "-nonInteractive")
	for _, d := range daemons {
		h.start(t, d)
	}
	byDaemon := map[string]map[string]family{}
	for _, d := range daemons {
		byDaemon[d.name] = scrape(t, d, func(page string) bool {
			switch d.name {
			case "namenode":
				return registered.MatchString(page)
			case "resourcemanager":
				return active.MatchString(page)
			}
			return strings.Contains(page, "jvm_metrics_mem_heap_used_m")
		})
	}
	return byDaemon
}

var (
	registered = regexp.MustCompile(`(?m)^fs_namesystem_num_live_data_nodes\{[^}]*\} 1`)
	active     = regexp.MustCompile(`(?m)^cluster_metrics_num_active_n_ms\{[^}]*\} 1`)
)

// hadoop is the daemons' configuration and data.
type hadoop struct{ dir, jars string }

// configure writes the configuration files and returns the daemons in the order in
// which they start.
func (h hadoop) configure(t *testing.T) []daemon {
	t.Helper()
	nameNode, nameNodeHTTP, dataNodeHTTP := testenv.Address(t), testenv.Address(t), testenv.Address(t)
	managerHTTP, nodeHTTP := testenv.Address(t), testenv.Address(t)
	h.site(t, "core-site.xml", map[string]string{
		"fs.defaultFS": "hdfs://" + nameNode, "hadoop.tmp.dir": h.dir, "hadoop.prometheus.endpoint.enabled": "true",
	})
	h.site(t, "hdfs-site.xml", map[string]string{
		"dfs.namenode.http-address": nameNodeHTTP, "dfs.datanode.http.address": dataNodeHTTP,
		"dfs.datanode.address": testenv.Address(t), "dfs.datanode.ipc.address": testenv.Address(t), "dfs.replication": "1",
	})
	yarn := map[string]string{
		"yarn.resourcemanager.webapp.address": managerHTTP, "yarn.nodemanager.webapp.address": nodeHTTP,
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.5",
	}
	for _, name := range []string{
		"resourcemanager.address", "resourcemanager.scheduler.address", "resourcemanager.resource-tracker.address",
		"resourcemanager.admin.address", "nodemanager.address", "nodemanager.localizer.address",
	} {
		yarn["yarn."+name] = testenv.Address(t)
	}
	h.site(t, "yarn-site.xml", yarn)
	h.site(t, "capacity-scheduler.xml", map[string]string{
		"yarn.scheduler.capacity.root.queues": "default", "yarn.scheduler.capacity.root.default.capacity": "100",
	})
	const hdfs, server = "org.apache.hadoop.hdfs.server.", "org.apache.hadoop.yarn.server."
	return []daemon{
		{"namenode", hdfs + "namenode.NameNode", nameNodeHTTP},
		{"datanode", hdfs + "datanode.DataNode", dataNodeHTTP},
		{"resourcemanager", server + "resourcemanager.ResourceManager", managerHTTP},
		{"nodemanager", server + "nodemanager.NodeManager", nodeHTTP},
	}
}

// site writes a configuration file.
func (h hadoop) site(t *testing.T, file string, properties map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<configuration>\n")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", name, properties[name])
	}
	b.WriteString("</configuration>\n")
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, file), []byte(b.String()), 0o600))
}

func (h hadoop) command(class string, args ...string) *exec.Cmd {
	opens := "--add-opens=java.base/java.lang=ALL-UNNAMED"
	cmd := exec.Command("java", append([]string{opens, "-Xmx256m", "-cp", h.dir + ":" + h.jars, class}, args...)...)
	cmd.Dir = h.dir
	return cmd
}

func (h hadoop) run(t *testing.T, what, class string, args ...string) {
	t.Helper()
	out, err := h.command(class, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", what, out)
}

func (h hadoop) start(t *testing.T, d daemon) {
	t.Helper()
	log, err := os.Create(filepath.Join(h.dir, d.name+".log"))
	require.NoError(t, err)
	cmd := h.command(d.class)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			content, _ := os.ReadFile(log.Name())
			t.Logf("%s: %s", d.name, content[max(0, len(content)-4000):])
		}
	})
}

// scrape polls a daemon's /prom until the page satisfies ready, and parses it.
func scrape(t *testing.T, d daemon, ready func(page string) bool) map[string]family {
	t.Helper()
	var page string
	testenv.Eventually(t, func() bool {
		response, err := http.Get("http://" + d.http + "/prom")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		page = string(body)
		return err == nil && ready(page)
	}, testenv.Job, 500*time.Millisecond, "%s does not register", d.name)
	return families(page)
}

var (
	typeLine   = regexp.MustCompile(`^# TYPE (\S+) (\S+)`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? `)
	labelName  = regexp.MustCompile(`(?:^|,)(\w+)="(?:[^"\\]|\\.)*"`)
)

// families parses the text format: each name with its type and all labels that any
// of its samples has.
func families(page string) map[string]family {
	found, kinds := map[string]family{}, map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(page)); lines.Scan(); {
		if match := typeLine.FindStringSubmatch(lines.Text()); match != nil {
			kinds[match[1]] = match[2]
			continue
		}
		match := sampleLine.FindStringSubmatch(lines.Text())
		if match == nil || kinds[match[1]] == "" {
			continue
		}
		f := found[match[1]]
		f.kind = kinds[match[1]]
		for _, label := range labelName.FindAllStringSubmatch(match[2], -1) {
			if !slices.Contains(f.labels, label[1]) {
				f.labels = append(f.labels, label[1])
			}
		}
		slices.Sort(f.labels)
		found[match[1]] = f
	}
	return found
}
