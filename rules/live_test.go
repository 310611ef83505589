package rules_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/rules"
)

// samples are the last values of an application's series.
type samples map[string]float64

// with returns the samples with others.
func (s samples) with(series string, value float64) samples {
	other := maps.Clone(s)
	other[series] = value
	return other
}

// liveCase is an application at a rule's limit, what is found in it, and applications in which
// nothing is.
type liveCase struct {
	at     samples
	want   float64
	others map[string]samples
}

// Series of the samples.
const (
	wallClock = `spark_wall_seconds`
	computed  = `spark_phase_compute_seconds`
	wrote     = `spark_phase_io_write_seconds`
)

func ofStages(id rules.ID) liveCase {
	series := fmt.Sprintf(`spark_stage_cost_seconds_total{rule=%q}`, id)
	at := samples{wallClock: 1000, series: 5}
	return liveCase{at, 5, map[string]samples{
		"a long job": at.with(wallClock, 1001), "short": {wallClock: 100, series: 0.9},
		"another": {wallClock: 1000, `spark_stage_cost_seconds_total{rule="x"}`: 5},
	}}
}

func ofPhase(id rules.ID, series string) liveCase {
	rule := rules.Get(id)
	floor := rule.Floor(rules.MinPhase) / 1e3
	at := samples{wallClock: 1000, series: 1000 * rule.Warn}
	return liveCase{at, 1000 * rule.Warn, map[string]samples{
		"below": at.with(series, 1000*rule.Warn-0.1), "short": at.with(series, floor-0.1).with(wallClock, floor),
	}}
}

func removed(reason string) samples {
	return samples{wallClock: 1000, fmt.Sprintf(`spark_executor_removed_total{reason=%q}`, reason): 1}
}

func liveCases() map[rules.ID]liveCase {
	const (
		tail, ratio             = `spark_stage_tail_seconds_total`, `spark_task_skew_ratio{measure="time",of="median"}`
		failed, succeeded       = `spark_task_count_total{outcome="failed"}`, `spark_task_count_total{outcome="success"}`
		wait, busy              = `spark_resource_wait_seconds`, `spark_executor_core_time_seconds_total{state="busy"}`
		idle                    = `spark_executor_core_time_seconds_total{state="idle"}`
		copied                  = `hadoop_s3a_object_copy_requests_total{bucket="b"}`
		throttled, requested    = `hadoop_s3a_store_io_throttled_total{bucket="b"}`, `hadoop_s3a_store_io_request_total{bucket="b"}`
		wallSeconds, perHour    = 1000.0, 3600.0
		tasksFailed, tasksEnded = 10.0, 100.0
	)
	writing := ofPhase(rules.SlowWrite, wrote) // of what is more than its stages computed
	for _, all := range append(slices.Collect(maps.Values(writing.others)), writing.at) {
		all[wrote] += 100
		all[`spark_stage_write_compute_seconds_total`] = 100
	}
	skew, failures := rules.Get(rules.Skew), rules.Get(rules.FailedTasks)
	idleCores := rules.Get(rules.IdleCores)
	skewed := samples{wallClock: wallSeconds, tail: 20, ratio: skew.Warn}
	failing := samples{
		wallClock: wallSeconds, computed: 0, wrote: 500, failed: tasksFailed, succeeded: tasksFailed/failures.Warn - tasksFailed,
	}
	// The 95th percentile is in the bucket that ends at the limit, or in one below it.
	reads := func(bound float64) samples {
		of := func(le string) string { return fmt.Sprintf(`spark_task_shuffle_read_bytes_bucket{le=%q}`, le) }
		return samples{of(fmt.Sprint(int64(bound / 2))): 0, of(fmt.Sprint(int64(bound))): 95, of("+Inf"): 100}
	}
	large := rules.Get(rules.LargeShuffleReads).Live.Warn
	coreHours := rules.Severities()[len(rules.Severities())-1].CoreHours
	idling := samples{idle: coreHours * perHour, busy: coreHours*perHour/idleCores.Warn - coreHours*perHour}
	return map[rules.ID]liveCase{
		rules.GC:          ofStages(rules.GC),
		rules.FetchWait:   ofStages(rules.FetchWait),
		rules.SlowWrite:   writing,
		rules.DriverBound: ofPhase(rules.DriverBound, "spark_phase_driver_seconds"),
		rules.Skew: {skewed, 20, map[string]samples{
			"no time lost": skewed.with(tail, 0), "below": skewed.with(ratio, skew.Warn-0.1), "a long job": skewed.with(wallClock, 100_000),
		}},
		rules.Spill: ofStages(rules.Spill), rules.TinyTasks: ofStages(rules.TinyTasks),
		rules.LowParallelism: ofStages(rules.LowParallelism), rules.StageRetries: ofStages(rules.StageRetries),
		rules.FailedTasks: {failing, failures.Warn * 500, map[string]samples{
			"below": failing.with(succeeded, tasksEnded), "few": failing.with(failed, tasksFailed-1).with(succeeded, 0),
		}},
		rules.ResourceWait: {samples{wallClock: wallSeconds, wait: 300}, 300, map[string]samples{
			"below": {wallClock: wallSeconds, wait: 299}, "a cold start": {wallClock: 60, wait: 29},
		}},
		rules.IdleCores: {idling, coreHours, map[string]samples{
			"below": idling.with(busy, idling[busy]+1), "few hours": {idle: coreHours*perHour - 1, busy: 0},
		}},
		rules.ExecutorsLost: {removed("lost"), 1, map[string]samples{
			"idle": removed("idle"), "memory": removed("memory"), "none": {`spark_executor_removed_total{reason="lost"}`: 0},
		}},
		rules.ExecutorMemory:    {removed("memory"), 1, map[string]samples{"lost": removed("lost")}},
		rules.LargeShuffleReads: {reads(large), large, map[string]samples{"below": reads(large - 1)}},
		rules.RenameCommit:      {samples{copied: 1}, 1, map[string]samples{"none": {copied: 0}}},
		rules.S3Throttled:       {samples{throttled: 1, requested: 100}, 0.01, map[string]samples{"below": {throttled: 1, requested: 101}}},
	}
}

// On a real store, each query finds what is at its rule's limit, and nothing of the sort below
// the limit, a floor, or the cost of a warning.
func TestLive(t *testing.T) {
	store, now := storetest.Metrics(t), time.Now()
	var body strings.Builder
	add := func(application string, all samples) {
		for series, value := range all {
			name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
			fmt.Fprintf(&body, "%s{cluster=\"j-1\",spark_app_id=%q,%s} %v %d\n", name, application, labels, value, now.UnixMilli())
		}
	}
	cases := liveCases()
	for id, c := range cases {
		add(string(id), c.at)
		for name, other := range c.others {
			add(string(id)+": "+name, other)
		}
	}
	storetest.Post(t, store+"/api/v1/import/prometheus", "text/plain", []byte(body.String()))
	storetest.Get(t, store+"/internal/force_flush")
	for _, rule := range rules.All() {
		expression := rule.Found("", rules.LiveWindow)
		require.Equal(t, rule.Query != rules.Query{}, expression != "")
		if expression == "" {
			continue
		}
		t.Run(string(rule.ID), func(t *testing.T) {
			c, has := cases[rule.ID]
			require.True(t, has)
			found := asked(t, store, expression, now)
			require.InDelta(t, c.want, found[string(rule.ID)], 1e-9)
			for name := range c.others {
				require.NotContains(t, found, string(rule.ID)+": "+name)
			}
			scoped := asked(t, store, rule.Found(fmt.Sprintf(`cluster="j-1",spark_app_id=%q`, rule.ID), rules.LiveWindow), now)
			require.Len(t, scoped, 1, "other applications are not in the scope")
			require.Empty(t, asked(t, store, rule.Found(`cluster="j-2"`, rules.LiveWindow), now))
		})
	}
}

// An application that runs for longer than the window is judged by what it did within it.
func TestLiveWithin(t *testing.T) {
	const before, window = 1e5, "1h" // seconds, bytes and tasks
	store, now := storetest.Metrics(t), time.Now()
	var body strings.Builder
	add := func(application string, all samples, grew time.Duration) {
		for series, value := range all {
			name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
			for ago := 90 * time.Minute; ago >= 0; ago -= time.Minute {
				sample := value
				if !strings.HasSuffix(name, "_ratio") && !strings.Contains(labels, `le="`) {
					sample = before
				} else if strings.Contains(labels, `le="`) {
					sample = 0
				}
				if ago <= grew && !strings.HasSuffix(name, "_ratio") {
					sample += value
				}
				fmt.Fprintf(&body, "%s{cluster=\"j-1\",spark_app_id=%q,%s} %v %d\n", name, application, labels, sample, now.Add(-ago).UnixMilli())
			}
		}
	}
	cases := liveCases()
	for id, c := range cases {
		add(string(id), c.at, 30*time.Minute)
		add(string(id)+": earlier", c.at, 70*time.Minute)
	}
	storetest.Post(t, store+"/api/v1/import/prometheus", "text/plain", []byte(body.String()))
	storetest.Get(t, store+"/internal/force_flush")
	for id, c := range cases {
		found := asked(t, store, rules.Get(id).FoundWithin("", window), now)
		require.InDelta(t, c.want, found[string(id)], 1e-6, id)
		require.NotContains(t, found, string(id)+": earlier")
	}
}

// asked returns the answer to an instant query, by application.
func asked(t *testing.T, store, expression string, at time.Time) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, s := range storetest.Ask(t, store, expression, at.Add(time.Second)) {
		require.Equal(t, "j-1", s.Metric["cluster"])
		found[s.Metric["spark_app_id"]] = s.Number
	}
	return found
}

// A wait below the limit is found where it is a large share of the wall clock.
func TestLiveShortWaits(t *testing.T) {
	store, now, rule := storetest.Metrics(t), time.Now(), rules.Get(rules.ResourceWait)
	short := rule.Floor(rules.ShortWait) / 1e3
	var body strings.Builder
	most := short / rule.Floor(rules.WaitShare)
	for application, wall := range map[string]float64{"large": most, "small": most + 1} {
		for name, value := range map[string]float64{"spark_resource_wait_seconds": short, "spark_wall_seconds": wall} {
			fmt.Fprintf(&body, "%s{cluster=\"j-1\",spark_app_id=%q} %v %d\n", name, application, value, now.UnixMilli())
		}
	}
	storetest.Post(t, store+"/api/v1/import/prometheus", "text/plain", []byte(body.String()))
	storetest.Get(t, store+"/internal/force_flush")
	require.Equal(t, map[string]float64{"large": short}, asked(t, store, rule.Found("", rules.LiveWindow), now))
}
