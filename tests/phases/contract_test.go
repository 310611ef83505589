package phases_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// everySignal is the job whose JVMs send every metric that the contract has of a JVM.
const everySignal = "magic"

// fromAirflow adds what Airflow says of a job.
func fromAirflow(conf map[string]string) map[string]string {
	conf[platform.SparkAirflowDAG], conf[platform.SparkAirflowTask] = "nightly", "load"
	conf[platform.SparkAirflowRun], conf[platform.SparkAirflowTry] = "scheduled__2026-01-31", "2"
	return conf
}

// requireContract requires that the JVMs of the job sent each metric of the contract that
// is theirs, as it is there, and no other.
func (r *run) requireContract(t *testing.T) {
	t.Helper()
	id := r.application(t)
	listed := map[string]bool{}
	for _, m := range contract.Metrics() {
		if !slices.Contains([]contract.Source{contract.SourceJVM, contract.SourceS3A, contract.SourceSpark}, m.Source) {
			continue
		}
		listed[m.Emitted] = true
		sent := r.awaitShape(t, id, m.Emitted)
		require.Equal(t, m.Type, sent.kind, m.Emitted)
		require.Equal(t, m.Unit, sent.unit, m.Emitted)
		labels := slices.DeleteFunc(m.Labels, func(l string) bool { return l == contract.InfoStep }) // no step runs the job
		require.ElementsMatch(t, labels, slices.Collect(maps.Keys(sent.labels)), m.Emitted)
	}
	for _, name := range r.received.names(id) {
		require.True(t, listed[name], "%s is not in the contract", name)
	}
	// The store refused the first uploads, which are the driver's.
	for counter, bucket := range map[string]string{
		"store_io_retry": "slow-magic", "store_io_throttled": "slow-magic", "object_put_bytes": platform.S3AAnyBucket,
	} {
		require.Positive(t, r.received.largest(id, platform.S3APrefix+counter, "bucket")[bucket], counter)
	}
}

func (r *run) awaitShape(t *testing.T, id, metric string) (sent shape) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Answer, 100*time.Millisecond, func(context.Context) error {
		r.received.mu.Lock()
		defer r.received.mu.Unlock()
		var ok bool
		if sent, ok = r.received.shapes[id][metric]; !ok {
			return fmt.Errorf("no JVM of %s (%s) sent %s", r.name, id, metric)
		}
		sent.labels = maps.Clone(sent.labels)
		return nil
	})
	require.NoError(t, err)
	return sent
}

// names returns the metrics that the JVMs of an application sent.
func (r *receiver) names(application string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.shapes[application]))
}

// largest returns the largest values of an application's metric in any JVM, by a label.
func (r *receiver) largest(application, metric, label string) map[string]float64 {
	values := map[string]float64{}
	for _, p := range r.pointsOf(application, metric) {
		values[p.values[label]] = max(values[p.values[label]], p.value)
	}
	return values
}
