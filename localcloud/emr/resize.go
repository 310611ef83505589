package emr

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// resize grows the core group to count instances, as EMR's ModifyInstanceGroups
// does: new ones boot, run the bootstrap actions, are configured and join HDFS and
// YARN. Existing nodes keep running with their configuration. It refuses to shrink
// the group, since HDFS blocks would current to be moved first.
func (s *Service) resize(ctx context.Context, id string, spec Spec, count int) error {
	group, nodes, err := s.coreGroup(id)
	if err != nil || group == nil {
		return err
	}
	current := 0
	for _, n := range nodes {
		if n.Role == platform.RoleCore {
			current++
		}
	}
	switch {
	case count == current:
		return nil
	case count < current:
		return fmt.Errorf("coreInstanceGroup.instanceCount: %d: the local cloud does not move HDFS blocks off %d of %d core nodes; "+
			"keep %d, or replace the cluster", count, current-count, current, current)
	}
	if err := s.setRequested(id, *group.Id, count); err != nil {
		return err
	}
	added, err := s.newGroupNodes(id, spec, *group, count, count-current)
	if err == nil {
		err = s.join(ctx, id, spec, nodes, added)
	}
	if err == nil {
		return nil
	}
	s.setNodes(id, nodes)
	return fmt.Errorf("grow the core group of %s: %w", id, errors.Join(err, s.removeNodes(id, added), s.setRequested(id, *group.Id, current)))
}

// coreGroup returns a cluster's core group, nil if it has none, and all its nodes.
func (s *Service) coreGroup(id string) (*types.InstanceGroup, []*node, error) {
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return nil, nil, err
	}
	groups, err := s.Store.InstanceGroups(id)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range groups {
		if g.InstanceGroupType == types.InstanceGroupTypeCore {
			return &g, nodes, nil
		}
	}
	return nil, nodes, nil
}

// setRequested sets the requested number of instances of a group.
func (s *Service) setRequested(id, group string, count int) error {
	return s.Store.UpdateInstanceGroup(id, group, func(g *types.InstanceGroup) {
		g.RequestedInstanceCount = aws.Int32(int32(count))
	})
}

// join adds nodes to a running cluster.
func (s *Service) join(ctx context.Context, id string, spec Spec, nodes, added []*node) error {
	all := append(append([]*node{}, nodes...), added...)
	for _, n := range added {
		n.MasterHost = nodes[0].Host
	}
	if err := forEachNode(added, func(n *node) error { return s.boot(ctx, id, n, hostNames(all)) }); err != nil {
		return err
	}
	s.setNodes(id, all)
	// On EC2 the VPC's resolver knows the names of new nodes at once.
	for _, n := range nodes {
		if err := n.appendHosts(added); err != nil {
			return err
		}
	}
	if err := s.runBootstrapActionsOnAll(ctx, id, added, spec.Actions); err != nil {
		return err
	}
	if err := forEachNode(added, func(n *node) error { return s.configure(ctx, n) }); err != nil {
		return err
	}
	if err := forEachNode(added, func(n *node) error { return n.startDaemons(ctx) }); err != nil {
		return err
	}
	if err := s.awaitWorkers(ctx, all); err != nil {
		return err
	}
	return errors.Join(reportProvisioned(added), s.setRunning(id, added))
}
