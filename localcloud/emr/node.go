package emr

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
		"instance.json": map[string]any{"instanceGroupId": n.groupID, "isMaster": n.Master(), "isRunningNameNode": n.Master(), "isRunningDataNode": !n.Master(), "isRunningJobTracker": false, "isRunningTaskTracker": false},
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

// appendHosts tells a node the names of others.
func (n *node) appendHosts(others []*node) error {
	f, err := os.OpenFile(filepath.Join(n.machine.Root, "etc/hosts"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, o := range others {
		if _, err := fmt.Fprintf(f, "%s %s %s\n", o.ip(), o.fqdn(), o.Host); err != nil {
			return err
		}
	}
	return nil
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

// configure installs the applications and writes their configuration over
// whatever a bootstrap action may have left there, as EMR does.
func (s *Service) configure(ctx context.Context, n *node) error {
	root := n.machine.Root
	for link, target := range map[string]string{
		platform.EMRSparkHome:  "/.host/applications/spark",
		platform.EMRHadoopHome: "/.host/applications/hadoop",
	} {
		if err := relink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	// Wrappers, as the Hadoop packages have them: Spark's own scripts look for
	// their neighbours beside the name that they were called by.
	for _, name := range []string{"spark-submit", "spark-shell", "spark-sql", "pyspark"} {
		wrapper := fmt.Sprintf("#!/bin/bash\nexport SPARK_HOME=%s JAVA_HOME=${JAVA_HOME:-%s}\nexec $SPARK_HOME/bin/%s \"$@\"\n", platform.EMRSparkHome, hadoop.JavaHome, name)
		if err := n.write("/usr/bin/"+name, wrapper, 0o755); err != nil {
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
