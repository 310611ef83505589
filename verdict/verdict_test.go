package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/verdict"
)

func TestText(t *testing.T) {
	waiting := len(verdict.Of(nil, 0).NeedHistory)
	require.Positive(t, waiting)
	history := fmt.Sprintf("; %d checks need the history", waiting)
	for _, c := range []struct {
		name  string
		found map[rules.ID]float64
		want  string
	}{
		{"healthy", nil, "nothing is beyond a rule's limit"},
		{
			"the most costly", map[rules.ID]float64{rules.GC: 5, rules.Spill: 22, rules.ExecutorsLost: 40},
			"spill to disk cost up to 22 s (22 %), try spark.sql.shuffle.partitions (docs/recipes/troubleshoot/oom-and-spill.md)",
		},
		{
			"more than all", map[rules.ID]float64{rules.FetchWait: 150},
			"waiting for shuffle blocks cost up to 1 min 40 s (100 %), try spark.reducer.maxSizeInFlight=96m " +
				"(docs/recipes/troubleshoot/shuffle-bottleneck.md)",
		},
		{"no time", map[rules.ID]float64{rules.S3Throttled: 0.02}, "throttled by S3 2 %"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := verdict.Of(c.found, 100)
			require.True(t, strings.HasPrefix(got.Text, c.want), got.Text)
			require.True(t, strings.HasSuffix(got.Text, history), got.Text)
			require.Len(t, got.Findings, len(c.found))
		})
	}
}

// One query on a real store answers for several applications, also for one that ended an hour
// ago.
func TestQuery(t *testing.T) {
	store, now := storetest.Metrics(t), time.Now()
	var body strings.Builder
	add := func(application string, ago time.Duration, series string, value float64) {
		fmt.Fprintf(&body, "%s,cluster=\"j-1\",spark_app_id=%q} %v %d\n", series, application, value, now.Add(-ago).UnixMilli())
	}
	for id, seconds := range map[string]float64{"application_1_0001": 30, "application_1_0002": 0.1, "application_1_00021": 30} {
		add(id, time.Hour, `spark_wall_seconds{host_name="ip-1"`, 100)
		add(id, time.Hour, `spark_stage_cost_seconds_total{rule="spill",host_name="ip-1"`, seconds)
	}
	storetest.Post(t, store+"/api/v1/import/prometheus", "text/plain", []byte(body.String()))
	storetest.Get(t, store+"/internal/force_flush")
	found := storetest.Ask(t, store, verdict.Query([]string{"application_1_0001", "application_1_0002"}, "2h"), now)
	require.Len(t, found, 1)
	require.Equal(t, "application_1_0001", found[0].Metric["spark_app_id"])
	require.Equal(t, string(rules.Spill), found[0].Metric[verdict.RuleLabel])
	require.InDelta(t, 30, found[0].Number, 1e-9)
}

// The query for as many applications as a status asks about is within VictoriaMetrics' limit.
func TestQueryIsShort(t *testing.T) {
	var ids []string
	for n := range 100 {
		ids = append(ids, fmt.Sprintf("application_1700000000000_%04d", n))
	}
	const limit, room = 16 << 10, 1 << 10 // for rules to come
	require.Less(t, len(verdict.Query(ids, "86400s")), limit-room)
}
