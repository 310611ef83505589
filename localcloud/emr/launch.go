package emr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Launch brings a cluster from STARTING to WAITING. The store has it already.
// On failure every machine of it is gone and its state says why; what they
// wrote is under the log URI.
func (s *Service) Launch(ctx context.Context, id string, spec Spec) error {
	err := s.launch(ctx, id, spec)
	if err == nil {
		return nil
	}
	// The machines go; what they wrote is the only account of the fault.
	if pushErr := s.PushLogs(context.WithoutCancel(ctx), id); pushErr != nil {
		s.Log.Warn("push logs", "cluster", id, "error", pushErr)
	}
	removeErr := s.remove(id)
	code := types.ClusterStateChangeReasonCodeInternalError
	var boot *bootstrapError
	if errors.As(err, &boot) {
		code = types.ClusterStateChangeReasonCodeBootstrapFailure
	}
	reason := types.ClusterStateChangeReason{Code: code, Message: aws.String(err.Error())}
	return errors.Join(err, removeErr, s.Store.SetClusterState(id, types.ClusterStateTerminatedWithErrors, reason, boot.details()...))
}

func (s *Service) launch(ctx context.Context, id string, spec Spec) error {
	nodes, err := s.plan(id, spec)
	if err != nil {
		return err
	}
	s.keep(id, nodes)
	if err := each(nodes, func(n *node) error { return s.boot(ctx, id, n, hosts(nodes)) }); err != nil {
		return err
	}
	if err := s.Store.SetClusterState(id, types.ClusterStateBootstrapping, types.ClusterStateChangeReason{}); err != nil {
		return err
	}
	if err := s.bootstrapAll(ctx, id, nodes, spec.Actions); err != nil {
		return err
	}
	if err := each(nodes, func(n *node) error { return s.configure(ctx, n) }); err != nil {
		return err
	}
	if err := s.startDaemons(ctx, nodes); err != nil {
		return err
	}
	if err := s.setRunning(id, nodes); err != nil {
		return err
	}
	s.Expose("resourcemanager", fmt.Sprintf("%s:%d", nodes[0].ip(), platform.ResourceManagerUI))
	s.Expose("history", fmt.Sprintf("%s:%d", nodes[0].ip(), platform.SparkHistoryUI))
	return s.Store.SetClusterState(id, types.ClusterStateWaiting, types.ClusterStateChangeReason{Message: aws.String("Cluster ready to run steps.")})
}

func (s *Service) keep(id string, nodes []*node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes == nil {
		s.nodes = map[string][]*node{}
	}
	s.nodes[id] = nodes
}

// bootstrapAll runs the bootstrap actions on all nodes and pushes their logs.
func (s *Service) bootstrapAll(ctx context.Context, id string, nodes []*node, actions []Action) error {
	err := each(nodes, func(n *node) error { return s.bootstrap(ctx, n, actions) })
	if pushErr := s.PushLogs(ctx, id); pushErr != nil {
		s.Log.Warn("push logs", "cluster", id, "error", pushErr)
	}
	return err
}

func (s *Service) setRunning(id string, nodes []*node) error {
	for _, n := range nodes {
		if err := s.Store.SetInstanceState(id, n.memberID, types.InstanceStateRunning, types.InstanceStateChangeReason{}); err != nil {
			return err
		}
	}
	return nil
}

// each does one thing to all nodes at once and gives the first failure of the
// primary node, else of any.
func each(nodes []*node, do func(*node) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = do(n) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// hosts are the names of a cluster's nodes by address.
func hosts(nodes []*node) map[string][]string {
	out := map[string][]string{}
	for _, n := range nodes {
		out[n.ip()] = []string{n.fqdn(), n.Host}
	}
	return out
}

// plan gives every instance its identity and tells the store of it. The
// primary comes first.
func (s *Service) plan(id string, spec Spec) ([]*node, error) {
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
	var nodes []*node
	for _, g := range groups {
		members, err := s.members(id, spec, g, cores, int(aws.ToInt32(g.RequestedInstanceCount)))
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, members...)
	}
	for _, n := range nodes {
		n.MasterHost = nodes[0].Host
	}
	return nodes, s.Store.UpdateCluster(id, func(c *types.Cluster) { c.MasterPublicDnsName = aws.String(nodes[0].fqdn()) })
}

// members makes count more instances of a group. Who the primary is, the
// caller knows.
func (s *Service) members(id string, spec Spec, g types.InstanceGroup, cores, count int) ([]*node, error) {
	nodes := make([]*node, 0, count)
	for range count {
		address, err := s.Address(spec.SubnetID)
		if err != nil {
			return nil, err
		}
		n := &node{address: address, instanceID: newInstanceID(), memberID: emrapi.NewID("ci"), groupID: aws.ToString(g.Id), instanceType: aws.ToString(g.InstanceType)}
		n.Node = hadoop.Node{
			ClusterID: id, Release: spec.ReleaseLabel, AccountID: s.AccountID, Region: s.AWSRegion,
			Role: strings.ToLower(string(g.InstanceGroupType)), Domain: "ec2.internal", CoreNodes: cores,
			MemoryMB: nodeMemoryMB, VCores: nodeVCores, S3Endpoint: s.Objects.Endpoint(), Configurations: spec.Configurations,
		}
		n.Host = "ip-" + strings.ReplaceAll(n.ip(), ".", "-")
		nodes = append(nodes, n)
		if err := s.Store.PutInstance(id, types.Instance{
			Id: &n.memberID, Ec2InstanceId: &n.instanceID, InstanceGroupId: g.Id, InstanceType: g.InstanceType, Market: g.Market,
			PrivateIpAddress: aws.String(n.ip()), PrivateDnsName: aws.String(n.fqdn()),
		}); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// What YARN may give out on a node of the local cloud, whatever its instance
// type: the machine under all nodes is one. The memory holds an application
// master and one executor of spark-defaults (896 and 1152 MB with overhead), not
// two executors: more than one on each node only takes memory from the others.
const (
	nodeMemoryMB = 2048
	nodeVCores   = 4
)

func (s *Service) boot(ctx context.Context, id string, n *node, hosts map[string][]string) error {
	m, err := s.Region.Boot(ctx, machine.Spec{
		Name: n.instanceID, Hostname: n.Host, Domain: n.Domain, Addresses: []string{n.address}, Gateway: s.Gateway,
		Binds: []machine.Bind{{From: s.Applications, To: applications.Mount, ReadOnly: true}, {From: s.JavaHome, To: "/.host/java", ReadOnly: true}},
		Users: users(), Hosts: hosts, OneUser: region.OneUser(),
		// The SDKs' own variables lead every client to the local services.
		Env: map[string]string{"AWS_ENDPOINT_URL_S3": s.Objects.Endpoint(), "AWS_DEFAULT_REGION": s.AWSRegion},
		Metadata: machine.Metadata{
			InstanceID: n.instanceID, InstanceType: n.instanceType, Region: s.AWSRegion, Zone: s.AWSRegion + "a", AccountID: s.AccountID,
			RoleName: "emr-ec2", AccessKeyID: s.Objects.AccessKey, SecretAccessKey: s.Objects.SecretKey,
		},
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

// users are a node's accounts; hadoop may use sudo.
func users() []machine.User {
	users := []machine.User{{Name: "wheel", UID: 10, GID: 10, Home: "/"}}
	for name, uid := range hadoop.Accounts() {
		u := machine.User{Name: name, UID: uid, GID: uid, Home: "/home/" + name, Groups: []string{"hadoop"}}
		if name == "hadoop" {
			u.Groups = []string{"wheel"}
		}
		users = append(users, u)
	}
	sortUsers(users)
	return users
}

// Terminate implements emrapi.Terminator.
func (s *Service) Terminate(ctx context.Context, id string) error {
	if err := s.PushLogs(ctx, id); err != nil {
		s.Log.Warn("push logs", "cluster", id, "error", err)
	}
	return s.remove(id)
}

// remove ends a cluster's machines.
func (s *Service) remove(id string) error {
	s.mu.Lock()
	nodes := s.nodes[id]
	delete(s.nodes, id)
	s.mu.Unlock()
	return s.removeNodes(id, nodes)
}

func (s *Service) removeNodes(id string, nodes []*node) error {
	err := each(nodes, func(n *node) error { return s.Region.Remove(n.instanceID) })
	for _, n := range nodes {
		err = errors.Join(err, s.Store.SetInstanceState(id, n.memberID, types.InstanceStateTerminated, types.InstanceStateChangeReason{}))
	}
	return err
}
