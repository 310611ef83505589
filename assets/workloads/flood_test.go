package workloadconfig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// A flood is what one cluster sends: more than the limits of the test, a part of which is stored.
const (
	floodSeries   = 100_000
	floodLines    = 200_000
	floodLineSize = 1000
	floodSpans    = 50_000
	floodProfiles = 1000

	floodBatch = 1000 // items of a request
)

// peakMiB is the most memory that a server has had.
func peakMiB(t *testing.T, s *server) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, found, string(status))
	kib, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kib >> 10
}

// overLimit returns what the relay has refused of a cluster's signal.
func overLimit(t *testing.T, cluster, signal string) int {
	t.Helper()
	_, body := request("GET", fmt.Sprintf("http://redelivery:%d/metrics", platform.Redelivery), "", "")
	line := fmt.Sprintf(`%s\{signal=%q,cluster=%q\} (\d+)`, platform.MetricOverLimit, signal, cluster)
	found := regexp.MustCompile(line).FindStringSubmatch(body)
	if found == nil {
		return 0
	}
	count, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return count
}

// linesWith counts the lines with some words in VictoriaLogs; 0 without an answer.
func linesWith(words string) int {
	query := url.QueryEscape(fmt.Sprintf(`_msg:%q | stats count() n`, words))
	_, body := request("GET", fmt.Sprintf("http://victoria-logs:%d/select/logsql/query?query=%s", platform.VictoriaLogs, query), "", "")
	var answer struct{ N string }
	if json.Unmarshal([]byte(body), &answer) != nil {
		return 0
	}
	count, _ := strconv.Atoi(answer.N)
	return count
}

// seriesOf counts the series of a name in VictoriaMetrics, which shows them only once they are flushed;
// 0 without an answer.
func seriesOf(name string) int {
	_, _ = request("GET", fmt.Sprintf("http://victoria-metrics:%d/internal/force_flush", platform.VictoriaMetrics), "", "")
	query := url.QueryEscape("count(last_over_time(" + name + "[1h]))")
	target := fmt.Sprintf("http://victoria-metrics:%d/api/v1/query?latency_offset=1ms&nocache=1&query=%s", platform.VictoriaMetrics, query)
	_, body := request("GET", target, "", "")
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if json.Unmarshal([]byte(body), &answer) != nil || len(answer.Data.Result) == 0 {
		return 0
	}
	count, _ := strconv.Atoi(fmt.Sprint(answer.Data.Result[0].Value[1]))
	return count
}

// receivedSpans is how many spans Tempo has taken.
func receivedSpans(t *testing.T) int {
	t.Helper()
	_, body := request("GET", fmt.Sprintf("http://tempo:%d/metrics", platform.Tempo), "", "")
	total := 0
	for _, found := range regexp.MustCompile(`(?m)^tempo_distributor_spans_received_total\{[^}]*\} (\S+)$`).FindAllStringSubmatch(body, -1) {
		count, err := strconv.ParseFloat(found[1], 64)
		require.NoError(t, err)
		total += int(count)
	}
	return total
}

// One cluster floods, under the name of another one, which loses nothing and waits no longer; what the
// flood loses is counted, one by one.
func TestAFloodCostsNobodyElse(t *testing.T) {
	part := 10 // of a flood
	if testenv.Long() {
		part = 1
	}
	limits := schema.Limits{
		SeriesPerHour: floodSeries / part / 4, LogMiBPerHour: floodLines / part * floodLineSize / 4 >> 20,
		SpansPerHour: floodSpans / part / 4, ProfilesPerHour: floodProfiles / part / 4,
	}
	l := newLab(t)
	for _, w := range []platform.Workload{
		platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadTempo, platform.WorkloadPyroscope,
	} {
		l.start(w)
	}
	with := settings()
	with.Limits = limits
	l.startWith(platform.WorkloadRedelivery, configOf(t, platform.WorkloadRedelivery, with))
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadRecord(t, w).ReadyURL())
	}
	status, body := request("POST", fmt.Sprintf("http://redelivery:%d%s", platform.Redelivery, platform.SendersPath), "application/json",
		`{"127.0.0.11": "j-FLOOD", "127.0.0.12": "j-QUIET"}`)
	require.Equal(t, http.StatusOK, status, body)
	flood, quiet := newSender(t, "127.0.0.11", "flood"), newSender(t, "127.0.0.12", "quiet")

	began := time.Now()
	before, err := quiet.round(0)
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	rounds, delays := 1, make(chan time.Duration, 1)
	go func() { // what the quiet one waits for at most, as long as the flood lasts
		most := time.Duration(0)
		for ; ctx.Err() == nil; rounds++ {
			delay, err := quiet.round(rounds)
			assert.NoError(t, err)
			most = max(most, delay)
		}
		delays <- most
	}()
	for i := 0; i < floodSeries/part; i += floodBatch {
		require.NoError(t, flood.sendSeries("flood", i, i+floodBatch))
	}
	for i := 0; i < floodLines/part; i += floodBatch {
		require.NoError(t, flood.sendLines(i, i+floodBatch, floodLineSize))
	}
	for i := 0; i < floodSpans/part; i += floodBatch {
		require.NoError(t, flood.sendSpans(1, i, i+floodBatch))
	}
	stored := 0
	for i := range floodProfiles / part {
		status, err := flood.sendProfile(i)
		require.NoError(t, err)
		if status == http.StatusOK {
			stored++
		} else {
			require.Equal(t, http.StatusForbidden, status)
		}
	}
	end()
	during := <-delays
	t.Logf("the quiet cluster's data was there after %s before the flood and at most %s during it", before, during)
	require.Less(t, during-before, testenv.Limit(10*time.Second).Scaled())

	peak := peakMiB(t, l.running[platform.WorkloadRedelivery])
	t.Logf("the relay needed %d MiB", peak)
	require.Less(t, peak, workloadRecord(t, platform.WorkloadRedelivery).MemoryMiB)
	require.Equal(t, floodProfiles/part, stored+overLimit(t, "j-FLOOD", platform.SignalProfiles))
	share := float64(limits.ProfilesPerHour)
	require.GreaterOrEqual(t, stored, limits.ProfilesPerHour)
	require.LessOrEqual(t, float64(stored), share+share*time.Since(began).Hours()+1, "and what the time has added")
	requireCount := func(what string, sent int, stored func() int, signal string) {
		t.Helper()
		require.True(t, waitFor(testenv.Arrival, func() bool { return stored()+overLimit(t, "j-FLOOD", signal) == sent }),
			"%s: %d sent, %d stored, %d refused", what, sent, stored(), overLimit(t, "j-FLOOD", signal))
		require.Positive(t, overLimit(t, "j-FLOOD", signal))
		require.Positive(t, stored())
	}
	requireCount("series", floodSeries/part, func() int { return seriesOf("flood") }, platform.SignalMetrics)
	requireCount("log records", floodLines/part, func() int { return linesWith("flood line") }, platform.SignalLogs)
	requireCount("spans", floodSpans/part+rounds, func() int { return receivedSpans(t) }, platform.SignalTraces)
	require.Equal(t, rounds, seriesOf("quiet"))
	require.Equal(t, rounds, linesWith("quiet line"))
	for _, signal := range []string{platform.SignalMetrics, platform.SignalLogs, platform.SignalTraces, platform.SignalProfiles} {
		require.Zero(t, overLimit(t, "j-QUIET", signal), signal)
	}
}
