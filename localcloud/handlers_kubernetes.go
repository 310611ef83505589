package localcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// kubernetesObject handles the objects of a kind that package kube implements.
type kubernetesObject struct {
	simulator.Recording
	*cloud
	kind string
}

// Create implements simulator.Handler.
func (o kubernetesObject) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error {
		raw, err := json.Marshal(property.Plain(recorded.Outputs))
		if err != nil {
			return fmt.Errorf("encode %s %s: %w", o.kind, recorded.ID, err)
		}
		return o.kube.Apply(ctx, o.kind, raw)
	})
}

// Update implements simulator.Handler.
func (o kubernetesObject) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return o.Create(ctx, r)
}

// Delete implements simulator.Handler.
func (o kubernetesObject) Delete(ctx context.Context, r simulator.Request) error {
	namespace, name, _ := strings.Cut(r.ID, "/")
	return o.kube.Delete(ctx, o.kind, namespace, name)
}
