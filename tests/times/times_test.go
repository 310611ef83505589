package times_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/tests/times"
)

var update = flag.Bool("update", false, "rewrite docs/reference/tests.md")

const repository = "../.."

func TestReference(t *testing.T) {
	folders, err := times.Folders(os.DirFS(repository))
	require.NoError(t, err)
	require.Greater(t, len(folders), 80, "folders with tests")
	for _, f := range folders {
		require.NotEmpty(t, f.Proves, "%s has tests and no package comment that says what they prove", f.Path)
	}
	text, err := os.ReadFile("times.json")
	require.NoError(t, err)
	var recorded times.Times
	require.NoError(t, json.Unmarshal(text, &recorded))
	page, path := times.Reference(folders, recorded), filepath.Join(repository, "docs", "reference", "tests.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page, string(got), "stale: go test ./tests/times -update")
}

// What gotestsum writes of a run with reruns: a test that fails twice, one that fails
// once, a package whose result is cached.
const events = `{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/a"}
{"Time":"2026-01-01T00:00:01Z","Action":"fail","Package":"m/a","Test":"TestOnce","Elapsed":1}
{"Time":"2026-01-01T00:00:01Z","Action":"fail","Package":"m/a","Test":"TestOnce/part","Elapsed":1}
{"Time":"2026-01-01T00:00:01Z","Action":"fail","Package":"m/a","Test":"TestTwice","Elapsed":1}
{"Time":"2026-01-01T00:00:02Z","Action":"pass","Package":"m/a","Test":"TestSound","Elapsed":1}
{"Time":"2026-01-01T00:00:02Z","Action":"fail","Package":"m/a","Elapsed":2}
{"Time":"2026-01-01T00:00:02Z","Action":"output","Package":"m/b","Output":"ok  \tm/b\t(cached)\n"}
{"Time":"2026-01-01T00:00:02Z","Action":"pass","Package":"m/b","Elapsed":0}
{"Time":"2026-01-01T00:00:03Z","Action":"pass","Package":"m/a","Test":"TestOnce","Elapsed":1}
{"Time":"2026-01-01T00:00:03Z","Action":"pass","Package":"m/a","Test":"TestOnce/part","Elapsed":1}
{"Time":"2026-01-01T00:00:03Z","Action":"pass","Package":"m/a","Elapsed":1}
{"Time":"2026-01-01T00:00:04Z","Action":"fail","Package":"m/a","Test":"TestTwice","Elapsed":1}
`

func TestRead(t *testing.T) {
	got, err := times.Read(strings.NewReader(events))
	require.NoError(t, err)
	require.Equal(t, times.Result{Packages: map[string]float64{"m/a": 2}, Flaky: []string{"m/a TestOnce"}, Seconds: 4}, got)
	_, err = times.Read(strings.NewReader("ok"))
	require.ErrorContains(t, err, "read the events of a test run")
}

func TestRecord(t *testing.T) {
	var all times.Times
	all.Record(times.Run{Commit: "1", Packages: map[string]float64{"a": 1, "b": 2}})
	all.Record(times.Run{Commit: "2", Packages: map[string]float64{"a": 3}})
	require.Equal(t, times.Run{Commit: "2", Packages: map[string]float64{"a": 3, "b": 2}}, all.Test, "b was cached")
	for _, run := range []times.Run{{Commit: "3", Part: "./b"}, {Commit: "4", Part: "./a"}, {Commit: "5", Part: "./b"}} {
		all.Record(run)
	}
	require.Equal(t, []times.Run{{Commit: "4", Part: "./a"}, {Commit: "5", Part: "./b"}}, all.Long)
}
