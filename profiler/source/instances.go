package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Primary is the role of primary nodes, in tables.Cost and tables.Instance.
const Primary = "master"

// instances lists the cluster's instances. Of those that have ended, EMR lists 2,000 at most, for
// 30 days (EMR API Reference, ListInstances): the others are those of an earlier run.
func (e *EMR) instances(ctx context.Context, described types.Cluster, listed Listed, cluster *Cluster) {
	known := map[string]tables.Instance{}
	for _, row := range listed.Instances {
		known[row.InstanceID] = row
	}
	if cluster.Failed(OpListInstanceGroups) == nil && cluster.Failed(OpListInstanceFleets) == nil { // else roles are unknown
		cluster.report(OpListInstances, e.listInstances(ctx, described, cluster, known))
	}
	for _, row := range known {
		if row.EndTime == 0 {
			row.EndTime = cluster.Summary.EndTime
		}
		cluster.Instances = append(cluster.Instances, row)
	}
	slices.SortFunc(cluster.Instances, func(a, b tables.Instance) int {
		return cmp.Or(cmp.Compare(a.CreatedTime, b.CreatedTime), cmp.Compare(a.InstanceID, b.InstanceID))
	})
}

// listInstances adds what EMR lists to the known instances.
func (e *EMR) listInstances(ctx context.Context, described types.Cluster, cluster *Cluster, known map[string]tables.Instance) error {
	pages := emr.NewListInstancesPaginator(e.emr, &emr.ListInstancesInput{ClusterId: described.Id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return refused(fmt.Errorf("list the instances: %w", err), "elasticmapreduce:"+OpListInstances+"; without it there are no costs")
		}
		for _, i := range page.Instances {
			if aws.ToString(i.Ec2InstanceId) == "" || i.Status == nil || i.Status.Timeline == nil {
				continue // EC2 has not started it yet
			}
			group := aws.ToString(i.InstanceGroupId) + aws.ToString(i.InstanceFleetId) // EMR sets one of them
			known[*i.Ec2InstanceId] = tables.Instance{
				Cluster: cluster.Summary.Cluster, InstanceID: *i.Ec2InstanceId, Host: HostOf(aws.ToString(i.PrivateDnsName)),
				Address: aws.ToString(i.PrivateIpAddress), Group: group, Role: cluster.roles[group],
				InstanceType: aws.ToString(i.InstanceType), Market: string(i.Market),
				CreatedTime: millis(i.Status.Timeline.CreationDateTime), EndTime: millis(i.Status.Timeline.EndDateTime),
			}
		}
	}
	return nil
}

// refused makes an Obstacle of an error that says that a right lacks: reading the cluster again
// does not help.
func refused(err error, right string) error {
	var answer smithy.APIError
	if errors.As(err, &answer) && (strings.HasPrefix(answer.ErrorCode(), "AccessDenied") || answer.ErrorCode() == "NoSuchBucket") {
		return &Obstacle{Reason: err.Error(), Remedy: "grant the profiler's role " + right}
	}
	return err
}

// HostOf returns the first label of a host's name, in lower case: applications may know a
// node by another domain than EMR. It returns an address as it is.
func HostOf(name string) string {
	if _, err := netip.ParseAddr(name); err == nil {
		return name
	}
	host, _, _ := strings.Cut(strings.ToLower(name), ".")
	return host
}
