package phases_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/tests/calibration"
)

var update = flag.Bool("update", false, "record the results and logs of TestSickAndCured in tests/calibration")

// calibrationFolder is the folder of the records.
const calibrationFolder = "../calibration"

// Each job of examples/jobs/sick is slow for the reasons that findings about it name, the first
// one before all others, and is not any more with what these findings advise.
func TestSickAndCured(t *testing.T) {
	testenv.RequireLong(t, "tests/calibration TestRecordedLogs judges the logs of such runs; tests/cloud submits one of the jobs")
	c := startCluster(t)
	for _, p := range calibration.Pairs() {
		t.Run(p.Name, func(t *testing.T) {
			c.testPair(t, p)
		})
	}
}

func (c *cluster) testPair(t *testing.T, p calibration.Pair) {
	sick, live := c.runOf(t, p, "sick", p.Settings)
	claimed, changes := sick.Claimed(p.Rules()...)
	settings := maps.Clone(p.Settings)
	maps.Copy(settings, p.Cure)
	for _, change := range changes {
		property, value, _ := strings.Cut(change, "=")
		settings[property] = value
	}
	result := calibration.Result{
		Pair: p.Name, Date: time.Now().UTC().Format(time.DateOnly), Changes: changes, Claimed: claimed,
		Sick: calibration.RunOf(sick, live),
	}
	require.Subset(t, result.Sick.Fired, p.Rules())
	require.Contains(t, p.Rules(), rules.ID(sick.First().Finding))
	require.NotEmpty(t, live)
	require.Contains(t, p.Rules(), live[0])
	byHand := p.Code != "" || len(p.Cure) > 0
	require.True(t, len(changes) > 0 || byHand, "nothing is advised")
	if len(p.Also) == 0 {
		require.NotEqual(t, len(changes) > 0, byHand, "the finding advises %v", changes)
	}
	result.Cured = calibration.RunOf(c.runOf(t, p, "cured", settings))
	t.Logf("%+v: saved %d ms of %d", result, result.Saved(), result.Claimed)
	for _, id := range p.Rules() {
		require.NotContains(t, result.Cured.Fired, id)
		require.NotContains(t, result.Cured.Live, id, "live")
	}
	if *update {
		require.NoError(t, calibration.Record(calibrationFolder, result))
	}
}

// runOf runs a job of a pair, and judges it by its log; live is what its metrics say.
func (c *cluster) runOf(t *testing.T, p calibration.Pair, name string, settings map[string]string) (
	calibration.Judged, []rules.ID,
) {
	t.Helper()
	j := job{name: p.Name + "-" + name, program: "sick/" + p.Name + ".py", args: []string{c.outputOf(t, p, name)}, conf: maps.Clone(settings)}
	j.conf["spark.executor.extraJavaOptions"] = patientLauncher() // these jobs compute for long enough for C2
	if p.Rounds > 0 {
		j.args = append(j.args, fmt.Sprint(p.Rounds))
	}
	if name == "cured" && p.Code != "" {
		j.args = append(j.args, "--cured")
	}
	release := func() {}
	if p.Rule == rules.ResourceWait {
		release = c.fill(t, j.name)
	}
	if p.WritesToS3() {
		maps.Copy(j.conf, magic())
	}
	r := c.submit(t, j)
	r.wait(t)
	release()
	folder, log := filepath.Split(r.log(t))
	if *update {
		text, err := os.ReadFile(filepath.Join(folder, log))
		require.NoError(t, err)
		require.NoError(t, calibration.Keep(filepath.Join(calibrationFolder, calibration.LogOf(p, name)), text, c.dir))
	}
	judged, err := calibration.Judge(t.Context(), os.DirFS(folder), log)
	require.NoError(t, err)
	t.Logf("%s: %d ms", j.name, *judged.Application.DurationMillis)
	for _, f := range judged.Findings {
		t.Logf("%s: %s", f.Finding, f.Summary)
	}
	return judged, r.requireLive(t, judged)
}

// outputOf returns where a job of a pair writes: some to a store that takes its time for each
// request.
func (c *cluster) outputOf(t *testing.T, p calibration.Pair, name string) string {
	t.Helper()
	if !p.WritesToS3() {
		return "file://" + c.path(p.Name)
	}
	bucket, slow := "slow-"+p.Name+"-"+name, speed{latency: 100 * time.Millisecond}
	if len(p.Also) > 0 { // its writes are one fault of several
		slow = speed{latency: 10 * time.Millisecond}
	}
	require.NoError(t, c.store.bucket(t.Context(), bucket, slow))
	return "s3a://" + bucket + "/out"
}

// fill lets an application hold most of YARN's memory for longer than the rule about waiting
// tolerates, or until it is released. Small executors still find room.
func (c *cluster) fill(t *testing.T, name string) (release func()) {
	t.Helper()
	const leftMB = 3 * containerMB // for the holder's master, and a job's master and executor
	settings := static()
	settings["spark.executor.memory"] = fmt.Sprintf("%dm", yarnMemoryMB-leftMB-overheadMB)
	h := holder{gate: c.path(name + ".gate")}
	h.run = c.submit(t, job{name: name + "-holder", mode: "hold", args: []string{h.gate}, conf: settings})
	h.await(t, "holds", 1)
	const longer = 15 * time.Second
	limit := time.Duration(rules.Get(rules.ResourceWait).Warn) * time.Second
	timer := time.AfterFunc(limit+longer, func() { _ = os.WriteFile(h.gate, nil, 0o644) })
	return func() {
		timer.Stop()
		h.release(t)
	}
}
