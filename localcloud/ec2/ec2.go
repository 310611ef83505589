// Package ec2 is the local cloud's EC2, as far as machines need it: addresses
// of subnets and interfaces, volumes, and instances, which boot and run their
// real user data. Systems Manager's parameters are here too, since user data
// reads them.
//
// Elastic IPs lead to instances as the routes and the ingress rules for IPv4
// networks say. Rules between security groups, outbound rules, images and
// everything else of EC2 are only recorded by the provider.
package ec2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Service runs the instances. Set the exported fields, then call Open.
type Service struct {
	Region       *region.Region
	Dir          string // state: ec2.json, volumes
	Applications string // tree of package applications, for the AWS CLI
	Machined     string
	AWSRegion    string
	AccountID    string
	Gateway      string            // default route of instances
	Prefix       int               // prefix length of the region's network
	Extra        []string          // additional addresses of an instance (CIDR)
	Env          map[string]string // environment of instances
	// Credentials returns those of an instance profile's role.
	Credentials func(ctx context.Context, profile string) (machine.RoleCredentials, error)
	PrepareCLI  func(root string) error
	Map         func([]internet.Address) error // of the internet gateway; nil = there is none
	Log         *slog.Logger

	mapping      sync.Mutex // held while Map runs
	mu           sync.Mutex
	state        state
	parameters   map[string]string           // SSM parameters by name; in memory only, they hold secrets
	userDataRuns map[string]*userDataRun     // by instance id
	metadata     map[string]machine.Metadata // of the instances that run; in memory only, it has their keys
}

type state struct {
	public
	Subnets     map[string]string // id -> CIDR
	Nodes       map[string]int    // subnet id -> nodes given an address so far
	Instances   map[string]machine.Spec
	Stopped     map[string]bool   // by instance id
	Attachments map[string]string // volume id -> instance id
}

// EMR nodes use nodeAddresses addresses of their subnet in rotation, from the one
// at offset firstNodeAddress. The program's own interfaces have lower ones.
const (
	firstNodeAddress = 100
	nodeAddresses    = 120
)

// Open reads the state and reboots the instances of an earlier run: from their
// disks and without user data, as after a power cut. They have their Elastic IPs
// again.
func (s *Service) Open(ctx context.Context) error {
	if err := s.open(); err != nil {
		return fmt.Errorf("open EC2's state: %w", err)
	}
	for id, spec := range s.state.Instances {
		if s.state.Stopped[id] {
			continue
		}
		if err := s.reboot(ctx, spec); err != nil {
			s.Log.Error("reboot instance", "instance", id, "error", err)
		}
	}
	if err := s.mapAddresses(); err != nil {
		s.Log.Error("map public addresses", "error", err)
	}
	return nil
}

func (s *Service) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state{
		public: newPublic(), Subnets: map[string]string{}, Nodes: map[string]int{},
		Instances: map[string]machine.Spec{}, Stopped: map[string]bool{}, Attachments: map[string]string{},
	}
	s.parameters, s.userDataRuns, s.metadata = map[string]string{}, map[string]*userDataRun{}, map[string]machine.Metadata{}
	return s.load()
}

func (s *Service) load() error {
	if err := os.MkdirAll(s.volumesDir(), 0o755); err != nil {
		return err
	}
	raw, err := os.ReadFile(s.stateFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &s.state); err != nil {
		return fmt.Errorf("%s: %w", s.stateFile(), err)
	}
	return nil
}

func (s *Service) stateFile() string { return filepath.Join(s.Dir, "ec2.json") }

// update changes the state and writes it.
func (s *Service) update(change func(*state)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	raw, err := json.Marshal(s.state)
	if err == nil {
		err = os.WriteFile(s.stateFile()+".new", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(s.stateFile()+".new", s.stateFile())
	}
	if err != nil {
		return fmt.Errorf("write EC2's state: %w", err)
	}
	return nil
}

// PutSubnet stores a subnet's CIDR.
func (s *Service) PutSubnet(id, cidr string) error {
	return s.update(func(st *state) { st.Subnets[id] = cidr })
}

// DeleteSubnet deletes a subnet.
func (s *Service) DeleteSubnet(id string) error {
	return s.update(func(st *state) { delete(st.Subnets, id) })
}

// PutParameter stores an SSM parameter.
func (s *Service) PutParameter(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parameters[name] = value
}

// DeleteParameter deletes an SSM parameter.
func (s *Service) DeleteParameter(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parameters, name)
}

// NodeAddress allocates an EMR node's address in a subnet. It is in CIDR form with
// the region's prefix length.
func (s *Service) NodeAddress(subnetID string) (string, error) {
	s.mu.Lock()
	cidr, ok := s.state.Subnets[subnetID]
	s.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("subnet %q does not exist", subnetID)
	}
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", fmt.Errorf("subnet %s: %w", subnetID, err)
	}
	var n int
	if err := s.update(func(st *state) {
		n = firstNodeAddress + st.Nodes[subnetID]
		st.Nodes[subnetID] = (st.Nodes[subnetID] + 1) % nodeAddresses
	}); err != nil {
		return "", fmt.Errorf("allocate an address in %s: %w", subnetID, err)
	}
	a := prefix.Masked().Addr()
	for range n {
		a = a.Next()
	}
	return fmt.Sprintf("%s/%d", a, s.Prefix), nil
}

// Control returns the machine on which pods run, and its metadata: the only
// instance.
func (s *Service) Control() (*region.Machine, machine.Metadata, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.state.Instances {
		if m, ok := s.Region.Machine(id); ok {
			return m, s.metadata[id], nil
		}
	}
	return nil, machine.Metadata{}, errors.New("no EC2 instance runs, so there is no node for pods")
}

// Idle reports whether no instance exists.
func (s *Service) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.state.Instances) == 0
}

// privateHostname returns the host name that EC2 derives from an address.
func privateHostname(ip string) string { return "ip-" + strings.ReplaceAll(ip, ".", "-") }
