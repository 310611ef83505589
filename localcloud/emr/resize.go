package emr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Resize implements emrapi.Nodes: new nodes of the group or fleet boot, run the bootstrap
// actions, are configured and join YARN, core nodes HDFS too; those that are too many
// are decommissioned. Other nodes keep running with their configuration.
func (s *Service) Resize(ctx context.Context, clusterID, groupID string) error {
	spec, err := s.spec(clusterID)
	if err != nil {
		return fmt.Errorf("resize %s: %w", groupID, err)
	}
	pools, err := s.pools(clusterID, groupID)
	if err != nil {
		return fmt.Errorf("resize %s: %w", groupID, err)
	}
	for _, p := range pools {
		if err := s.resizePool(ctx, spec, p); err != nil {
			return fmt.Errorf("resize %s of %s: %w", groupID, clusterID, err)
		}
	}
	return nil
}

// resizePool makes the number of a pool's nodes match its count.
func (s *Service) resizePool(ctx context.Context, spec clusterSpec, p pool) error {
	nodes, err := s.clusterNodes(spec.id)
	if err != nil {
		return err
	}
	members := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n.groupID != p.id || n.market != p.market })
	switch missing := p.count - len(members); {
	case missing > 0:
		if err := s.grow(ctx, spec, p, missing); err != nil {
			return err
		}
	case missing < 0:
		leaving, err := s.chooseLeaving(ctx, nodes[0], members, -missing, p.shrink)
		if err != nil {
			return err
		}
		if err := s.shrink(ctx, spec, p, leaving); err != nil {
			return err
		}
	}
	return s.reconfigure(ctx, spec, p)
}

// grow adds nodes to a pool. It removes them again if one of them fails.
func (s *Service) grow(ctx context.Context, spec clusterSpec, p pool, count int) error {
	all, err := s.pools(spec.id, "")
	if err != nil {
		return err
	}
	added, err := s.newNodes(spec, p, coreNodes(all), count)
	if err == nil {
		err = s.join(ctx, spec, added)
	}
	if err == nil {
		return nil
	}
	s.dropNodes(spec.id, added)
	return errors.Join(err, s.removeNodes(spec.id, added))
}

// join adds nodes to a running cluster.
func (s *Service) join(ctx context.Context, spec clusterSpec, added []*node) error {
	if err := s.bootJoining(ctx, spec.id, added); err != nil {
		return err
	}
	if err := s.runBootstrapActions(ctx, spec.id, added, spec.actions); err != nil {
		return err
	}
	if err := forEachNode(added, func(n *node) error { return s.configure(ctx, n) }); err != nil {
		return err
	}
	if err := s.admit(ctx, spec.id, added); err != nil {
		return err
	}
	if err := forEachNode(added, func(n *node) error { return n.startDaemons(ctx) }); err != nil {
		return err
	}
	nodes, err := s.clusterNodes(spec.id)
	if err != nil {
		return err
	}
	if err := awaitActive(ctx, nodes[0], added); err != nil {
		return err
	}
	return errors.Join(forEachNode(added, (*node).reportProvisioned), s.setRunning(spec.id, added))
}

// bootJoining boots new nodes of a running cluster. All nodes know each other's names
// afterwards: on EC2 the VPC's resolver knows them at once.
func (s *Service) bootJoining(ctx context.Context, id string, added []*node) error {
	defer s.lockJoining(id)()
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return err
	}
	all := slices.Concat(nodes, added)
	for _, n := range added {
		n.MasterHost = nodes[0].Host
	}
	if err := forEachNode(added, func(n *node) error { return s.boot(ctx, id, n, hostNames(all)) }); err != nil {
		return err
	}
	s.addNodes(id, added)
	for _, n := range nodes {
		if err := n.appendHosts(added); err != nil {
			return err
		}
	}
	return nil
}

// chooseLeaving chooses which nodes of a pool leave: those that the shrink policy names,
// then those with the fewest containers, the newest first.
func (s *Service) chooseLeaving(
	ctx context.Context, master *node, members []*node, count int, policy *types.ShrinkPolicy,
) ([]*node, error) {
	states, err := readYARNNodes(ctx, master)
	if err != nil {
		return nil, err
	}
	named, protected := []string{}, []string{}
	if policy != nil && policy.InstanceResizePolicy != nil {
		named, protected = policy.InstanceResizePolicy.InstancesToTerminate, policy.InstanceResizePolicy.InstancesToProtect
	}
	rank := func(n *node) int {
		switch {
		case slices.Contains(named, n.instanceID):
			return -1
		case slices.Contains(protected, n.instanceID):
			return 1 << 20
		}
		return states[n.fqdn()].Containers
	}
	slices.Reverse(members)
	slices.SortStableFunc(members, func(a, b *node) int { return cmp.Compare(rank(a), rank(b)) })
	return members[:count], nil
}

// shrink decommissions nodes, then removes them.
func (s *Service) shrink(ctx context.Context, spec clusterSpec, p pool, leaving []*node) error {
	if err := s.decommission(ctx, spec, p, leaving); err != nil {
		return err
	}
	s.pushLogs(ctx, spec.id)
	s.dropNodes(spec.id, leaving)
	for _, n := range leaving {
		reason := types.InstanceStateChangeReason{Message: aws.String("The instance group or fleet was resized.")}
		if err := s.Store.SetInstanceState(spec.id, n.memberID, types.InstanceStateTerminated, reason); err != nil {
			return err
		}
	}
	return forEachNode(leaving, func(n *node) error { return s.Region.Remove(n.instanceID) })
}
