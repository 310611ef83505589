// Package ec2 is the local cloud's EC2, as far as machines need it: addresses
// of subnets and interfaces, volumes, and the instance that boots on them from
// its real user data. Systems Manager's parameters are here too, since user
// data reads them.
//
// Images, security groups, routes and everything else of EC2 are only recorded
// by the provider.
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

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Service holds the state. Fill in the exported fields, then call Open.
type Service struct {
	Region       *region.Region
	Dir          string // state: ec2.json, volumes
	Applications string // tree of package applications, for the AWS CLI
	Machined     string
	AWSRegion    string
	AccountID    string
	Gateway      string            // default route of instances
	Prefix       int               // prefix length of the region's network
	Extra        []string          // further addresses of an instance (CIDR)
	Env          map[string]string // environment of instances
	AccessKeyID  string
	SecretKey    string
	PrepareCLI   func(root string) error
	Log          *slog.Logger

	mu         sync.Mutex
	state      state
	parameters map[string]string // SSM parameters by name; in memory only, they hold secrets
	boots      map[string]*firstBoot
}

type state struct {
	Subnets     map[string]string // id -> CIDR
	Interfaces  map[string]string // id -> address
	Nodes       map[string]int    // subnet id -> nodes given an address so far
	Instances   map[string]machine.Spec
	Attachments map[string]string // volume id -> instance id
}

// firstNode is where EMR nodes' addresses begin in a subnet; interfaces that
// the program makes are below.
const firstNode = 100

// nodes is how many addresses EMR's nodes take turns in.
const nodes = 120

// Open reads the state and boots the instances of an earlier run again, from
// their disks and without user data, as after a power cut.
func (s *Service) Open(ctx context.Context) error {
	s.state = state{map[string]string{}, map[string]string{}, map[string]int{}, map[string]machine.Spec{}, map[string]string{}}
	s.parameters, s.boots = map[string]string{}, map[string]*firstBoot{}
	if err := os.MkdirAll(s.volumes(), 0o755); err != nil {
		return err
	}
	raw, err := os.ReadFile(s.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &s.state); err != nil {
		return fmt.Errorf("%s: %w", s.file(), err)
	}
	for id, spec := range s.state.Instances {
		if err := s.reboot(ctx, spec); err != nil {
			s.Log.Error("boot instance again", "instance", id, "error", err)
		}
	}
	return nil
}

func (s *Service) file() string    { return filepath.Join(s.Dir, "ec2.json") }
func (s *Service) volumes() string { return filepath.Join(s.Dir, "volumes") }

func (s *Service) update(change func(*state)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	raw, err := json.Marshal(s.state)
	if err != nil {
		return err
	}
	tmp := s.file() + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.file())
}

// PutSubnet and DeleteSubnet keep a subnet's CIDR.
func (s *Service) PutSubnet(id, cidr string) error {
	return s.update(func(st *state) { st.Subnets[id] = cidr })
}

// DeleteSubnet forgets a subnet.
func (s *Service) DeleteSubnet(id string) error {
	return s.update(func(st *state) { delete(st.Subnets, id) })
}

// PutInterface keeps a network interface's address.
func (s *Service) PutInterface(id, address string) error {
	return s.update(func(st *state) { st.Interfaces[id] = address })
}

// DeleteInterface forgets a network interface.
func (s *Service) DeleteInterface(id string) error {
	return s.update(func(st *state) { delete(st.Interfaces, id) })
}

// PutParameter keeps an SSM parameter.
func (s *Service) PutParameter(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parameters[name] = value
}

// DeleteParameter forgets an SSM parameter.
func (s *Service) DeleteParameter(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parameters, name)
}

// HasParameter tells whether a parameter is there; after a restart none is.
func (s *Service) HasParameter(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.parameters[name]
	return ok
}

// NodeAddress gives an EMR node the next address of a subnet, in CIDR form with
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
		n = firstNode + st.Nodes[subnetID]
		st.Nodes[subnetID] = (st.Nodes[subnetID] + 1) % nodes
	}); err != nil {
		return "", err
	}
	a := prefix.Masked().Addr()
	for range n {
		a = a.Next()
	}
	return fmt.Sprintf("%s/%d", a, s.Prefix), nil
}

// Control gives the machine that pods are placed on: the one instance.
func (s *Service) Control() (*region.Machine, machine.Metadata, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, spec := range s.state.Instances {
		if m, ok := s.Region.Machine(id); ok {
			return m, s.withKey(spec).Metadata, nil
		}
	}
	return nil, machine.Metadata{}, errors.New("no EC2 instance runs that pods could be placed on")
}

// Idle tells that no instance is known.
func (s *Service) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.state.Instances) == 0
}

func hostname(ip string) string { return "ip-" + strings.ReplaceAll(ip, ".", "-") }
