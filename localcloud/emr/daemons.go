package emr

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
)

// startDaemons starts HDFS, then YARN, then the history server, and waits until
// each answers and every node has joined YARN. The primary node comes first.
func (s *Service) startDaemons(ctx context.Context, nodes []*node) error {
	master := nodes[0]
	if err := master.runAs(ctx, "hdfs", hadoop.NameNode().Class, "-format", "-nonInteractive"); err != nil {
		return fmt.Errorf("format HDFS: %w", err)
	}
	if err := forEachNode(nodes, func(n *node) error { return n.startDaemons(ctx) }); err != nil {
		return err
	}
	if labels := master.LabelArguments(); labels != nil {
		if err := master.runAs(ctx, "yarn", hadoop.ResourceManagerAdmin, labels...); err != nil {
			return fmt.Errorf("add YARN's node labels: %w", err)
		}
	}
	for _, args := range [][]string{
		{"-mkdir", "-p", "/var/log/spark/apps", "/user/hadoop", "/user/spark/warehouse", "/tmp"},
		{"-chmod", "-R", "1777", "/var/log/spark/apps", "/user", "/tmp"},
	} {
		if err := master.runAs(ctx, "hdfs", hadoop.FsShell, args...); err != nil {
			return fmt.Errorf("create folders in HDFS: %w", err)
		}
	}
	history := hadoop.HistoryServer()
	if err := master.machine.StartUnit(ctx, history.Unit); err != nil {
		return err
	}
	if err := awaitActive(ctx, master, nodes[1:]); err != nil {
		return err
	}
	if err := master.awaitDaemon(ctx, history); err != nil {
		return err
	}
	return forEachNode(nodes, (*node).reportProvisioned)
}

// reportProvisioned reports a node as provisioned, as EMR's controller does.
func (n *node) reportProvisioned() error { return n.writeProvisioning("SUCCESSFUL") }

// startDaemons starts the daemons of the node's role and waits for each.
func (n *node) startDaemons(ctx context.Context) error {
	for _, d := range n.Daemons() {
		if err := n.machine.StartUnit(ctx, d.Unit); err != nil {
			return fmt.Errorf("start %s on %s: %w", d.Unit, n.Host, err)
		}
	}
	for _, d := range n.Daemons() {
		if err := n.awaitDaemon(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// maxDaemonRestarts is the number of restarts after which a daemon counts as failed.
const maxDaemonRestarts = 3

// daemonPollOptions sets how long a daemon may take to answer. It needs seconds if it
// starts alone, longer if all start at once on two cores.
func daemonPollOptions() poll.Options {
	return poll.Options{Interval: 200 * time.Millisecond, Timeout: 3 * time.Minute}
}

// awaitDaemon waits until a daemon's web page answers. Its error contains the end
// of the daemon's log.
func (n *node) awaitDaemon(ctx context.Context, d hadoop.Daemon) error {
	err := poll.Until(ctx, daemonPollOptions(), func(ctx context.Context) error {
		res, err := httpGet(ctx, fmt.Sprintf("http://%s:%d/", n.ip(), d.Port))
		if err == nil {
			return res.Body.Close()
		}
		units, unitsErr := n.machine.Units(ctx)
		if unitsErr != nil {
			return unitsErr
		}
		for _, u := range units {
			if u.Name == d.Unit && u.Restarts >= maxDaemonRestarts {
				return poll.Permanent(fmt.Errorf("ended %d times", u.Restarts))
			}
		}
		return fmt.Errorf("no answer on port %d", d.Port)
	})
	if err != nil {
		log := filepath.Join(n.machine.Root, "var/log", d.Log+"-"+n.Host+".log")
		return fmt.Errorf("start %s on %s: %w%s", d.Unit, n.Host, err, logTail(log, log))
	}
	return nil
}

// httpGet sends a GET request.
func httpGet(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// getJSON decodes what a daemon's web page of a node answers.
func getJSON(ctx context.Context, n *node, port platform.Port, path string, into any) error {
	res, err := httpGet(ctx, fmt.Sprintf("http://%s:%d%s", n.ip(), port, path))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(res.Body).Decode(into)
}

// maxTailBytes is how much of a log an error contains.
const maxTailBytes = 2000

// logTail returns the end of a log, formatted as a suffix for an error message; ""
// if there is no log.
func logTail(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	end := strings.TrimSpace(string(text[max(0, len(text)-maxTailBytes):]))
	if end == "" {
		return ""
	}
	return "; the end of " + name + ":\n" + end
}

// yarnMetrics are some of the ResourceManager's cluster metrics.
type yarnMetrics struct {
	AppsSubmitted, AppsRunning, AppsPending      int
	AllocatedMB, PendingMB, AvailableMB, TotalMB int
	ContainersAllocated, ContainersPending       int
	ActiveNodes                                  int

	// With node labels, the metrics above are those of the nodes without one.
	TotalClusterResourcesAcrossPartition, TotalUsedResourcesAcrossPartition struct{ MemorySize int }
}

// readYARNMetrics reads the ResourceManager's cluster metrics.
func readYARNMetrics(ctx context.Context, master *node) (yarnMetrics, error) {
	// The one-jar build of the daemons does not wrap them in "clusterMetrics", as
	// the ordinary build does.
	var metrics yarnMetrics
	if err := getJSON(ctx, master, platform.ResourceManagerUI, "/ws/v1/cluster/metrics", &metrics); err != nil {
		return metrics, fmt.Errorf("read YARN's cluster metrics: %w", err)
	}
	if total := metrics.TotalClusterResourcesAcrossPartition.MemorySize; total > 0 {
		used := metrics.TotalUsedResourcesAcrossPartition.MemorySize
		metrics.TotalMB, metrics.AllocatedMB, metrics.AvailableMB = total, used, total-used
	}
	return metrics, nil
}
