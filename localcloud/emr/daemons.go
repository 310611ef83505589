package emr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

// startDaemons brings up HDFS, then YARN, then the history server, and waits
// until each answers and every node is in YARN. The primary comes first.
func (s *Service) startDaemons(ctx context.Context, nodes []*node) error {
	master := nodes[0]
	format := machine.Exec{Argv: hadoop.Command(hadoop.NameNode.Class, "-format", "-nonInteractive"), User: "hdfs", Env: map[string]string{"HADOOP_CONF_DIR": platform.EMRHadoopConfDir}}
	if err := master.machine.Must(ctx, format); err != nil {
		return err
	}
	if err := each(nodes, func(n *node) error { return n.startDaemons(ctx) }); err != nil {
		return err
	}
	dirs := machine.Exec{Argv: hadoop.Command("org.apache.hadoop.fs.FsShell", "-mkdir", "-p", "/var/log/spark/apps", "/user/hadoop", "/user/spark/warehouse", "/tmp"), User: "hdfs"}
	if err := master.machine.Must(ctx, dirs); err != nil {
		return err
	}
	open := machine.Exec{Argv: hadoop.Command("org.apache.hadoop.fs.FsShell", "-chmod", "-R", "1777", "/var/log/spark/apps", "/user", "/tmp"), User: "hdfs"}
	if err := master.machine.Must(ctx, open); err != nil {
		return err
	}
	if err := master.machine.StartUnit(ctx, hadoop.HistoryServer.Unit); err != nil {
		return err
	}
	if err := s.allInYARN(ctx, nodes); err != nil {
		return err
	}
	if err := master.answers(ctx, hadoop.HistoryServer); err != nil {
		return err
	}
	return checkIn(nodes)
}

// checkIn writes what EMR's controller does on nodes that are provisioned.
func checkIn(nodes []*node) error {
	for _, n := range nodes {
		state := "localInstance {\n  nodeProvisionCheckinRecord {\n    status: SUCCESSFUL\n  }\n}\n"
		if err := n.write(path.Join(platform.EMRInfoDir, "job-flow-state.txt"), state, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// startDaemons starts those of the node's role and waits for each.
func (n *node) startDaemons(ctx context.Context) error {
	for _, d := range hadoop.Daemons(n.Role) {
		if err := n.machine.StartUnit(ctx, d.Unit); err != nil {
			return fmt.Errorf("start %s on %s: %w", d.Unit, n.Host, err)
		}
	}
	for _, d := range hadoop.Daemons(n.Role) {
		if err := n.answers(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

const (
	// daemonDeadline is how long a daemon may take to answer: a few seconds
	// alone, more when all start at once on two cores.
	daemonDeadline = 3 * time.Minute
	// daemonRestarts is how often one may end before it is given up.
	daemonRestarts = 3
)

// answers waits until a daemon's page does. Its log's end is in the error.
func (n *node) answers(ctx context.Context, d hadoop.Daemon) error {
	url := fmt.Sprintf("http://%s:%d/", n.ip(), d.Port)
	log := filepath.Join(n.machine.Root, "var/log", d.Log+"-"+n.Host+".log")
	err := poll(ctx, daemonDeadline, func() error {
		res, err := http.Get(url) //nolint:gosec,noctx // a node's own page
		if err == nil {
			res.Body.Close()
			return nil
		}
		units, unitsErr := n.machine.Units(ctx)
		if unitsErr != nil {
			return unitsErr
		}
		for _, u := range units {
			if u.Name == d.Unit && u.Restarts >= daemonRestarts {
				return &hopeless{fmt.Errorf("ended %d times", u.Restarts)}
			}
		}
		return fmt.Errorf("does not answer on port %d", d.Port)
	})
	if err != nil {
		return fmt.Errorf("%s on %s: %w%s", d.Unit, n.Host, err, tail(log, log))
	}
	return nil
}

// tailBytes is how much of a log goes into an error.
const tailBytes = 2000

// tail gives the end of a log as the end of an error's text, or nothing.
func tail(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	end := strings.TrimSpace(string(text[max(0, len(text)-tailBytes):]))
	if end == "" {
		return ""
	}
	return "; the end of " + name + ":\n" + end
}

// yarnMetrics is the part of the ResourceManager's cluster metrics in use.
type yarnMetrics struct {
	ActiveNodes, AppsSubmitted, AppsRunning, AppsPending int
}

// yarn asks the ResourceManager for its cluster metrics.
func yarn(ctx context.Context, master *node) (yarnMetrics, error) {
	// The one-jar build of the daemons gives this without the outer
	// "clusterMetrics" that the ordinary build has.
	var answer yarnMetrics
	url := fmt.Sprintf("http://%s:%d/ws/v1/cluster/metrics", master.ip(), platform.ResourceManagerUI)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer, err
	}
	defer res.Body.Close()
	return answer, json.NewDecoder(res.Body).Decode(&answer)
}

// allInYARN waits until the ResourceManager counts every worker as active.
func (s *Service) allInYARN(ctx context.Context, nodes []*node) error {
	return poll(ctx, daemonDeadline, func() error {
		answer, err := yarn(ctx, nodes[0])
		if err == nil && answer.ActiveNodes < len(nodes)-1 {
			err = fmt.Errorf("%d of %d nodes are active in YARN", answer.ActiveNodes, len(nodes)-1)
		}
		return err
	})
}

// hopeless ends a poll before its deadline.
type hopeless struct{ error }

func (h *hopeless) Unwrap() error { return h.error }

// poll tries until it succeeds, there is no hope, the deadline passes or ctx
// ends.
func poll(ctx context.Context, deadline time.Duration, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		var end *hopeless
		if err == nil || errors.As(err, &end) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("within %s: %w", deadline, err)
		case <-tick.C:
		}
	}
}
