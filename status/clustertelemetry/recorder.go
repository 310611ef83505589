// Package clustertelemetry sends, from the control node, what EMR says of each cluster
// that reports: one metric whose labels are the cluster's id, name, release and state.
// Telemetry has the id alone, and a cluster that is replaced gets another one, while its
// name stays: dashboards choose clusters by name.
//
// It is not the status page, and keeps nothing: after a restart it asks EMR again, and
// the store has what it sent before.
package clustertelemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

const (
	// reported is how far back a cluster counts that has sent something. The control node
	// may have been down when it ended.
	reported = 24 * time.Hour

	// sentAfterEnd is how long the last state of a cluster is sent. Its data is found by
	// name for as long as it is stored: a query looks for names within its time range, and
	// VictoriaMetrics keeps those of a day together.
	sentAfterEnd = 15 * time.Minute
)

// Recorder sends the metric of all clusters that report.
type Recorder struct {
	*recording.Loop

	source status.Source
	sender recording.Sender
	ended  map[string]bool // clusters whose end was sent
}

// New returns a recorder of the source's clusters. It sends to the collector of the
// source's configuration.
func New(ctx context.Context, source status.Source) (*Recorder, error) {
	sender, err := recording.NewSender(ctx, source.Config, "clusters")
	if err != nil {
		return nil, err
	}
	r := &Recorder{source: source, sender: sender, ended: map[string]bool{}}
	r.Loop = recording.New("clusters", r.record)
	return r, nil
}

// record sends what is known of all clusters once.
func (r *Recorder) record(ctx context.Context, now time.Time) []error {
	reporting, err := r.source.Reporting(ctx, now.Add(-reported))
	if err != nil {
		return []error{err}
	}
	errs := r.source.Clusters.Refresh(ctx, reporting, now)
	ended := map[string]bool{}
	for _, id := range reporting {
		cluster, known := r.source.Clusters.Known(id)
		if !known { // a name that is not EMR's would stay in the store
			continue
		}
		if !r.ended[id] || now.Before(cluster.Ended.Add(sentAfterEnd)) {
			if err := r.send(ctx, cluster, now); err != nil {
				return append(errs, err) // the others would fail alike
			}
		}
		ended[id] = cluster.Final()
	}
	r.ended = ended
	return errs
}

// send sends the metric of a cluster. It has no host: all nodes are the cluster's.
func (r *Recorder) send(ctx context.Context, c status.EMRCluster, now time.Time) error {
	labels := attribute.NewSet(
		attribute.String(platform.LabelClusterName, c.Name), attribute.String(platform.LabelClusterRelease, c.Release),
		attribute.String(platform.LabelClusterState, string(c.State)))
	cluster := resource.NewSchemaless(
		attribute.String(string(platform.ServiceName), platform.ServiceCluster), attribute.String(string(platform.Cluster), c.ID))
	return r.sender.Send(ctx, "what EMR says of cluster "+c.ID, cluster, metricdata.Metrics{
		Name: platform.EmittedClusterInfo,
		Data: metricdata.Gauge[int64]{DataPoints: []metricdata.DataPoint[int64]{{Attributes: labels, Time: now, Value: 1}}},
	})
}
