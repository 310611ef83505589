package emr

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
)

// decommissionTimeout is how long YARN lets the containers on a leaving node go on:
// EMR's default (Management Guide, "Cluster scale-down").
const decommissionTimeout = time.Hour

// decommissionGrace is how much longer the daemons may take to say that a node is
// decommissioned.
const decommissionGrace = 2 * time.Minute

// excludeNodes writes the files of the nodes that YARN and HDFS must not use, and has
// both read them.
func (s *Service) excludeNodes(ctx context.Context, master *node, excluded []*node, timeout time.Duration) error {
	var hosts []string
	for _, n := range excluded {
		hosts = append(hosts, n.fqdn())
	}
	for file, content := range hadoop.ExcludeFiles(hosts, timeout) {
		if err := master.write(file, content, 0o644); err != nil {
			return err
		}
	}
	seconds := strconv.Itoa(int(timeout.Seconds()))
	if err := master.runAs(ctx, "yarn", hadoop.ResourceManagerAdmin, "-refreshNodes", "-g", seconds, "-server"); err != nil {
		return fmt.Errorf("have YARN read the excluded nodes: %w", err)
	}
	if err := master.runAs(ctx, "hdfs", hadoop.HDFSAdmin, "-refreshNodes"); err != nil {
		return fmt.Errorf("have HDFS read the excluded nodes: %w", err)
	}
	return nil
}

// admit takes new nodes out of the excluded ones: an address may be used again.
func (s *Service) admit(ctx context.Context, id string, added []*node) error {
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return err
	}
	defer s.lockJoining(id)()
	master, before := nodes[0], len(nodes[0].excluded)
	master.excluded = slices.DeleteFunc(master.excluded, func(e *node) bool {
		return slices.ContainsFunc(added, func(n *node) bool { return n.Host == e.Host })
	})
	if len(master.excluded) == before {
		return nil
	}
	return s.excludeNodes(ctx, master, master.excluded, decommissionTimeout)
}

// decommission excludes nodes and waits until YARN and, of core nodes, HDFS have released
// them. It fails when the decommission timeout and decommissionGrace are over.
func (s *Service) decommission(ctx context.Context, spec clusterSpec, p pool, leaving []*node) error {
	nodes, err := s.clusterNodes(spec.id)
	if err != nil {
		return err
	}
	timeout := p.decommissionTimeout(spec)
	if err := s.exclude(ctx, spec.id, nodes[0], leaving, timeout); err != nil {
		return err
	}
	options := poll.Options{Interval: 500 * time.Millisecond, Timeout: timeout + decommissionGrace}
	return poll.Until(ctx, options, func(ctx context.Context) error {
		states, err := readYARNNodes(ctx, nodes[0])
		if err != nil {
			return err
		}
		for _, n := range leaving {
			if state := states[n.fqdn()].State; state != "DECOMMISSIONED" && state != "" {
				return fmt.Errorf("%s is %s in YARN", n.Host, state)
			}
		}
		if p.role != platform.RoleCore {
			return nil
		}
		return requireDecommissioned(ctx, nodes[0], leaving)
	})
}

// exclude adds nodes to the excluded ones.
func (s *Service) exclude(ctx context.Context, id string, master *node, leaving []*node, timeout time.Duration) error {
	defer s.lockJoining(id)()
	master.excluded = append(master.excluded, leaving...)
	return s.excludeNodes(ctx, master, master.excluded, timeout)
}

// decommissionTimeout returns the shrink policy's timeout, or else that of yarn-site,
// or else EMR's default.
func (p pool) decommissionTimeout(spec clusterSpec) time.Duration {
	if p.shrink != nil && p.shrink.DecommissionTimeout != nil {
		return time.Duration(aws.ToInt32(p.shrink.DecommissionTimeout)) * time.Second
	}
	for _, c := range spec.configurations {
		seconds, err := strconv.Atoi(c.Properties["yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs"])
		if c.Classification == "yarn-site" && err == nil {
			return time.Duration(seconds) * time.Second
		}
	}
	return decommissionTimeout
}

// runAs runs a program of the Hadoop distribution as an account.
func (n *node) runAs(ctx context.Context, user, class string, args ...string) error {
	return n.machine.Must(ctx, machine.Exec{
		Argv: hadoop.Command(class, args...), User: user,
		Env: map[string]string{"HADOOP_CONF_DIR": platform.EMRHadoopConfDir, "YARN_CONF_DIR": platform.EMRHadoopConfDir},
	})
}

// yarnNode is what the ResourceManager says of a node.
type yarnNode struct {
	State      string `json:"state"`
	ID         string `json:"nodeID"` // host:port
	Containers int    `json:"numContainers"`
}

// readYARNNodes returns the ResourceManager's nodes by host name.
func readYARNNodes(ctx context.Context, master *node) (map[string]yarnNode, error) {
	// The one-jar build of the daemons does not wrap them in "nodes", and names the
	// id nodeId.
	var answer struct{ Nodes []yarnNode }
	if err := getJSON(ctx, master, platform.ResourceManagerUI, "/ws/v1/cluster/nodes", &answer); err != nil {
		return nil, fmt.Errorf("read YARN's nodes: %w", err)
	}
	out := map[string]yarnNode{}
	for _, n := range answer.Nodes {
		host, _, _ := strings.Cut(n.ID, ":")
		out[host] = n
	}
	return out, nil
}

// awaitActive waits until YARN runs every new node.
func awaitActive(ctx context.Context, master *node, added []*node) error {
	err := poll.Until(ctx, daemonPollOptions(), func(ctx context.Context) error {
		states, err := readYARNNodes(ctx, master)
		if err != nil {
			return err
		}
		for _, n := range added {
			if state := states[n.fqdn()].State; state != "RUNNING" {
				return fmt.Errorf("%s is %q in YARN", n.Host, state)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("wait for the nodes to join YARN: %w", err)
	}
	return nil
}

// requireDecommissioned fails until the NameNode has moved every block off leaving nodes.
func requireDecommissioned(ctx context.Context, master *node, leaving []*node) error {
	var answer struct {
		Beans []struct{ LiveNodes string }
	}
	const page = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo"
	if err := getJSON(ctx, master, platform.NameNodeUI, page, &answer); err != nil {
		return fmt.Errorf("list HDFS DataNodes: %w", err)
	}
	if len(answer.Beans) != 1 {
		return fmt.Errorf("list HDFS DataNodes: got %d NameNodeInfo beans, want 1", len(answer.Beans))
	}
	live := map[string]struct {
		AdminState string `json:"adminState"`
	}{}
	if err := json.Unmarshal([]byte(answer.Beans[0].LiveNodes), &live); err != nil {
		return fmt.Errorf("list HDFS DataNodes: %w", err)
	}
	for host, d := range live {
		host, _, _ = strings.Cut(host, ":")
		isLeaving := slices.ContainsFunc(leaving, func(n *node) bool { return n.fqdn() == host || n.Host == host })
		if isLeaving && d.AdminState != "Decommissioned" {
			return fmt.Errorf("DataNode %s is %q, not decommissioned yet", host, d.AdminState)
		}
	}
	return nil
}
