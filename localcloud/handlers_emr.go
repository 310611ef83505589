package localcloud

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// emrResource handles a resource of EMR through EMR's API, as the provider does. Its
// outputs are what the API gives back.
type emrResource struct {
	// create returns the id of what exists although it did not become ready, beside the error.
	create func(ctx context.Context, props map[string]any) (string, error)
	// read returns what the API gives back, nil for a property without a value, and
	// false if the resource is gone. before is the last state.
	read func(ctx context.Context, id string, before map[string]any) (map[string]any, bool, error)
	// update changes the resource from its last state to its new inputs; nil if every
	// change replaces it.
	update func(ctx context.Context, id string, before, props map[string]any) error
	remove func(ctx context.Context, id string, before map[string]any) error
}

// EMRHandlers returns the handlers of EMR's resources by type.
func EMRHandlers(api emr.Resources) map[string]simulator.Handler {
	clusterID := func(before map[string]any) string { id, _ := before["clusterId"].(string); return id }
	return map[string]simulator.Handler{
		"aws:emr/cluster:Cluster": emrResource{
			create: api.CreateCluster, read: api.ReadCluster, update: api.UpdateCluster,
			remove: func(ctx context.Context, id string, _ map[string]any) error { return api.DeleteCluster(ctx, id) },
		},
		"aws:emr/instanceGroup:InstanceGroup": emrResource{
			create: api.CreateGroup, update: api.UpdateGroup,
			read: func(ctx context.Context, id string, before map[string]any) (map[string]any, bool, error) {
				return api.ReadGroup(ctx, clusterID(before), id)
			},
			remove: func(ctx context.Context, id string, before map[string]any) error {
				return api.DeleteGroup(ctx, clusterID(before), id)
			},
		},
		"aws:emr/instanceFleet:InstanceFleet": emrResource{
			create: api.CreateFleet,
			read: func(ctx context.Context, id string, before map[string]any) (map[string]any, bool, error) {
				return api.ReadFleet(ctx, clusterID(before), id)
			},
			update: func(ctx context.Context, id string, _, props map[string]any) error {
				return api.UpdateFleet(ctx, id, props)
			},
			remove: func(ctx context.Context, id string, before map[string]any) error {
				return api.DeleteFleet(ctx, clusterID(before), id)
			},
		},
		"aws:emr/managedScalingPolicy:ManagedScalingPolicy": emrResource{
			create: api.CreateManagedScaling,
			read: func(ctx context.Context, id string, _ map[string]any) (map[string]any, bool, error) {
				return api.ReadManagedScaling(ctx, id)
			},
			remove: func(ctx context.Context, id string, _ map[string]any) error {
				return api.DeleteManagedScaling(ctx, id)
			},
		},
	}
}

// Create implements simulator.Handler.
func (e emrResource) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	recorded, err := r.Recorded()
	if err != nil {
		return recorded, err
	}
	id, err := e.create(ctx, withAllTags(r.Inputs, recorded.Outputs))
	if err != nil && id != "" {
		return simulator.Result{}, &simulator.PartialError{
			Result: simulator.Result{ID: id, Outputs: recorded.Outputs}, Reasons: []string{err.Error()},
		}
	}
	if err != nil {
		return simulator.Result{}, err
	}
	return e.withState(ctx, id, recorded)
}

// withAllTags returns inputs as plain values with all tags, those of the provider's
// configuration among them.
func withAllTags(inputs, outputs resource.PropertyMap) map[string]any {
	props := property.Plain(inputs)
	if tags := property.PlainValue(outputs["tagsAll"]); tags != nil {
		props["tagsAll"] = tags
	}
	return props
}

// withState returns a recorded result with the id and what the API gives back.
func (e emrResource) withState(ctx context.Context, id string, recorded simulator.Result) (simulator.Result, error) {
	props, _, err := e.read(ctx, id, property.Plain(recorded.Outputs))
	if err != nil {
		return recorded, err
	}
	return simulator.Result{ID: id, Outputs: withRead(recorded.Outputs, props)}, nil
}

// Read implements simulator.Handler.
func (e emrResource) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	props, exists, err := e.read(ctx, r.ID, property.Plain(r.Outputs))
	if err != nil || !exists {
		return simulator.Result{}, false, err
	}
	outputs := withRead(r.Outputs, props)
	return simulator.Result{ID: r.ID, Inputs: withDrift(r.Inputs, outputs), Outputs: outputs}, true, nil
}

// Update implements simulator.Handler.
func (e emrResource) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	recorded, err := r.Recorded()
	if err != nil {
		return recorded, err
	}
	if e.update != nil {
		if err := e.update(ctx, r.ID, property.Plain(r.Outputs), withAllTags(r.Inputs, recorded.Outputs)); err != nil {
			return simulator.Result{}, err
		}
	}
	return e.withState(ctx, r.ID, recorded)
}

// Delete implements simulator.Handler.
func (e emrResource) Delete(ctx context.Context, r simulator.Request) error {
	return e.remove(ctx, r.ID, property.Plain(r.Outputs))
}
