package localcloud

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
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
	id, err := k.clusters.Create(ctx, property.Plain(r.Inputs))
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
	return unchangedResult(r), k.clusters.Running(r.ID), nil
}

// Update implements simulator.Handler.
func (k cluster) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	if err := k.clusters.Change(ctx, r.ID, property.Plain(r.Inputs)); err != nil {
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
	err := k.clusters.TerminateUnlessProtected(ctx, r.ID)
	if errors.Is(err, emrapi.ErrNotFound) {
		return nil
	}
	return err
}
