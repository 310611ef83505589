package lake_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// writerVariable is set to the lake's folder in the process that writes until it is killed.
const writerVariable = "OBSERVATORY_LAKE_WRITER"

func TestMain(m *testing.M) {
	for variable, do := range map[string]func(context.Context, string) error{
		writerVariable:    func(ctx context.Context, dir string) error { return writeReal(ctx, dir, clusters, true) },
		compactorVariable: compactIn,
	} {
		if dir := os.Getenv(variable); dir != "" {
			if err := do(context.Background(), dir); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// clusters is the number of clusters on which the application seems to have run.
const clusters = 4

// writeReal writes the rows of a real log as if its application had run on each of the
// clusters, unless the lake has them. An attempt that is not final has no tasks.
func writeReal(ctx context.Context, dir string, clusters int, final bool) error {
	store, err := lake.NewFolder(dir)
	if err != nil {
		return err
	}
	l, err := lake.Open(ctx, store, "history/")
	if err != nil {
		return err
	}
	lease, err := l.Lock(ctx, "test")
	if err != nil {
		return err
	}
	for i := range clusters {
		log, err := eventlog.Open(os.DirFS(".."), "fold/testdata/app-20261124083856-0000.zstd")
		if err != nil {
			return err
		}
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: fmt.Sprintf("j-%d", i)}, ApplicationID: "app-20261124083856-0000"}
		if isCurrent(l, id, "v1") {
			continue
		}
		b, err := l.Begin(id, start)
		if err != nil {
			return err
		}
		if _, err := fold.Log(ctx, log, id.Cluster, fold.Options{Tasks: final}, b); err != nil {
			return err
		}
		if _, err := b.Commit(ctx, final, "v1"); err != nil {
			return err
		}
	}
	return errors.Join(lease.Unlock(ctx), store.Close())
}

// A writer that is killed at any moment and restarted leaves the bytes of one that was not
// disturbed. Every other kill waits for a commit.
func TestKilledWriterResumes(t *testing.T) {
	kills := testenv.Repeats(6, 20)
	r := seeded(t)
	// The lake that every writer finds: half of the attempts, not yet final.
	earlier := t.TempDir()
	require.NoError(t, writeReal(t.Context(), earlier, clusters/2, false))
	begin := func() string {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(earlier)))
		return dir
	}
	undisturbed := begin()
	began := time.Now()
	require.NoError(t, startWriter(t, undisturbed).Wait())
	took := time.Since(began)
	want := files(t, undisturbed)
	killed, interrupted := 0, 0
	for killed < kills || interrupted == 0 && killed < 10*kills { // a commit takes milliseconds
		dir := begin()
		writer := startWriter(t, dir)
		after := time.Duration(r.Int64N(int64(took)))
		if killed%2 == 0 {
			testenv.Eventually(t, func() bool { return unfinished(t, dir) > 0 }, testenv.Arrival, time.Millisecond)
			after = time.Duration(r.Int64N(int64(time.Millisecond / 2)))
		}
		time.AfterFunc(after, func() { _ = writer.Process.Kill() })
		if writer.Wait() == nil {
			continue // it had already ended
		}
		killed++
		if unfinished(t, dir) > 0 {
			interrupted++
		}
		require.NoError(t, startWriter(t, dir).Wait())
		require.Equal(t, want, files(t, dir))
	}
	t.Logf("killed %d times within %s, %d times during a commit", killed, took, interrupted)
	require.NotZero(t, interrupted)
	require.NoError(t, startWriter(t, undisturbed).Wait())
	require.Equal(t, want, files(t, undisturbed), "a second run writes nothing")
}

// startWriter runs writeReal in a process of its own.
func startWriter(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	return startProcess(t, writerVariable+"="+dir)
}

// startProcess runs this program with these variables besides its own.
func startProcess(t *testing.T, variables ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variables...)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	return cmd
}

// unfinished counts the manifests of unfinished commits.
func unfinished(t *testing.T, dir string) (n int) {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(dir, "history/_manifest/*/*.json"))
	require.NoError(t, err)
	for _, name := range manifests {
		if strings.Contains(read(t, name), `"writing": true`) {
			n++
		}
	}
	return n
}
