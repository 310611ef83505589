package emr

import (
	"context"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
)

// reconfigure applies a group's own classifications to its nodes, one node after the
// other, and restarts the daemons whose files have changed (Release Guide,
// "Reconfigure an instance group in a running cluster").
func (s *Service) reconfigure(ctx context.Context, spec clusterSpec, p pool) error {
	nodes, err := s.clusterNodes(spec.id)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.groupID != p.id || n.version == p.version {
			continue
		}
		if err := n.reconfigure(ctx, merged(spec.configurations, p.own)); err != nil {
			return fmt.Errorf("reconfigure %s: %w", n.Host, err)
		}
		n.version = p.version
	}
	return nil
}

func (n *node) reconfigure(ctx context.Context, configurations []hadoop.Configuration) error {
	before := hadoop.Files(n.Node)
	n.Configurations = configurations
	restart := false
	for file, content := range hadoop.Files(n.Node) {
		if content == before[file] {
			continue
		}
		if err := n.write(file, content, 0o644); err != nil {
			return err
		}
		restart = restart || strings.HasPrefix(file, platform.EMRHadoopConfDir)
	}
	if !restart {
		return nil
	}
	for _, d := range n.Daemons() {
		if err := n.machine.StopUnit(ctx, d.Unit); err != nil {
			return fmt.Errorf("stop %s: %w", d.Unit, err)
		}
	}
	return n.startDaemons(ctx)
}
