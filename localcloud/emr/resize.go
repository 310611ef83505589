package emr

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// resize brings the core group to count instances, as EMR's
// ModifyInstanceGroups does: new ones boot, run the bootstrap actions, are
// configured and join HDFS and YARN. Nodes that are there keep running and keep
// their configuration. A group is not shrunk: its HDFS blocks would have to be
// moved first.
func (s *Service) resize(ctx context.Context, id string, spec Spec, count int) error {
	group, nodes, err := s.coreGroup(id)
	if err != nil || group == nil {
		return err
	}
	have := 0
	for _, n := range nodes {
		if n.Role == platform.RoleCore {
			have++
		}
	}
	switch {
	case count == have:
		return nil
	case count < have:
		return fmt.Errorf("coreInstanceGroup.instanceCount: %d: the local cloud does not move HDFS blocks off %d of %d core nodes; keep %d, or replace the cluster", count, have-count, have, have)
	}
	if err := s.setRequested(id, *group.Id, count); err != nil {
		return err
	}
	added, err := s.members(id, spec, *group, count, count-have)
	if err == nil {
		err = s.join(ctx, id, spec, nodes, added)
	}
	if err == nil {
		return nil
	}
	s.keep(id, nodes)
	return fmt.Errorf("grow the core group of %s: %w", id, errors.Join(err, s.removeNodes(id, added), s.setRequested(id, *group.Id, have)))
}

func (s *Service) coreGroup(id string) (*types.InstanceGroup, []*node, error) {
	nodes, err := s.cluster(id)
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

func (s *Service) setRequested(id, group string, count int) error {
	return s.Store.UpdateInstanceGroup(id, group, func(g *types.InstanceGroup) {
		g.RequestedInstanceCount = aws.Int32(int32(count)) //nolint:gosec // EMR's own type
	})
}

// join brings new nodes into a running cluster.
func (s *Service) join(ctx context.Context, id string, spec Spec, nodes, added []*node) error {
	all := append(append([]*node{}, nodes...), added...)
	for _, n := range added {
		n.MasterHost = nodes[0].Host
	}
	if err := each(added, func(n *node) error { return s.boot(ctx, id, n, hosts(all)) }); err != nil {
		return err
	}
	s.keep(id, all)
	// The names of the new nodes: on EC2 the VPC's resolver has them at once.
	for _, n := range nodes {
		if err := n.appendHosts(added); err != nil {
			return err
		}
	}
	if err := s.bootstrapAll(ctx, id, added, spec.Actions); err != nil {
		return err
	}
	if err := each(added, func(n *node) error { return s.configure(ctx, n) }); err != nil {
		return err
	}
	if err := each(added, func(n *node) error { return n.startDaemons(ctx) }); err != nil {
		return err
	}
	if err := s.allInYARN(ctx, all); err != nil {
		return err
	}
	return errors.Join(checkIn(added), s.setRunning(id, added))
}
