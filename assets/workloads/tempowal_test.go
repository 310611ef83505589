package workloadconfig_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// tempoLab has a killed Tempo, which is restarted repeatedly from a snapshot of its
// data folder.
type tempoLab struct {
	*lab
	spans    []string // that were sent
	snapshot string   // copy of the data folder
}

func (l *tempoLab) data() string { return filepath.Join(l.dirs[platform.WorkloadTempo], "data") }

// blocks is the pattern of write-ahead blocks' folders.
func (l *tempoLab) blocks() string { return filepath.Join(l.data(), "wal", "*+*+vParquet4") }

// block returns the folder of the only write-ahead block.
func (l *tempoLab) block() string {
	l.t.Helper()
	found, err := filepath.Glob(l.blocks())
	require.NoError(l.t, err)
	require.Len(l.t, found, 1)
	return found[0]
}

// pagesOf returns a block's pages that are not empty, or those of all blocks of a
// pattern.
func pagesOf(t *testing.T, block string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(block, "0*"))
	require.NoError(t, err)
	return slices.DeleteFunc(all, func(page string) bool {
		info, err := os.Stat(page)
		return err != nil || info.Size() == 0
	})
}

// newKilledTempo starts Tempo, sends it spans until it has written three pages, and
// kills it after it has flushed all of them.
func newKilledTempo(t *testing.T) *tempoLab {
	t.Helper()
	l := &tempoLab{lab: newLab(t)}
	l.startTempo(true)
	l.sendUntilPages(traceID, 3)
	// Each flush with spans writes a page. The first one from here may have begun before
	// the last span arrived; the second one began later.
	const otherTrace = "0af7651916cd43dd8448eb211c80319d"
	l.sendUntilPages(otherTrace, len(pagesOf(t, l.blocks()))+2)
	l.running[platform.WorkloadTempo].kill()
	l.snapshot = filepath.Join(t.TempDir(), "data")
	return l
}

// sendUntilPages sends spans of a trace until the block has that many pages.
func (l *tempoLab) sendUntilPages(trace string, pages int) {
	l.t.Helper()
	n := 0
	require.True(l.t, waitFor(testenv.Arrival, func() bool {
		n++
		now := time.Now().UnixNano()
		status, body := request("POST", fmt.Sprintf("http://tempo:%d/v1/traces", platform.TempoOTLPHTTP), "application/json",
			`{"resourceSpans":[`+resource(`"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%016x","name":"span %04d","kind":1,`+
				`"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]`, trace, n, n, now-1000, now)+`]}`)
		require.Equal(l.t, http.StatusOK, status, body)
		if trace == traceID {
			l.spans = append(l.spans, fmt.Sprintf("span %04d", n))
		}
		return len(pagesOf(l.t, l.blocks())) >= pages
	}))
}

// takeSnapshot copies the data folder, with its times.
func (l *tempoLab) takeSnapshot() { copyFolder(l.t, l.data(), l.snapshot) }

// spansAfterRestart starts Tempo with the snapshot, with or without the repair, and
// counts the spans that it returns.
func (l *tempoLab) spansAfterRestart(withRepair bool) int {
	l.t.Helper()
	copyFolder(l.t, l.snapshot, l.data())
	l.startTempo(withRepair)
	body := eventually(l.t, testenv.Arrival, "GET", "http://tempo:3200/api/traces/"+traceID, func(status int, _ string) bool {
		return status == http.StatusOK || status == http.StatusNotFound
	})
	return countContained(body, l.spans)
}

func TestTempoReplaysBlockWithTruncatedMeta(t *testing.T) {
	l := newKilledTempo(t)
	meta := filepath.Join(l.block(), "meta.json")
	written := readMeta(t, meta)
	require.NoError(t, os.Truncate(meta, 0))
	l.addHalfWrittenPages()
	l.takeSnapshot()

	require.Zero(t, l.spansAfterRestart(false), "Tempo no longer deletes a block without its meta.json: remove the repair")
	l.running[platform.WorkloadTempo].kill()

	require.Equal(t, len(l.spans), l.spansAfterRestart(true))
	require.Empty(t, written.DedicatedColumns, "the repair does not restore them")
	require.Zero(t, written.ReplicationFactor, "the repair does not restore it")

	// The completed block has the restored time range, by which it is found and kept.
	l.waitForObject(platform.PrefixTempo, `^tempo/single-tenant/[0-9a-f-]{36}/meta\.json$`)
	completed := readMeta(t, filepath.Join(l.s3, "tempo", written.Tenant, written.ID, "meta.json"))
	require.Equal(t, []string{written.Version, written.ID, written.Tenant}, []string{completed.Version, completed.ID, completed.Tenant})
	contains := !completed.StartTime.After(written.StartTime) && !completed.EndTime.Before(written.EndTime)
	require.True(t, contains, "the time range of %+v does not contain that of %+v", completed, written)
	require.Less(t, completed.EndTime.Sub(completed.StartTime), time.Hour)
}

// addHalfWrittenPages adds truncated pages to the block, as a kill during a flush
// leaves them.
func (l *tempoLab) addHalfWrittenPages() {
	l.t.Helper()
	page, err := os.ReadFile(pagesOf(l.t, l.block())[0])
	require.NoError(l.t, err)
	lengths := []int{len(page) / 2}
	for n := 1; n <= 16; n++ {
		lengths = append(lengths, n, len(page)-n, 1+rand.IntN(len(page)-1))
	}
	for i, n := range lengths {
		require.NoError(l.t, os.WriteFile(filepath.Join(l.block(), fmt.Sprintf("%010d", 9000+i)), page[:n], 0o600))
	}
	l.t.Logf("half-written pages: %d of %d bytes", lengths, len(page))
}

// If Tempo is killed while it deletes a write-ahead block that it has completed, it
// discards the completed block in favour of the remaining pages.
func TestTempoKeepsCompletedBlockOfHalfDeletedOne(t *testing.T) {
	l := newKilledTempo(t)
	l.takeSnapshot()
	block := filepath.Base(l.block())
	require.Equal(t, len(l.spans), l.spansAfterRestart(true))
	l.waitForObject(platform.PrefixTempo, `^tempo/single-tenant/[0-9a-f-]{36}/meta\.json$`)
	var flags []string // Tempo writes it after the object
	require.True(t, waitFor(testenv.Arrival, func() bool {
		flags, _ = filepath.Glob(filepath.Join(l.data(), "wal", "blocks", "*", "*", "flushed"))
		return len(flags) > 0
	}), "Tempo has not marked the block as flushed")
	l.running[platform.WorkloadTempo].kill()
	require.NoDirExists(t, filepath.Join(l.data(), "wal", block))

	// As it was before the block went to S3, with the last of the pages deleted.
	require.NoError(t, os.RemoveAll(filepath.Join(l.s3, "tempo")))
	require.Len(t, flags, 1)
	require.NoError(t, os.Remove(flags[0]))
	left := filepath.Join(l.data(), "wal", block)
	copyFolder(t, filepath.Join(l.snapshot, "wal", block), left)
	for _, page := range pagesOf(t, left)[1:] {
		require.NoError(t, os.Remove(page))
	}
	l.takeSnapshot()

	require.Less(t, l.spansAfterRestart(false), len(l.spans),
		"Tempo no longer prefers the remaining pages of a write-ahead block: remove this repair")
	l.running[platform.WorkloadTempo].kill()
	require.NoError(t, os.RemoveAll(filepath.Join(l.s3, "tempo")))
	require.Equal(t, len(l.spans), l.spansAfterRestart(true))
}

type blockMeta struct {
	Version           string    `json:"format"`
	ID                string    `json:"blockID"`
	Tenant            string    `json:"tenantID"`
	StartTime         time.Time `json:"startTime"`
	EndTime           time.Time `json:"endTime"`
	DedicatedColumns  []any     `json:"dedicatedColumns"`
	ReplicationFactor int       `json:"replicationFactor"`
}

func readMeta(t *testing.T, path string) blockMeta {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	var m blockMeta
	require.NoError(t, json.Unmarshal(body, &m))
	return m
}
