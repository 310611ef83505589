package clustertelemetry

import (
	"context"
	"fmt"
	"time"

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
	sender *sender
	ended  map[string]bool // clusters whose end was sent
}

// New returns a recorder of the source's clusters. It sends to the collector of the
// source's configuration.
func New(ctx context.Context, source status.Source) (*Recorder, error) {
	collector, found := source.Config.Endpoints[platform.WorkloadCollector]
	if !found {
		return nil, fmt.Errorf("endpoints.%s: missing: telemetry of clusters is sent to it; add its URL", platform.WorkloadCollector)
	}
	sender, err := newSender(ctx, collector.URL)
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
			if err := r.sender.send(ctx, cluster, now); err != nil {
				return append(errs, err) // the others would fail alike
			}
		}
		ended[id] = cluster.Final()
	}
	r.ended = ended
	return errs
}
