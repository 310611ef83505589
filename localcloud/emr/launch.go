package emr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Launch implements emrapi.Nodes. On failure it removes the cluster's machines, pushes
// their logs to the log URI, and sets the reason in the cluster's state.
func (s *Service) Launch(ctx context.Context, id string) error {
	err := s.launch(ctx, id)
	if err == nil {
		s.exposePages()
		return nil
	}
	c, storeErr := s.Store.Cluster(id)
	if storeErr != nil || c.Status.State == types.ClusterStateTerminating { // Terminate removes the machines
		return errors.Join(fmt.Errorf("launch EMR cluster %s: %w", id, err), storeErr)
	}
	s.pushLogs(context.WithoutCancel(ctx), id) // before the machines are removed: their logs contain the cause
	removeErr := s.remove(id)
	code := types.ClusterStateChangeReasonCodeInternalError
	var failure *bootstrapError
	if errors.As(err, &failure) {
		code = types.ClusterStateChangeReasonCodeBootstrapFailure
	}
	reason := types.ClusterStateChangeReason{Code: code, Message: aws.String(err.Error())}
	return errors.Join(err, removeErr, s.Store.SetClusterState(id, types.ClusterStateTerminatedWithErrors, reason, failure.details()...))
}

// launch boots the nodes, runs the bootstrap actions, and configures and starts the
// daemons.
func (s *Service) launch(ctx context.Context, id string) error {
	spec, err := s.spec(id)
	if err != nil {
		return err
	}
	nodes, err := s.newClusterNodes(spec)
	s.addNodes(id, nodes)
	if err != nil {
		return err
	}
	if err := forEachNode(nodes, func(n *node) error { return s.boot(ctx, id, n, hostNames(nodes)) }); err != nil {
		return err
	}
	if err := s.Store.SetClusterState(id, types.ClusterStateBootstrapping, types.ClusterStateChangeReason{}); err != nil {
		return err
	}
	if err := s.runBootstrapActions(ctx, id, nodes, spec.actions); err != nil {
		return err
	}
	if err := forEachNode(nodes, func(n *node) error { return s.configure(ctx, n) }); err != nil {
		return err
	}
	s.archiveClasses(ctx, nodes[0])
	if err := s.startDaemons(ctx, nodes); err != nil {
		return err
	}
	if err := s.setRunning(id, nodes); err != nil {
		return err
	}
	return s.setReady(id)
}

// setReady sets a launched cluster to WAITING, or to RUNNING if it has steps to run or
// is not kept alive without.
func (s *Service) setReady(id string) error {
	c, err := s.Store.Cluster(id)
	if err != nil {
		return err
	}
	steps, err := s.Store.Steps(id)
	if err != nil {
		return err
	}
	if len(steps) > 0 || aws.ToBool(c.AutoTerminate) {
		return s.Store.SetClusterState(id, types.ClusterStateRunning, types.ClusterStateChangeReason{Message: aws.String("Running step")})
	}
	ready := types.ClusterStateChangeReason{Message: aws.String("Cluster ready to run steps.")}
	return s.Store.SetClusterState(id, types.ClusterStateWaiting, ready)
}

// setRunning sets the nodes' instances to RUNNING.
func (s *Service) setRunning(id string, nodes []*node) error {
	for _, n := range nodes {
		if err := s.Store.SetInstanceState(id, n.memberID, types.InstanceStateRunning, types.InstanceStateChangeReason{}); err != nil {
			return err
		}
	}
	return nil
}

// forEachNode calls do for all nodes concurrently and returns the first error in
// the order of the nodes, the primary node first.
func forEachNode(nodes []*node, do func(*node) error) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = do(n) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// hostNames returns the names of nodes by address, for /etc/hosts.
func hostNames(nodes []*node) map[string][]string {
	out := map[string][]string{}
	for _, n := range nodes {
		out[n.ip()] = []string{n.fqdn(), n.Host}
	}
	return out
}

// newClusterNodes returns the nodes of a new cluster, the primary node first, and
// puts their instances into the store. It boots nothing.
func (s *Service) newClusterNodes(spec clusterSpec) ([]*node, error) {
	pools, err := s.pools(spec.id, "")
	if err != nil {
		return nil, err
	}
	var nodes []*node
	for _, p := range pools {
		members, err := s.newNodes(spec, p, coreNodes(pools), p.count)
		nodes = append(nodes, members...)
		if err != nil {
			return nodes, err
		}
	}
	for _, n := range nodes {
		n.MasterHost = nodes[0].Host
	}
	return nodes, s.Store.UpdateCluster(spec.id, func(c *types.Cluster) { c.MasterPublicDnsName = aws.String(nodes[0].fqdn()) })
}

// newNodes returns count more nodes of a pool, and puts their instances into the
// store. cores is the number of core nodes. The caller sets MasterHost.
func (s *Service) newNodes(spec clusterSpec, p pool, cores, count int) ([]*node, error) {
	nodes := make([]*node, 0, count)
	for range count {
		address, err := s.Address(spec.subnetID)
		if err != nil {
			return nodes, err
		}
		n := &node{
			address: address, instanceID: newInstanceID(), memberID: emrapi.NewID("ci"),
			groupID: p.id, market: p.market, instanceType: p.instanceType, profile: spec.profile,
			version: p.version,
		}
		n.Node = hadoop.Node{
			ClusterID: spec.id, Release: spec.releaseLabel, AccountID: s.AccountID, Region: s.AWSRegion,
			Role: p.role, OnDemand: p.market != types.MarketTypeSpot,
			Domain: "ec2.internal", CoreNodes: cores, MemoryMB: nodeMemoryMB, VCores: nodeVCores,
			S3Endpoint: s.Objects.Endpoint(), Configurations: merged(spec.configurations, p.own),
		}
		n.Host = "ip-" + strings.ReplaceAll(n.ip(), ".", "-")
		if err := s.Store.PutInstance(spec.id, p.instance(n)); err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// What YARN may allocate on a node, whatever its instance type: all nodes share
// this machine. The memory fits an application master and one executor of
// spark-defaults (896 and 1152 MB with overhead), but not two executors, which
// would only take memory from other nodes.
const (
	nodeMemoryMB = 2048
	nodeVCores   = 4
)

// boot boots a node's machine. hosts are the cluster's names by address.
func (s *Service) boot(ctx context.Context, id string, n *node, hosts map[string][]string) error {
	role, err := s.Credentials(ctx, n.profile)
	if err != nil {
		return err
	}
	m, err := s.Region.Boot(ctx, machine.Spec{
		Name: n.instanceID, Hostname: n.Host, Domain: n.Domain, Addresses: []string{n.address}, Gateway: s.Gateway,
		Binds: []machine.Bind{
			{From: s.Applications, To: applications.Mount, ReadOnly: true},
			{From: s.JavaHome, To: hostJava, ReadOnly: true},
		},
		Users: users(), Hosts: hosts,
		// The SDKs' own variable points every client at the local S3. As on EMR, none
		// names the region.
		Env: map[string]string{"AWS_ENDPOINT_URL_S3": s.Objects.Endpoint()},
		Metadata: machine.Metadata{
			InstanceID: n.instanceID, InstanceType: n.instanceType, Region: s.AWSRegion, Zone: s.AWSRegion + "a",
			AccountID: s.AccountID, Profile: n.profile, RoleCredentials: role,
		},
	})
	if err != nil {
		return err
	}
	n.machine = m
	if err := s.writeImage(n); err != nil {
		return err
	}
	return s.Store.SetInstanceState(id, n.memberID, types.InstanceStateBootstrapping, types.InstanceStateChangeReason{})
}

// users returns a node's accounts. The account hadoop, which steps run as, comes
// first: if the machine has a single uid, every process appears as the first one.
func users() []machine.User {
	users := []machine.User{{Name: hadoop.User, UID: hadoop.Accounts()[hadoop.User], Groups: []string{machine.AdminGroup}}}
	for name, uid := range hadoop.Accounts() {
		if name != hadoop.User {
			users = append(users, machine.User{Name: name, UID: uid, Groups: []string{hadoop.User}})
		}
	}
	for i := range users {
		users[i].GID, users[i].Home = users[i].UID, "/home/"+users[i].Name
	}
	slices.SortFunc(users[1:], func(a, b machine.User) int { return a.UID - b.UID })
	return append(users, machine.User{Name: machine.AdminGroup, UID: 10, GID: 10, Home: "/"})
}

// Terminate implements emrapi.Nodes.
func (s *Service) Terminate(ctx context.Context, id string) error {
	s.pushLogs(ctx, id)
	if err := s.collectEventLogs(ctx, id, true); err != nil { // before HDFS goes
		s.Log.Warn("collect event logs", "cluster", id, "error", err)
	}
	return s.remove(id)
}

// remove removes a cluster's machines and sets their instances to TERMINATED.
func (s *Service) remove(id string) error {
	s.mu.Lock()
	nodes := s.nodes[id]
	delete(s.nodes, id)
	s.mu.Unlock()
	s.joining.Delete(id)
	s.exposePages()
	return s.removeNodes(id, nodes)
}

// removeNodes removes nodes' machines and sets their instances to TERMINATED.
func (s *Service) removeNodes(id string, nodes []*node) error {
	err := forEachNode(nodes, func(n *node) error { return s.Region.Remove(n.instanceID) })
	for _, n := range nodes {
		err = errors.Join(err, s.Store.SetInstanceState(id, n.memberID, types.InstanceStateTerminated, types.InstanceStateChangeReason{}))
	}
	return err
}
