package lake_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
)

// compactorVariable is set to the lake's folder in the process that compacts until it is killed.
const compactorVariable = "OBSERVATORY_LAKE_COMPACTOR"

// compactIn compacts the lake of writeReal in a folder.
func compactIn(ctx context.Context, dir string) error {
	l, err := openedIn(dir)
	if err != nil {
		return err
	}
	lease, err := l.Lock(ctx, "test")
	if err != nil {
		return err
	}
	if _, err := l.Compact(ctx, nil); err != nil {
		return err
	}
	return lease.Unlock(ctx)
}

func openedIn(dir string) (*lake.Lake, error) {
	store, err := lake.NewFolder(dir)
	if err != nil {
		return nil, err
	}
	return lake.Open(context.Background(), store, "history/")
}

// A compaction that is killed at any moment and repeated leaves the bytes of one that was not disturbed.
func TestKilledCompactionResumes(t *testing.T) {
	r := seeded(t)
	earlier := t.TempDir()
	require.NoError(t, writeReal(t.Context(), earlier, clusters, true))
	require.NoError(t, compactIn(t.Context(), earlier))
	require.NoError(t, writeReal(t.Context(), earlier, 2*clusters, true)) // late rows
	begin := func() string {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(earlier)))
		return dir
	}
	undisturbed := begin()
	began := time.Now()
	require.NoError(t, startCompactor(t, undisturbed).Wait())
	took := time.Since(began)
	want := files(t, undisturbed)
	require.NotEqual(t, want, files(t, earlier))
	kills, killed, interrupted := testenv.Repeats(4, 20), 0, 0
	for killed < kills || interrupted == 0 && killed < 10*kills { // writing takes milliseconds
		dir := begin()
		compactor := startCompactor(t, dir)
		after := time.Duration(r.Int64N(int64(took)))
		if killed%2 == 0 {
			testenv.Eventually(t, func() bool { return marked(t, dir, want) > 0 }, testenv.Arrival, time.Millisecond)
			after = time.Duration(r.Int64N(int64(5 * time.Millisecond)))
		}
		time.AfterFunc(after, func() { _ = compactor.Process.Kill() })
		if compactor.Wait() == nil {
			continue // it had already ended
		}
		killed++
		if n := marked(t, dir, want); n > 0 && n < marked(t, undisturbed, want) {
			interrupted++
		}
		require.NoError(t, startCompactor(t, dir).Wait())
		require.Equal(t, want, files(t, dir))
	}
	t.Logf("killed %d times within %s, %d times between the first object and the last", killed, took, interrupted)
	require.NotZero(t, interrupted)
}

// marked counts the marks, which follow the objects one by one.
func marked(t *testing.T, dir string, want map[string]string) (n int) {
	t.Helper()
	for name := range want {
		if strings.Contains(name, "/_manifest/compacted/") {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				n++
			}
		}
	}
	return n
}

// Whoever asks during compactions, which are killed again and again, has the same answers each time, of the compacted
// objects and of all others. A day has few objects then.
func TestAnswersDuringCompactions(t *testing.T) {
	r := seeded(t)
	dir := t.TempDir()
	applications := testenv.Repeats(20, 1000)
	require.NoError(t, writeReal(t.Context(), dir, applications, true))
	began := time.Now()
	require.NoError(t, startCompactor(t, dir).Wait())
	took := time.Since(began)
	perTable := map[string]int{}
	for name := range compactedFiles(t, dir) {
		perTable[filepath.Dir(filepath.Dir(name))]++
	}
	require.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(perTable))), 3, perTable)
	want := files(t, dir)

	l, err := openedIn(dir)
	require.NoError(t, err)
	reader := startAsking(t, bothViews(t, l, dir))
	for killed := 0; killed < testenv.Repeats(4, 20); {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "history/_manifest/compacted"))) // as if the days had changed
		reader.next(t)
		compactor := startCompactor(t, dir)
		time.AfterFunc(time.Duration(r.Int64N(int64(took))), func() { _ = compactor.Process.Kill() })
		if compactor.Wait() != nil {
			killed++
		}
		reader.next(t)
		require.NoError(t, startCompactor(t, dir).Wait())
		require.Equal(t, want, files(t, dir))
	}
	rounds := reader.stop(t)
	t.Logf("%d applications, compacted in %s; %d rounds of answers", applications, took, len(rounds))
	for i, of := range rounds {
		require.Equal(t, rounds[0], of, i)
		for question := range len(of) / 2 { // of the compacted objects, as of all others
			require.Equal(t, of[question], of[question+len(of)/2], question)
			require.NotEqual(t, "0", of[question][0], question)
		}
	}
}

// startCompactor runs compactIn in a process of its own.
func startCompactor(t *testing.T, dir string, environment ...string) *exec.Cmd {
	t.Helper()
	return startProcess(t, append(environment, compactorVariable+"="+dir)...)
}

// asking is a process that asks DuckDB the same questions again and again.
type asking struct {
	lines chan string // buffered, so that the process never waits for this one
	ended chan<- struct{}
	all   []string
}

// mostRounds is more than are asked.
const mostRounds = 100_000

// startAsking asks for the number of rows, and for their sum of hashes, of tables of a real application.
func startAsking(t *testing.T, views []string) *asking {
	t.Helper()
	arguments := []string{"testdata/asking.py", inFile(t, strings.Join(views, ";\n"))}
	for _, prefix := range []string{"", "raw_"} {
		for _, table := range []string{"applications", "stages", "tasks"} {
			arguments = append(arguments, fmt.Sprintf("SELECT count(*), sum(hash(r)::HUGEINT) FROM %s%s r", prefix, table))
		}
	}
	cmd := exec.CommandContext(t.Context(), duckPython(t), arguments...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines, ended := make(chan string, mostRounds), make(chan struct{})
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			lines <- in.Text()
		}
		_ = cmd.Wait()
	}()
	go func() {
		<-ended
		_ = stdin.Close()
	}()
	return &asking{lines: lines, ended: ended}
}

// next waits until a round that has begun since has been answered.
func (a *asking) next(t *testing.T) {
	t.Helper()
	for len(a.lines) > 0 {
		a.all = append(a.all, <-a.lines)
	}
	a.wait(t) // it may have begun before
	a.wait(t)
}

func (a *asking) wait(t *testing.T) {
	t.Helper()
	line, more := <-a.lines
	require.True(t, more, "the reader has ended")
	a.all = append(a.all, line)
}

// stop ends the process, and returns the answers of all rounds.
func (a *asking) stop(t *testing.T) (rounds [][][]string) {
	t.Helper()
	close(a.ended)
	for line := range a.lines {
		a.all = append(a.all, line)
	}
	for _, line := range a.all {
		var answers [][]string
		require.NoError(t, json.Unmarshal([]byte(line), &answers))
		rounds = append(rounds, answers)
	}
	return rounds
}
