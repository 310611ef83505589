package localcloud

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

type cluster struct{ *cloud }

// Create implements simulator.Handler.
func (k cluster) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	recorded, err := r.Recorded()
	if err != nil {
		return recorded, err
	}
	id, err := k.emr.CreateCluster(ctx, property.Plain(r.Inputs))
	if err != nil {
		return simulator.Result{}, err
	}
	return k.addOutputs(recorded, id)
}

// addOutputs sets the id and what EMR computes.
func (k cluster) addOutputs(recorded simulator.Result, id string) (simulator.Result, error) {
	found, err := k.store.Cluster(id)
	if err != nil {
		return recorded, err
	}
	recorded.ID = id
	for key, v := range map[resource.PropertyKey]*string{"arn": found.ClusterArn, "masterPublicDns": found.MasterPublicDnsName} {
		if v != nil {
			recorded.Outputs[key] = resource.NewStringProperty(*v)
		}
	}
	recorded.Outputs["clusterState"] = resource.NewStringProperty(string(found.Status.State))
	return recorded, nil
}

// Read implements simulator.Handler.
func (k cluster) Read(_ context.Context, r simulator.Request) (simulator.Result, bool, error) {
	c, err := k.store.Cluster(r.ID)
	ended := err != nil || c.Status.State == types.ClusterStateTerminated || c.Status.State == types.ClusterStateTerminatedWithErrors
	return unchangedResult(r), !ended, nil
}

// Update implements simulator.Handler.
func (k cluster) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	if err := k.emr.UpdateCluster(ctx, r.ID, property.Plain(r.Outputs), property.Plain(r.Inputs)); err != nil {
		return simulator.Result{}, err
	}
	recorded, err := r.Recorded()
	if err != nil {
		return recorded, err
	}
	return k.addOutputs(recorded, r.ID)
}

// Delete implements simulator.Handler.
func (k cluster) Delete(ctx context.Context, r simulator.Request) error {
	return k.emr.DeleteCluster(ctx, r.ID)
}
