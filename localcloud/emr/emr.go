// Package emr runs the local cloud's EMR clusters: a machine per instance, the
// real bootstrap actions on each, then configuration, daemons and steps in
// EMR's order, with logs under the cluster's log URI.
//
// The HTTP API and the state machine are package emrapi's; what is written on
// a node is package hadoop's. This package makes both happen on machines.
package emr

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/platform"
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
	Log    *slog.Logger

	mu    sync.Mutex
	nodes map[string][]*node // by cluster id
}

// node is an instance of a cluster.
type node struct {
	hadoop.Node
	instanceID string // i-…
	memberID   string // ci-…
	address    string // CIDR form
	machine    *region.Machine
}

// errBootstrap is the failure of bootstrap actions, as EMR reports it.
type errBootstrap struct {
	role, instance, action string
	ordinal, code          int
	stderr                 string
}

func (e *errBootstrap) Error() string {
	where := "On the primary instance"
	if e.role != platform.RoleMaster {
		where = "On " + e.role + " instance"
	}
	text := fmt.Sprintf("BOOTSTRAP_FAILURE: %s (%s), bootstrap action %d (%s) returned a non-zero return code %d", where, e.instance, e.ordinal, e.action, e.code)
	if tail := strings.TrimSpace(e.stderr); tail != "" {
		text += "; the end of its stderr:\n" + tail
	}
	return text
}

// Launch brings a cluster from STARTING to WAITING. The store has it already.
// On failure every machine of it is gone and its state says why.
func (s *Service) Launch(ctx context.Context, id string, spec Spec) error {
	if err := s.launch(ctx, id, spec); err != nil {
		// The machines go; what they wrote is the only account of the fault.
		if pushErr := s.PushLogs(context.WithoutCancel(ctx), id); pushErr != nil {
			s.Log.Warn("push logs", "cluster", id, "error", pushErr)
		}
		s.remove(id)
		code := types.ClusterStateChangeReasonCodeInternalError
		var boot *errBootstrap
		if errors.As(err, &boot) {
			code = types.ClusterStateChangeReasonCodeBootstrapFailure
		}
		_ = s.Store.SetClusterState(id, types.ClusterStateTerminatedWithErrors, types.ClusterStateChangeReason{Code: code, Message: aws.String(err.Error())}, details(err)...)
		return err
	}
	return nil
}

func details(err error) []types.ErrorDetail {
	var boot *errBootstrap
	if !errors.As(err, &boot) {
		return nil
	}
	return []types.ErrorDetail{{
		ErrorCode: aws.String("BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE"), ErrorMessage: aws.String(err.Error()),
		ErrorData: []map[string]string{{"primary-instance-id": boot.instance, "bootstrap-action": fmt.Sprint(boot.ordinal)}},
	}}
}

func (s *Service) launch(ctx context.Context, id string, spec Spec) error {
	nodes, err := s.plan(id, spec)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.nodes == nil {
		s.nodes = map[string][]*node{}
	}
	s.nodes[id] = nodes
	s.mu.Unlock()
	hosts := map[string][]string{}
	for _, n := range nodes {
		hosts[n.ip()] = []string{n.Host + "." + n.Domain, n.Host}
	}
	if err := each(nodes, func(n *node) error { return s.boot(ctx, id, n, hosts) }); err != nil {
		return err
	}
	if err := s.Store.SetClusterState(id, types.ClusterStateBootstrapping, types.ClusterStateChangeReason{}); err != nil {
		return err
	}
	err = each(nodes, func(n *node) error { return s.bootstrap(ctx, id, n, spec.Actions) })
	if pushErr := s.PushLogs(ctx, id); pushErr != nil {
		s.Log.Warn("push logs", "cluster", id, "error", pushErr)
	}
	if err != nil {
		return err
	}
	if err := each(nodes, func(n *node) error { return s.configure(ctx, n) }); err != nil {
		return err
	}
	if err := s.startDaemons(ctx, nodes); err != nil {
		return err
	}
	for _, n := range nodes {
		if err := s.Store.SetInstanceState(id, n.memberID, types.InstanceStateRunning, types.InstanceStateChangeReason{}); err != nil {
			return err
		}
	}
	s.Expose("resourcemanager", fmt.Sprintf("%s:%d", nodes[0].ip(), platform.ResourceManagerUI))
	s.Expose("history", fmt.Sprintf("%s:%d", nodes[0].ip(), platform.SparkHistoryUI))
	return s.Store.SetClusterState(id, types.ClusterStateWaiting, types.ClusterStateChangeReason{Message: aws.String("Cluster ready to run steps.")})
}

// each does one thing to all nodes at once and gives the first failure of the
// primary node, else of any.
func each(nodes []*node, do func(*node) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = do(n)
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *node) ip() string {
	ip, _, err := net.ParseCIDR(n.address)
	if err != nil {
		return n.address
	}
	return ip.String()
}

// plan gives every instance its identity and tells the store of it.
func (s *Service) plan(id string, spec Spec) ([]*node, error) {
	var nodes []*node
	groups, err := s.Store.InstanceGroups(id)
	if err != nil {
		return nil, err
	}
	cores := 0
	for _, g := range groups {
		if g.InstanceGroupType == types.InstanceGroupTypeCore {
			cores = int(aws.ToInt32(g.RequestedInstanceCount))
		}
	}
	for _, g := range groups {
		for range aws.ToInt32(g.RequestedInstanceCount) {
			address, err := s.Address(spec.SubnetID)
			if err != nil {
				return nil, err
			}
			n := &node{address: address, instanceID: newInstanceID(), memberID: emrapi.NewID("ci")}
			n.Node = hadoop.Node{
				ClusterID: id, Release: spec.ReleaseLabel, AccountID: s.AccountID, Region: s.AWSRegion,
				Role: strings.ToLower(string(g.InstanceGroupType)), Domain: "ec2.internal", CoreNodes: cores,
				MemoryMB: nodeMemoryMB, VCores: nodeVCores, S3Endpoint: s.Objects.Endpoint(), Configurations: spec.Configurations,
			}
			n.Host = "ip-" + strings.ReplaceAll(n.ip(), ".", "-")
			nodes = append(nodes, n)
			if err := s.Store.PutInstance(id, types.Instance{
				Id: &n.memberID, Ec2InstanceId: &n.instanceID, InstanceGroupId: g.Id, InstanceType: g.InstanceType, Market: g.Market,
				PrivateIpAddress: aws.String(n.ip()), PrivateDnsName: aws.String(n.Host + "." + n.Domain),
			}); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range nodes {
		n.MasterHost = nodes[0].Host
	}
	return nodes, s.Store.UpdateCluster(id, func(c *types.Cluster) { c.MasterPublicDnsName = aws.String(nodes[0].Host + "." + nodes[0].Domain) })
}

// What YARN may give out on a node of the local cloud, whatever its instance
// type: the machine under it is one.
const (
	nodeMemoryMB = 3072
	nodeVCores   = 4
)

func (s *Service) boot(ctx context.Context, id string, n *node, hosts map[string][]string) error {
	users := []machine.User{}
	for name, uid := range hadoop.Accounts() {
		u := machine.User{Name: name, UID: uid, GID: uid, Home: "/home/" + name, Groups: []string{"hadoop"}}
		if name == "hadoop" {
			u.Groups = []string{"wheel"}
		}
		users = append(users, u)
	}
	sortUsers(users)
	users = append(users, machine.User{Name: "wheel", UID: 10, GID: 10, Home: "/"})
	group := instanceType(n)
	m, err := s.Region.Boot(ctx, machine.Spec{
		Name: n.instanceID, Hostname: n.Host, Domain: n.Domain, Addresses: []string{n.address}, Gateway: s.Gateway,
		Binds: []machine.Bind{{From: s.Applications, To: applications.Mount, ReadOnly: true}, {From: s.JavaHome, To: "/.host/java", ReadOnly: true}},
		Users: users, Hosts: hosts, OneUser: region.OneUser(),
		// The SDKs' own variables lead every client to the local services.
		Env:      map[string]string{"AWS_ENDPOINT_URL_S3": s.Objects.Endpoint(), "AWS_DEFAULT_REGION": s.AWSRegion},
		Metadata: machine.Metadata{InstanceID: n.instanceID, InstanceType: group, Region: s.AWSRegion, Zone: s.AWSRegion + "a", AccountID: s.AccountID, RoleName: "emr-ec2", AccessKeyID: s.Objects.AccessKey, SecretAccessKey: s.Objects.SecretKey},
	})
	if err != nil {
		return err
	}
	n.machine = m
	if err := s.image(n); err != nil {
		return err
	}
	return s.Store.SetInstanceState(id, n.memberID, types.InstanceStateBootstrapping, types.InstanceStateChangeReason{})
}

// instanceType is for the metadata service only.
func instanceType(*node) string { return "m5.xlarge" }

// Terminate implements emrapi.Terminator.
func (s *Service) Terminate(ctx context.Context, id string) error {
	if err := s.PushLogs(ctx, id); err != nil {
		s.Log.Warn("push logs", "cluster", id, "error", err)
	}
	s.remove(id)
	return nil
}

func (s *Service) remove(id string) {
	s.mu.Lock()
	nodes := s.nodes[id]
	delete(s.nodes, id)
	s.mu.Unlock()
	_ = each(nodes, func(n *node) error { return s.Region.Remove(n.instanceID) })
	for _, n := range nodes {
		_ = s.Store.SetInstanceState(id, n.memberID, types.InstanceStateTerminated, types.InstanceStateChangeReason{})
	}
}

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

// Create launches a cluster from a resource's inputs and gives its id once it
// is ready for steps.
func (s *Service) Create(ctx context.Context, props map[string]any) (string, error) {
	in, spec, err := parse(props)
	if err != nil {
		return "", err
	}
	id, err := s.put(in, spec)
	if err != nil {
		return "", err
	}
	if err := s.Launch(ctx, id, spec); err != nil {
		return "", fmt.Errorf("EMR cluster %s (%s): TERMINATED_WITH_ERRORS: %w", in.Name, id, err)
	}
	return id, nil
}

// Change takes the inputs that EMR changes on a running cluster.
func (s *Service) Change(id string, props map[string]any) error {
	in, _, err := parse(props)
	if err != nil {
		return err
	}
	if err := s.Store.UpdateCluster(id, func(c *types.Cluster) {
		c.TerminationProtected = aws.Bool(in.TerminationProtected)
		c.StepConcurrencyLevel = aws.Int32(max(in.StepConcurrency, 1))
		c.Tags = nil
		for k, v := range in.Tags {
			c.Tags = append(c.Tags, types.Tag{Key: aws.String(k), Value: aws.String(v)})
		}
	}); err != nil {
		return err
	}
	if in.AutoTermination == nil {
		return nil
	}
	return s.Store.SetPolicies(id, &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(in.AutoTermination.IdleTimeout)}, nil)
}

// End terminates a cluster; termination protection refuses.
func (s *Service) End(ctx context.Context, id string) error {
	c, err := s.Store.Cluster(id)
	if err != nil {
		return err
	}
	if aws.ToBool(c.TerminationProtected) {
		return fmt.Errorf("cluster %s is protected from termination: set emr.terminationProtection to false and run up first", id)
	}
	switch c.Status.State {
	case types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return nil
	}
	reason := types.ClusterStateChangeReason{Code: types.ClusterStateChangeReasonCodeUserRequest, Message: aws.String("Terminated by user request")}
	if err := s.Store.SetClusterState(id, types.ClusterStateTerminating, reason); err != nil {
		return err
	}
	return s.Store.Wait(ctx, id, func(c types.Cluster) bool { return c.Status.State == types.ClusterStateTerminated })
}
