package emr

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

func newInstanceID() string {
	b := make([]byte, 9)
	_, _ = rand.Read(b)
	return "i-" + hex.EncodeToString(b)[:17]
}

func sortUsers(users []machine.User) {
	sort.Slice(users, func(i, j int) bool { return users[i].UID < users[j].UID })
}

// image lays down what an EMR AMI has before any bootstrap action: Java, the
// AWS CLI, EMR's own folders and the node's facts.
func (s *Service) image(n *node) error {
	root := n.machine.Root
	if err := applications.WriteCLI(root); err != nil {
		return err
	}
	// /usr/lib/jvm is a link to the host's; the node has its own with EMR's name.
	jvm := filepath.Join(root, "usr/lib/jvm")
	if err := os.RemoveAll(jvm); err != nil {
		return err
	}
	if err := os.MkdirAll(jvm, 0o755); err != nil {
		return err
	}
	for link, target := range map[string]string{
		"usr/lib/jvm/jre-17":               "/.host/java",
		"usr/bin/java":                     hadoop.JavaHome + "/bin/java",
		"emr/instance-controller/lib/info": platform.EMRInfoDir,
		"mnt/var/log/bootstrap-actions":    platform.EMRControllerDir + "/log/bootstrap-actions",
	} {
		if err := relink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	role := strings.ToUpper(n.Role[:1]) + n.Role[1:]
	facts := map[string]any{
		"instance.json": map[string]any{"instanceGroupId": n.memberID, "isMaster": n.Master(), "isRunningNameNode": n.Master(), "isRunningDataNode": !n.Master(), "isRunningJobTracker": false, "isRunningTaskTracker": false},
		"job-flow.json": map[string]any{"jobFlowId": n.ClusterID, "jobFlowCreationInstant": time.Now().UnixMilli(), "instanceCount": n.CoreNodes + 1, "masterPrivateDnsName": n.MasterHost + "." + n.Domain, "hadoopVersion": "3.4.1",
			"instanceGroups": []map[string]any{{"instanceRole": role, "marketType": "OnDemand"}}},
		"extraInstanceData.json": map[string]any{"jobFlowId": n.ClusterID, "masterHost": n.MasterHost + "." + n.Domain, "instanceRole": n.Role, "marketType": "on_demand", "region": n.Region, "releaseLabel": n.Release, "haEnabled": false, "numCandidates": 1},
	}
	for name, fact := range facts {
		b, err := json.MarshalIndent(fact, "", "  ")
		if err != nil {
			return err
		}
		if err := n.write(path.Join(platform.EMRInfoDir, name), string(b)+"\n", 0o644); err != nil {
			return err
		}
	}
	return n.write(path.Join(platform.EMRInfoDir, "job-flow-state.txt"), "localInstance {\n  nodeProvisionCheckinRecord {\n    status: PENDING\n  }\n}\n", 0o644)
}

func relink(target, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// bootstrap runs the cluster's bootstrap actions on a node, in order, as the
// account hadoop, each in a folder of its own.
func (s *Service) bootstrap(ctx context.Context, id string, n *node, actions []Action) error {
	for i, a := range actions {
		ordinal := i + 1
		dir := fmt.Sprintf("%s/lib/bootstrap-actions/%d", platform.EMRControllerDir, ordinal)
		logs := fmt.Sprintf("%s/log/bootstrap-actions/%d", platform.EMRControllerDir, ordinal)
		script, err := s.Objects.Get(ctx, a.Path)
		if err != nil {
			return fmt.Errorf("BOOTSTRAP_FAILURE: bootstrap action %d (%s) could not be downloaded: %w", ordinal, a.Name, err)
		}
		file := path.Join(dir, path.Base(a.Path))
		if err := n.write(file, string(script), 0o755); err != nil {
			return err
		}
		if err := n.machine.Must(ctx, machine.Exec{Argv: []string{"chown", "-R", "hadoop", dir}}); err != nil {
			return err
		}
		start := time.Now()
		res, err := n.machine.Run(ctx, machine.Exec{Argv: append([]string{file}, a.Args...), Dir: dir, User: "hadoop", Stdout: logs + "/stdout", Stderr: logs + "/stderr"})
		if err != nil {
			return fmt.Errorf("bootstrap action %d (%s) on %s: %w", ordinal, a.Name, n.Host, err)
		}
		if err := n.write(logs+"/controller", controllerLog(append([]string{file}, a.Args...), start, res.ExitCode), 0o644); err != nil {
			return err
		}
		if res.ExitCode != 0 {
			tail, _ := os.ReadFile(filepath.Join(n.machine.Root, logs, "stderr"))
			if len(tail) > 2000 {
				tail = tail[len(tail)-2000:]
			}
			return &errBootstrap{role: n.Role, instance: n.instanceID, action: a.Name, ordinal: ordinal, code: res.ExitCode, stderr: string(tail)}
		}
	}
	return nil
}

// controllerLog has the lines that EMR's controller writes about a program.
func controllerLog(argv []string, start time.Time, code int) string {
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	end := time.Now()
	return fmt.Sprintf("%s INFO startExec '%s'\n%s INFO waitProcessCompletion ended with exit code %d\n%s INFO total process run time: %d seconds\n",
		stamp(start), strings.Join(argv, " "), stamp(end), code, stamp(end), int(end.Sub(start).Seconds()))
}

// configure installs the applications and writes their configuration over
// whatever a bootstrap action may have left there, as EMR does.
func (s *Service) configure(ctx context.Context, n *node) error {
	root := n.machine.Root
	for link, target := range map[string]string{
		platform.EMRSparkHome:   "/.host/applications/spark",
		platform.EMRHadoopHome:  "/.host/applications/hadoop",
		"/usr/bin/spark-submit": platform.EMRSparkHome + "/bin/spark-submit",
		"/usr/bin/pyspark":      platform.EMRSparkHome + "/bin/pyspark",
		"/usr/bin/spark-sql":    platform.EMRSparkHome + "/bin/spark-sql",
	} {
		if err := relink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	for file, content := range hadoop.Files(n.Node) {
		if err := n.write(file, content, 0o644); err != nil {
			return err
		}
	}
	for _, d := range append(hadoop.Daemons(n.Role), hadoop.HistoryServer) {
		if d == hadoop.HistoryServer && !n.Master() {
			continue
		}
		if err := n.write("/etc/systemd/system/"+d.Unit, hadoop.UnitFile(d, n.Node), 0o644); err != nil {
			return err
		}
	}
	script := "mkdir -p /mnt/tmp /mnt/yarn /mnt/hdfs /mnt/namenode /var/log/hadoop-yarn/containers /var/log/hadoop-hdfs /var/log/spark /var/log/hadoop/steps\n" +
		"chmod 1777 /mnt/tmp && chown yarn:hadoop /mnt/yarn /var/log/hadoop-yarn /var/log/hadoop-yarn/containers\n" +
		"chown hdfs:hadoop /mnt/hdfs /mnt/namenode /var/log/hadoop-hdfs && chown spark:hadoop /var/log/spark && chmod 1777 /var/log/spark && chown hadoop:hadoop /var/log/hadoop/steps\n"
	return n.machine.Must(ctx, machine.Exec{Argv: []string{"bash", "-ec", script}})
}

// startDaemons brings up HDFS, then YARN, then the history server, and waits
// until each answers and every node is in YARN.
func (s *Service) startDaemons(ctx context.Context, nodes []*node) error {
	master := nodes[0]
	format := machine.Exec{Argv: hadoop.Command(hadoop.NameNode.Class, "-format", "-nonInteractive"), User: "hdfs", Env: map[string]string{"HADOOP_CONF_DIR": platform.EMRHadoopConfDir}}
	if _, err := os.Stat(filepath.Join(master.machine.Root, "mnt/namenode/current")); err != nil {
		if err := master.machine.Must(ctx, format); err != nil {
			return err
		}
	}
	if err := each(nodes, func(n *node) error {
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
	}); err != nil {
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
	for _, n := range nodes {
		state := "localInstance {\n  nodeProvisionCheckinRecord {\n    status: SUCCESSFUL\n  }\n}\n"
		if err := n.write(path.Join(platform.EMRInfoDir, "job-flow-state.txt"), state, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// daemonDeadline is how long a daemon may take to answer: a few seconds alone,
// more when all start at once on two cores.
const daemonDeadline = 3 * time.Minute

func (n *node) answers(ctx context.Context, d hadoop.Daemon) error {
	url := fmt.Sprintf("http://%s:%d/", n.ip(), d.Port)
	return poll(ctx, daemonDeadline, func() error {
		res, err := http.Get(url) //nolint:gosec,noctx // a node's own page
		if err != nil {
			return fmt.Errorf("%s on %s does not answer on port %d; its log is %s", d.Unit, n.Host, d.Port, filepath.Join(n.machine.Root, "var/log", d.Log+"-"+n.Host+".log"))
		}
		res.Body.Close()
		return nil
	})
}

// allInYARN waits until the ResourceManager counts every worker as active.
func (s *Service) allInYARN(ctx context.Context, nodes []*node) error {
	url := fmt.Sprintf("http://%s:%d/ws/v1/cluster/metrics", nodes[0].ip(), platform.ResourceManagerUI)
	return poll(ctx, daemonDeadline, func() error {
		res, err := http.Get(url) //nolint:gosec,noctx // a node's own page
		if err != nil {
			return err
		}
		defer res.Body.Close()
		// The one-jar build of the daemons gives this without the outer
		// "clusterMetrics" that the ordinary build has.
		var answer struct{ ActiveNodes int }
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			return err
		}
		if answer.ActiveNodes < len(nodes)-1 {
			return fmt.Errorf("%d of %d nodes are active in YARN", answer.ActiveNodes, len(nodes)-1)
		}
		return nil
	})
}

// poll tries until it succeeds, the deadline passes or ctx ends.
func poll(ctx context.Context, deadline time.Duration, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("within %s: %w", deadline, err)
		case <-tick.C:
		}
	}
}
