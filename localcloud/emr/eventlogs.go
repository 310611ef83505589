package emr

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
)

// DefaultEventLogInterval is short, for whoever waits for it.
const DefaultEventLogInterval = 10 * time.Second

// WatchEventLogs copies the event logs of running clusters, until ctx is done, finds out which
// applications their running steps have submitted, and deletes copies that have expired.
func (s *Service) WatchEventLogs(ctx context.Context) {
	interval := s.EventLogInterval
	if interval == 0 {
		interval = DefaultEventLogInterval
	}
	repeat(ctx, interval, s.CollectEventLogs)
}

// CollectEventLogs does once what WatchEventLogs does repeatedly.
func (s *Service) CollectEventLogs(ctx context.Context) {
	for _, id := range s.Store.ClusterIDs() {
		c, err := s.Store.Cluster(id)
		if err != nil || c.Status.State != types.ClusterStateRunning && c.Status.State != types.ClusterStateWaiting {
			continue
		}
		if err := s.collectEventLogs(ctx, id, false); err != nil {
			s.Log.Warn("collect event logs", "cluster", id, "error", err)
		}
		if err := s.findRunningApplications(id); err != nil {
			s.Log.Warn("find the applications of steps", "cluster", id, "error", err)
		}
	}
	if s.UIs == nil {
		return
	}
	if err := s.UIs.Expire(); err != nil {
		s.Log.Warn("expire event logs", "error", err)
	}
}

// collectEventLogs copies a cluster's event logs from HDFS, if they are there: for the
// last time, or as far as they are.
func (s *Service) collectEventLogs(ctx context.Context, id string, last bool) error {
	hdfs, found, err := s.hdfs(id)
	switch {
	case err != nil || !found:
		return err
	case last:
		return s.UIs.CollectLast(ctx, id, hdfs)
	}
	return s.UIs.Collect(ctx, id, hdfs)
}

// hdfs returns the HDFS with a cluster's event logs. found is false if somebody else
// keeps them, nobody does, or the cluster did not get as far as having HDFS.
func (s *Service) hdfs(id string) (hdfs persistentui.HDFS, found bool, err error) {
	c, err := s.Store.Cluster(id)
	if err != nil || s.UIs == nil || c.Status.Timeline.ReadyDateTime == nil || historyDisabled(c) {
		return hdfs, false, err
	}
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return hdfs, false, err
	}
	dir, err := url.Parse(nodes[0].EventLogDir())
	if err != nil {
		return hdfs, false, fmt.Errorf("spark.eventLog.dir: %w", err)
	}
	hosts := map[string]string{}
	for _, n := range nodes {
		hosts[n.fqdn()] = n.ip()
	}
	return persistentui.HDFS{
		NameNode: fmt.Sprintf("%s:%d", nodes[0].ip(), platform.NameNodeUI), Hosts: hosts, User: HDFSUser(), EventLog: dir.Path,
	}, dir.Scheme == "" || dir.Scheme == "hdfs", nil
}

// historyDisabled reports whether a cluster's monitoring configuration keeps EMR from
// uploading its event logs.
func historyDisabled(c types.Cluster) bool {
	m := c.MonitoringConfiguration
	return m != nil && m.S3LoggingConfiguration != nil &&
		m.S3LoggingConfiguration.LogTypeUploadPolicy[string(types.LogTypePersistentUiLogs)] == types.LogUploadPolicyValueDisabled
}

// HDFSUser returns HDFS' superuser: the account of the NameNode. Where the region has one
// uid, that is the account which comes first.
func HDFSUser() string {
	if region.SingleUID() {
		return hadoop.User
	}
	return hadoop.NameNode().User
}

// Primary returns the address of a running cluster's primary node.
func (s *Service) Primary(id string) (string, error) {
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return "", err
	}
	return nodes[0].ip(), nil
}

// findRunningApplications finds the applications of a cluster's running steps.
func (s *Service) findRunningApplications(id string) error {
	steps, err := s.Store.Steps(id)
	if err != nil {
		return err
	}
	nodes, err := s.clusterNodes(id)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if step.Status.State != types.StepStateRunning {
			continue
		}
		if err := s.findStepApplications(id, nodes[0], aws.ToString(step.Id)); err != nil {
			return err
		}
	}
	return nil
}
