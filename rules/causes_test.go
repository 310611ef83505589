package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// What each cause needs of YARN's metrics, on a cluster of its own, where an application waits
// for ten minutes. Only that cause holds.
func TestWaitCauses(t *testing.T) {
	require.Equal(t, rules.WaitState, slices.Index(platform.Phases(), platform.PhaseResourceWait))
	const (
		pending, containers   = `queue_metrics_pending_mb{queue="root"`, `queue_metrics_pending_containers{queue="root"`
		room, leafRoom        = `queue_metrics_available_mb{queue="root"`, `queue_metrics_available_mb{queue="root.etl"`
		leafPending, masters  = `queue_metrics_pending_mb{queue="root.etl"`, `queue_metrics_apps_pending{queue="root"`
		nodes                 = `cluster_metrics_num_active_n_ms{`
		onDemand              = `,partition="ON_DEMAND"` // nodes with this label
		executor, most, large = 4096, 65536, 3 * 4096
	)
	of := []samples{
		{pending: large, containers: 3, leafPending: large, leafRoom: 0, room: 0, room + onDemand: most, masters: 0, nodes: 2},
		{pending: large, containers: 3, leafPending: large, leafRoom: 1024, room: 1024, masters: 0, nodes: 2},
		{pending: large, containers: 3, leafPending: large, leafRoom: 1024, room: 1024, masters: 0, nodes: 2},
		{
			pending: large, containers: 3, leafPending: large, leafRoom: 0, leafRoom + onDemand: most, room: 0, room + onDemand: executor,
			masters: 0, nodes: 2,
		},
		{pending: 0, containers: 0, leafPending: 0, leafRoom: 1024, room: 0, room + onDemand: most, masters: 1, nodes: 2},
	}
	causes := rules.WaitCauses()
	require.Len(t, of, len(causes))
	store := storetest.Metrics(t)
	until := time.Now().Add(-10 * time.Minute).Truncate(30 * time.Second)
	var body strings.Builder
	write := func(cluster int, series string, value float64, at time.Time) {
		fmt.Fprintf(&body, "%s,cluster=\"j-%d\"} %v %d\n", series, cluster, value, at.UnixMilli())
	}
	for i, all := range of {
		for at := until.Add(-10 * time.Minute); at.Before(until.Add(10 * time.Minute)); at = at.Add(30 * time.Second) {
			for series, value := range all {
				if series == nodes && i == 1 && at.After(until) {
					value++ // the node that was being added
				}
				write(i, strings.Replace(series, "{,", "{", 1), value, at)
			}
			state := rules.WaitState
			if at.After(until) {
				state = 0
			}
			write(i, `spark_phase_state{spark_app_id="a"`, float64(state), at)
		}
	}
	storetest.Post(t, store+"/api/v1/import/prometheus", "text/plain", []byte(strings.ReplaceAll(body.String(), "{,", "{")))
	storetest.Get(t, store+"/internal/force_flush")
	for i, cause := range causes {
		for cluster := range of {
			found := storetest.Ask(t, store, cause.Seconds(fmt.Sprintf(`cluster="j-%d"`, cluster), "20m"), until.Add(9*time.Minute))
			switch {
			case cluster != i && (i != 2 || cluster != 1): // a node that comes later than in five minutes is none yet
				require.Empty(t, found, "%s on the cluster of %s", cause.Title, causes[cluster].Title)
			case cluster == i:
				require.Len(t, found, 1, cause.Title)
				require.GreaterOrEqual(t, found[0].Number, 150.0, cause.Title)
			}
		}
	}
}
