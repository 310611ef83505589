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
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
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

	// UIs keep the event logs of Spark after the cluster; nil: nobody keeps them.
	UIs *persistentui.Service
	// EventLogInterval is how often event logs leave HDFS, which is how late persistent
	// UIs are: DefaultEventLogInterval unless set. On EMR it is two minutes or more.
	EventLogInterval time.Duration

	mu      sync.Mutex
	nodes   map[string][]*node // by cluster id; the primary node first
	joining sync.Map           // *sync.Mutex by cluster id; see lockJoining
	idle    sync.Map           // idleState by cluster id

	archived sync.Once // this process has looked for the archive of Spark's classes

	exposing sync.Mutex // while the pages of a list of clusters are exposed, so that the newest list wins

	enoughSince sync.Map // time.Time by cluster id; see settled
	rules       sync.Map // time.Time by ruleKey: since when a rule holds; until when a group cools down
}

// node is an instance of a cluster.
type node struct {
	hadoop.Node
	instanceID   string // i-…
	memberID     string // ci-…
	groupID      string // ig-… or if-…
	market       types.MarketType
	instanceType string
	version      int64  // of its group's configurations
	profile      string // instance profile
	address      string // CIDR form
	machine      *region.Machine
	excluded     []*node  // of a primary node: those that have left or are leaving
	pushed       sync.Map // by log file: the fileVersion of its copy in S3
	stepLogs     sync.Map // by step id: the *stepLogs of a primary node's steps
}

func (n *node) ip() string {
	ip, _, err := net.ParseCIDR(n.address)
	if err != nil {
		return n.address
	}
	return ip.String()
}

func (n *node) fqdn() string { return n.Host + "." + n.Domain }

// clusterNodes returns a cluster's nodes, the primary node first.
func (s *Service) clusterNodes(id string) ([]*node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.nodes[id]) == 0 {
		return nil, fmt.Errorf("cluster %s has no nodes", id)
	}
	return slices.Clone(s.nodes[id]), nil
}

// addNodes adds nodes to a cluster's, dropNodes takes some away.
func (s *Service) addNodes(id string, added []*node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes == nil {
		s.nodes = map[string][]*node{}
	}
	s.nodes[id] = slices.Concat(s.nodes[id], added)
}

func (s *Service) dropNodes(id string, dropped []*node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[id] = slices.DeleteFunc(slices.Clone(s.nodes[id]), func(n *node) bool { return slices.Contains(dropped, n) })
}

// lockJoining takes the lock under which nodes of a cluster learn each other's names.
func (s *Service) lockJoining(id string) (unlock func()) {
	lock, _ := s.joining.LoadOrStore(id, &sync.Mutex{})
	mutex, _ := lock.(*sync.Mutex)
	mutex.Lock()
	return mutex.Unlock
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
