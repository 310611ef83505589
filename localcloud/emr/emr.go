// Package emr runs the local cloud's EMR clusters: a machine per instance, the
// real bootstrap actions on each, then configuration, daemons and steps in
// EMR's order, with logs under the cluster's log URI.
//
// The HTTP API and the state machine are package emrapi's; what is written on
// a node is package hadoop's. This package makes both happen on machines.
package emr

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

// Service launches and ends clusters.
type Service struct {
	Region       *region.Region
	Store        *emrapi.Store
	Objects      *s3.Gateway
	Applications string // tree of package applications
	JavaHome     string // on the host
	AWSRegion    string
	AccountID    string
	Gateway      string // default route of nodes
	// Address gives a free address of a subnet, in CIDR form.
	Address func(subnetID string) (string, error)
	// Expose makes a cluster's web page reachable on the host.
	Expose func(name, address string)
	Clock  clock.PassiveClock // what idleness is measured by
	Log    *slog.Logger

	mu    sync.Mutex
	nodes map[string][]*node // by cluster id, the primary first
	idle  map[string]idleness
}

// node is an instance of a cluster.
type node struct {
	hadoop.Node
	instanceID   string // i-…
	memberID     string // ci-…
	groupID      string // ig-…
	instanceType string
	address      string // CIDR form
	machine      *region.Machine
	pushed       sync.Map // log file to the stamp of what is in S3 of it
}

func (n *node) ip() string {
	ip, _, err := net.ParseCIDR(n.address)
	if err != nil {
		return n.address
	}
	return ip.String()
}

func (n *node) fqdn() string { return n.Host + "." + n.Domain }

// Running tells whether the cluster's machines are up in this process.
func (s *Service) Running(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.nodes[id]) > 0
}

func (s *Service) cluster(id string) ([]*node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.nodes[id]) == 0 {
		return nil, fmt.Errorf("cluster %s has no nodes", id)
	}
	return s.nodes[id], nil
}

// write puts a file on a node; paths are the node's.
func (n *node) write(path, content string, mode os.FileMode) error {
	full := filepath.Join(n.machine.Root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, []byte(content), mode)
}
