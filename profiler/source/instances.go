package source

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Instance is an EC2 instance that a cluster has or had. It is paid from Created until Ended.
type Instance struct {
	ID     string // of EC2
	Host   string // private name, without its domain
	Group  string // id of its instance group or fleet
	Role   string // as tables.Cost.Role
	Type   string
	Market string // ON_DEMAND or SPOT
	// Ended is 0 while it runs.
	Created, Ended tables.Millis
}

// instances lists the cluster's instances, those that have ended too. EMR keeps these as long
// as the cluster.
func (e *EMR) instances(ctx context.Context, described types.Cluster, cluster *Cluster) {
	role := map[string]string{}
	for _, row := range cluster.Costs {
		role[row.Group] = row.Role
	}
	var found []Instance
	pages := emr.NewListInstancesPaginator(e.emr, &emr.ListInstancesInput{ClusterId: described.Id})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			cluster.report(OpListInstances, refused(err))
			return
		}
		for _, i := range page.Instances {
			group := aws.ToString(i.InstanceGroupId) + aws.ToString(i.InstanceFleetId) // EMR sets one of them
			instance := Instance{
				ID: aws.ToString(i.Ec2InstanceId), Host: HostOf(aws.ToString(i.PrivateDnsName)),
				Group: group, Role: role[group], Type: aws.ToString(i.InstanceType), Market: string(i.Market),
			}
			if i.Status != nil && i.Status.Timeline != nil {
				instance.Created, instance.Ended = millis(i.Status.Timeline.CreationDateTime), millis(i.Status.Timeline.EndDateTime)
			}
			found = append(found, instance)
		}
	}
	cluster.Instances = found
	cluster.report(OpListInstances, nil)
}

// refused makes an Obstacle of a refusal, so that a role from before the profiler listed
// instances does not have the cluster read again and again.
func refused(err error) error {
	err = fmt.Errorf("list the instances: %w", err)
	var answer smithy.APIError
	if errors.As(err, &answer) && strings.HasPrefix(answer.ErrorCode(), "AccessDenied") {
		return &Obstacle{Reason: err.Error(), Remedy: "grant the profiler's role elasticmapreduce:" + OpListInstances + "; without it there are no costs"}
	}
	return err
}

// HostOf returns the first label of a host's name, in lower case: applications may know a
// node by another domain than EMR.
func HostOf(name string) string {
	host, _, _ := strings.Cut(strings.ToLower(name), ".")
	return host
}
