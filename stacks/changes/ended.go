package changes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Ended is a cluster of the stack that ended outside an update, as when EMR terminates an
// idle one. The engine learns of it only by a refresh.
type Ended struct {
	Cluster string // j-…
	State   types.ClusterState
	Reason  string
	// Recreated reports whether the plan creates another cluster.
	Recreated bool
}

// FindEnded looks up the cluster of the resource with this logical name. It returns
// nil if the cluster has not ended, or if the plan deletes it.
func FindEnded(ctx context.Context, api emr.DescribeClusterAPIClient, name, id string, plan Plan) (*Ended, error) {
	if len(plan.ofCluster(name, Deleted)) > 0 {
		return nil, nil
	}
	out, err := api.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(id)})
	if err != nil {
		return nil, fmt.Errorf("describe cluster %s: %w", id, err)
	}
	ended := Ended{Cluster: id, Recreated: len(plan.ofCluster(name, Created, Replaced)) > 0}
	if status := out.Cluster.Status; status != nil {
		ended.State = status.State
		if change := status.StateChangeReason; change != nil {
			ended.Reason = cmp.Or(aws.ToString(change.Message), string(change.Code))
		}
	}
	switch ended.State {
	case types.ClusterStateTerminating, types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors:
		return &ended, nil
	}
	return nil, nil
}

// ofCluster returns the changes of an EMR cluster with one of the effects.
func (p Plan) ofCluster(name string, effects ...Effect) Plan {
	return slices.DeleteFunc(slices.Clone(p), func(c Change) bool {
		return c.Type != typeCluster || c.Name != name || !slices.Contains(effects, c.Effect)
	})
}

// String formats what has ended and what an update makes of it, on one line.
func (e Ended) String() string {
	reason := string(e.State)
	if e.Reason != "" {
		reason += ": " + e.Reason
	}
	if e.Recreated {
		return fmt.Sprintf("cluster %s ended (%s); up creates another", e.Cluster, reason)
	}
	return fmt.Sprintf("cluster %s ended (%s), and this preview has not noticed; `%s`, then `pulumi up` creates another",
		e.Cluster, reason, platform.RefreshClusters)
}
