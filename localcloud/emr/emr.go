// Package emr runs the local cloud's EMR clusters: a machine per instance, the
// real bootstrap actions on each, then configuration, daemons and steps in
// EMR's order, with logs under the cluster's log URI.
//
// Package emrapi has the HTTP API and the state machine, package hadoop the files
// of a node. This package applies both to machines.
package emr

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Names of a cluster's web pages, for Service.Expose.
const (
	ResourceManager = platform.ServiceResourceManager
	SparkHistory    = platform.ServiceSparkHistory
)

// Service launches and terminates clusters.
type Service struct {
	Region       *region.Region
	Store        *emrapi.Store
	Objects      *s3.Gateway
	Applications string // tree of package applications
	JavaHome     string // on the host
	AWSRegion    string
	AccountID    string
	Gateway      string // default route of nodes
	// Credentials returns those of an instance profile's role.
	Credentials func(ctx context.Context, profile string) (machine.RoleCredentials, error)
	// Address allocates an address in a subnet, in CIDR form.
	Address func(subnetID string) (string, error)
	// Expose makes a cluster's web page reachable on the host.
	Expose func(name, address string)
	Clock  clock.PassiveClock // measures idle time
	Log    *slog.Logger

	// LogDelay is how long after a step's end its logs reach S3. On EMR, whose
	// pusher runs every five minutes, it is up to that long.
	LogDelay time.Duration

	mu    sync.Mutex
	nodes map[string][]*node // by cluster id; the primary node first
	idle  map[string]idleState
}

// node is an instance of a cluster.
type node struct {
	hadoop.Node
	instanceID   string // i-…
	memberID     string // ci-…
	groupID      string // ig-…
	instanceType string
	profile      string // instance profile
	address      string // CIDR form
	machine      *region.Machine
	pushed       sync.Map // by log file: the fileVersion of its copy in S3
}

func (n *node) ip() string {
	ip, _, err := net.ParseCIDR(n.address)
	if err != nil {
		return n.address
	}
	return ip.String()
}

func (n *node) fqdn() string { return n.Host + "." + n.Domain }

// Running reports whether the cluster's machines run in this process.
func (s *Service) Running(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.nodes[id]) > 0
}

// clusterNodes returns a cluster's nodes, the primary node first.
func (s *Service) clusterNodes(id string) ([]*node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.nodes[id]) == 0 {
		return nil, fmt.Errorf("cluster %s has no nodes", id)
	}
	return s.nodes[id], nil
}

// write writes a file on a node; path is the node's.
func (n *node) write(path, content string, mode os.FileMode) error {
	full := filepath.Join(n.machine.Root, path)
	err := os.MkdirAll(filepath.Dir(full), 0o755)
	if err == nil {
		err = os.WriteFile(full, []byte(content), mode)
	}
	if err != nil {
		return fmt.Errorf("write %s on %s: %w", path, n.Host, err)
	}
	return nil
}
