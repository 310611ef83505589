package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// The history server compacts a real log. What it dropped is counted, and what is left gives
// the same rows as before.
func TestLogThatTheServerCompacted(t *testing.T) {
	r, err := theRun()
	require.NoError(t, err)
	before := fromLogs(t, r.events)
	events := t.TempDir()
	log := r.roll(t, "history mixed", events)
	s, err := r.serve(events, "spark.history.fs.eventLog.rolling.maxFilesToRetain=1",
		"spark.history.fs.eventLog.rolling.compaction.score.threshold=0.0")
	require.NoError(t, err)
	require.Equal(t, events, s.events)
	err = testenv.Poll(t.Context(), serverTimeout, 0, func(context.Context) error {
		files, err := filepath.Glob(filepath.Join(events, log, "*.compact"))
		if err == nil && len(files) == 0 {
			err = errors.New("the server has not compacted the log")
		}
		return err
	})
	require.NoError(t, err)

	opened, err := eventlog.Open(os.DirFS(events), log)
	require.NoError(t, err)
	require.True(t, opened.Compacted)
	left := newSink()
	summary, err := fold.Log(t.Context(), opened, cluster, fold.Options{Tasks: true}, left)
	require.NoError(t, err)
	all := before[summary.Application.ApplicationID+"/"+summary.Application.AttemptID]
	require.NotNil(t, all)
	dropped := map[string]int64{}
	for _, c := range summary.Completeness {
		if c.Missing == nil || *c.Missing == 0 {
			continue
		}
		require.Equal(t, string(fold.Compaction), c.Reason, "%+v", c)
		require.EqualValues(t, all.counts[tables.Name(c.Endpoint)]-left.counts[tables.Name(c.Endpoint)], *c.Missing, "%+v", c)
		dropped[c.Endpoint] = *c.Missing
	}
	t.Logf("dropped, and counted: %v", dropped)
	for _, endpoint := range []string{fold.Jobs, fold.Stages, fold.Tasks} {
		require.Positive(t, dropped[endpoint], endpoint)
		for key, row := range left.rows[tables.Name(endpoint)] {
			require.Equal(t, all.rows[tables.Name(endpoint)][key], row, "%s %s", endpoint, key)
		}
	}
}

// roll writes the log of an application in a single file as one of rolled files, and returns
// its name.
func (r *run) roll(t *testing.T, application, folder string) (name string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(r.events, "app-*"))
	require.NoError(t, err)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		if !bytes.Contains(text, []byte(`"App Name":"`+application+`"`)) {
			continue
		}
		id := filepath.Base(log)
		name = "eventlog_v2_" + id
		write := func(file string, text []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name, file), text, 0o644))
		}
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o755))
		write("appstatus_"+id, nil)
		lines := bytes.SplitAfter(text, []byte("\n"))
		const files = 4
		for i := range files {
			write(fmt.Sprintf("events_%d_%s", i+1, id), bytes.Join(lines[i*len(lines)/files:(i+1)*len(lines)/files], nil))
		}
		return name
	}
	require.Failf(t, "no log", "of %s in %s", application, r.events)
	return ""
}
