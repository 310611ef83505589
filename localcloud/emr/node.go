package emr

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// newInstanceID returns a random id in EC2's form.
func newInstanceID() string {
	b := make([]byte, 9)
	_, _ = rand.Read(b)
	return "i-" + hex.EncodeToString(b)[:17]
}

// writeImage writes what an EMR AMI contains before any bootstrap action: Java, the
// AWS CLI, and EMR's own folders and files.
func (s *Service) writeImage(n *node) error {
	root := n.machine.Root
	if err := applications.WriteCLI(root); err != nil {
		return fmt.Errorf("install the AWS CLI on %s: %w", n.Host, err)
	}
	if err := s.writeJava(root); err != nil {
		return fmt.Errorf("install Java on %s: %w", n.Host, err)
	}
	for link, target := range map[string]string{
		"usr/bin/java":                     hadoop.JavaHome + "/bin/java",
		"emr/instance-controller/lib/info": platform.EMRInfoDir,
		"mnt/var/log/bootstrap-actions":    bootstrapLogDir,
	} {
		if err := machine.ReplaceWithLink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	for name, content := range n.infoFiles(time.Now()) {
		b, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if err := n.write(path.Join(platform.EMRInfoDir, name), string(b)+"\n", 0o644); err != nil {
			return err
		}
	}
	return n.writeProvisioning("PENDING")
}

// infoFiles returns the content of the JSON files in platform.EMRInfoDir by name.
func (n *node) infoFiles(created time.Time) map[string]any {
	master := n.MasterHost + "." + n.Domain
	return map[string]any{
		"instance.json": map[string]any{
			"instanceGroupId": n.groupID, "isMaster": n.Master(), "isRunningNameNode": n.Master(),
			"isRunningDataNode": slices.Contains(n.Daemons(), hadoop.DataNode()), "isRunningJobTracker": false, "isRunningTaskTracker": false,
		},
		"job-flow.json": map[string]any{
			"jobFlowId": n.ClusterID, "jobFlowCreationInstant": created.UnixMilli(), "instanceCount": n.CoreNodes + 1,
			"masterPrivateDnsName": master, "hadoopVersion": "3.4.1",
			"instanceGroups": []map[string]any{
				{"instanceRole": strings.ToUpper(n.Role[:1]) + n.Role[1:], "marketType": n.marketType("OnDemand", "Spot")},
			},
		},
		"extraInstanceData.json": map[string]any{
			"jobFlowId": n.ClusterID, "masterHost": master, "instanceRole": n.Role, "marketType": n.marketType("on_demand", "spot"),
			"region": n.Region, "releaseLabel": n.Release, "haEnabled": false, "numCandidates": 1,
		},
	}
}

// marketType returns how the instance is bought, in a file's own words.
func (n *node) marketType(onDemand, spot string) string {
	if n.OnDemand {
		return onDemand
	}
	return spot
}

// writeProvisioning writes the file in which EMR's controller reports whether the
// node is provisioned: PENDING or SUCCESSFUL.
func (n *node) writeProvisioning(status string) error {
	state := fmt.Sprintf("localInstance {\n  nodeProvisionCheckinRecord {\n    status: %s\n  }\n}\n", status)
	return n.write(path.Join(platform.EMRInfoDir, "job-flow-state.txt"), state, 0o644)
}

// appendHosts adds the names of other nodes to a node's /etc/hosts.
func (n *node) appendHosts(others []*node) error {
	f, err := os.OpenFile(filepath.Join(n.machine.Root, "etc/hosts"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("add host names on %s: %w", n.Host, err)
	}
	defer f.Close()
	for _, o := range others {
		if _, err := fmt.Fprintf(f, "%s %s %s\n", o.ip(), o.fqdn(), o.Host); err != nil {
			return fmt.Errorf("add host names on %s: %w", n.Host, err)
		}
	}
	return nil
}

// configure installs the applications and writes their configuration. Like EMR, it
// overwrites what a bootstrap action may have written.
func (s *Service) configure(ctx context.Context, n *node) error {
	root := n.machine.Root
	for link, target := range map[string]string{
		platform.EMRSparkHome:  "/.host/applications/spark",
		platform.EMRHadoopHome: "/.host/applications/hadoop",
	} {
		if err := machine.ReplaceWithLink(target, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	for file, content := range sparkCommands() {
		if err := n.write(file, content, 0o755); err != nil {
			return err
		}
	}
	for file, content := range hadoop.Files(n.Node) {
		if err := n.write(file, content, 0o644); err != nil {
			return err
		}
	}
	daemons := n.Daemons()
	if n.Master() {
		daemons = append(daemons, hadoop.HistoryServer())
	}
	for _, d := range daemons {
		if err := n.write("/etc/systemd/system/"+d.Unit, hadoop.UnitFile(d, n.Node), 0o644); err != nil {
			return err
		}
	}
	return n.machine.Must(ctx, machine.Exec{Argv: []string{"bash", "-ec", createFolders}})
}

// createFolders creates the folders of daemons and steps with EMR's owners.
const createFolders = `
mkdir -p /mnt/tmp /mnt/yarn /mnt/hdfs /mnt/namenode
mkdir -p /var/log/hadoop-yarn/containers /var/log/hadoop-hdfs /var/log/spark /var/log/hadoop/steps
chown yarn:hadoop /mnt/yarn /var/log/hadoop-yarn /var/log/hadoop-yarn/containers
chown hdfs:hadoop /mnt/hdfs /mnt/namenode /var/log/hadoop-hdfs
chown spark:hadoop /var/log/spark
chown hadoop:hadoop /var/log/hadoop/steps
chmod 1777 /mnt/tmp /var/log/spark
`

// sparkCommands returns Spark's commands in /usr/bin by path. They are scripts, as in
// EMR's packages, not links: Spark's own scripts look for each other in the folder
// from which they were called.
func sparkCommands() map[string]string {
	files := map[string]string{}
	for _, name := range []string{"spark-submit", "spark-shell", "spark-sql", "pyspark"} {
		files["/usr/bin/"+name] = fmt.Sprintf(`#!/bin/bash
export SPARK_HOME=%s JAVA_HOME=${JAVA_HOME:-%s}
exec $SPARK_HOME/bin/%s "$@"
`, platform.EMRSparkHome, hadoop.JavaHome, name)
	}
	return files
}
