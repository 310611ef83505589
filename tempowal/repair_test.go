package tempowal_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/tempowal"
)

const (
	id     = "0f8fad5b-d9cb-469f-a165-70867728950e"
	tenant = "single-tenant"
	block  = id + "+" + tenant + "+vParquet4"
)

// tempoMeta is a meta.json as Tempo 2.9 wrote it.
const tempoMeta = `{"format":"vParquet4","blockID":"` + id + `","tenantID":"` + tenant + `",` +
	`"startTime":"2026-01-02T03:04:05Z","endTime":"2026-01-02T03:04:25Z",` +
	`"totalObjects":11,"compactionLevel":0,"encoding":"none","indexPageSize":0,"totalRecords":0,` +
	`"dataEncoding":"","bloomShards":0,"footerSize":0}`

// firstPageTime returns the modification time of the first page; each further page
// is 2 s younger.
func firstPageTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 10, 0, time.UTC) }

// folder is Tempo's folder for write-ahead blocks, with one block.
type folder struct {
	*testing.T
	dir string
	log bytes.Buffer
}

func newFolder(t *testing.T) *folder { return &folder{T: t, dir: t.TempDir()} }

func (f *folder) put(name, body string) {
	f.Helper()
	path := filepath.Join(f.dir, name)
	require.NoError(f, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(f, os.WriteFile(path, []byte(body), 0o600))
}

// putPages writes n flushed pages of the block and an open one.
func (f *folder) putPages(n int) {
	f.Helper()
	for i := range n {
		name := fmt.Sprintf("%s/%010d", block, i+1)
		f.put(name, fmt.Sprintf("PAR1 page %d", i+1))
		at := firstPageTime().Add(time.Duration(i) * 2 * time.Second)
		require.NoError(f, os.Chtimes(filepath.Join(f.dir, name), at, at))
	}
	f.put(fmt.Sprintf("%s/%010d", block, n+1), "")
}

// putCompletedBlock writes the block's completed block, changed by damage.
func (f *folder) putCompletedBlock(damage func(files map[string]string)) {
	f.Helper()
	body := binary.LittleEndian.AppendUint32([]byte("PAR1 spans and metadata"), 8)
	files := map[string]string{"data.parquet": string(body) + "PAR1"}
	files["meta.json"] = fmt.Sprintf(`{"format":"vParquet4","blockID":"%s","tenantID":"%s","size":%d,"footerSize":8}`,
		id, tenant, len(files["data.parquet"]))
	if damage != nil {
		damage(files)
	}
	for name, body := range files {
		f.put(filepath.Join("blocks", tenant, id, name), body)
	}
}

// repair runs Repair and keeps its log.
func (f *folder) repair() {
	f.Helper()
	f.log.Reset()
	require.NoError(f, tempowal.Dir(f.dir).Repair(slog.New(slog.NewJSONHandler(&f.log, nil))))
}

// tree returns the content of every file by path; a folder has the content "folder".
func (f *folder) tree() map[string]string {
	f.Helper()
	files := map[string]string{}
	require.NoError(f, filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			files[path] = "folder"
			return err
		}
		body, err := os.ReadFile(path)
		files[path] = string(body)
		return err
	}))
	return files
}

// requireRestored checks the block's meta.json and the log, and that nothing else has
// changed since before.
func (f *folder) requireRestored(before map[string]string, state string, pages int) {
	f.Helper()
	path := filepath.Join(f.dir, block, "meta.json")
	after := f.tree()
	require.JSONEq(f, `{"format":"vParquet4","blockID":"`+id+`","tenantID":"`+tenant+`",`+
		`"startTime":"`+firstPageTime().Add(-17*time.Minute).Format(time.RFC3339)+`",`+
		`"endTime":"`+firstPageTime().Add(time.Duration(pages-1)*2*time.Second+2*time.Minute+time.Second).Format(time.RFC3339)+`"}`, after[path])
	delete(after, path)
	delete(before, path)
	require.Equal(f, before, after)
	var line map[string]any
	require.NoError(f, json.Unmarshal(f.log.Bytes(), &line), "one line a block: %s", f.log.String())
	require.Equal(f, []any{id, tenant, state, float64(pages)}, []any{line["block"], line["tenant"], line["was"], line["pages"]})
	f.requireUnchanged()
}

// requireUnchanged checks that a repair changes nothing.
func (f *folder) requireUnchanged() {
	f.Helper()
	before := f.tree()
	f.repair()
	require.Equal(f, before, f.tree())
	require.Empty(f, f.log.String())
}

func TestRestoresMetaTruncatedAnywhere(t *testing.T) {
	f := newFolder(t)
	f.putPages(3)
	for length := range len(tempoMeta) {
		f.put(block+"/meta.json", tempoMeta[:length])
		before := f.tree()
		f.repair()
		state := "unreadable"
		if length == 0 {
			state = "empty"
		}
		f.requireRestored(before, state, 3)
	}
	f.put(block+"/meta.json", tempoMeta)
	f.requireUnchanged()
}

func TestRestoresMissingMeta(t *testing.T) {
	f := newFolder(t)
	f.putPages(1)
	before := f.tree()
	f.repair()
	f.requireRestored(before, "missing", 1)
}

func TestRestoresGarbageAndForeignMeta(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	bodies := []string{"null", "{}", "[]", `""`, strings.Repeat("\x00", len(tempoMeta)), tempoMeta + "}",
		strings.Replace(tempoMeta, id, "11111111-d9cb-469f-a165-70867728950e", 1), strings.Replace(tempoMeta, tenant, "another", 1)}
	for range 200 {
		body := make([]byte, 1+r.IntN(500))
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		bodies = append(bodies, string(body))
	}
	f := newFolder(t)
	f.putPages(2)
	for _, body := range bodies {
		f.put(block+"/meta.json", body)
		before := f.tree()
		f.repair()
		f.requireRestored(before, "unreadable", 2)
		if t.Failed() {
			t.Fatalf("seed %d, meta.json %q", seed, body)
		}
	}
}

// A block that was never flushed has nothing to replay.
func TestLeavesBlocksWithoutPagesAlone(t *testing.T) {
	f := newFolder(t)
	f.putPages(0)
	f.requireUnchanged()
	f.put(block+"/meta.json", "")
	f.requireUnchanged()
}

func TestLeavesOtherEntriesAlone(t *testing.T) {
	f := newFolder(t)
	for _, name := range []string{
		id, id + "+" + tenant, id + "++vParquet4", id + "+" + tenant + "+v2", block + "+more", "x" + block, "lost+found+vParquet4",
		"blocks/" + tenant + "/" + id, "blocks/" + block, strings.ToUpper(id) + "+" + tenant + "+vParquet4",
	} {
		f.put(name+"/0000000001", "PAR1 page")
		f.put(name+"/meta.json", "")
	}
	f.put(strings.Replace(block, "0f8", "1f8", 1), "a file")
	f.requireUnchanged()
}

func TestMissingFolderIsNoError(t *testing.T) {
	require.NoError(t, tempowal.Dir(filepath.Join(t.TempDir(), "wal")).Repair(slog.New(slog.DiscardHandler)))
}

// Tempo deletes a write-ahead block only once its completed block has been
// written, and replays the write-ahead log first.
func TestDeletesWALBlockThatIsAlreadyCompleted(t *testing.T) {
	for name, body := range map[string]string{"intact": tempoMeta, "meta.json empty": ""} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.putCompletedBlock(nil)
			want := f.tree()
			f.putPages(2)
			f.put(block+"/meta.json", body)
			f.repair()
			require.Equal(t, want, f.tree())
			require.Contains(t, f.log.String(), `"block":"`+id+`"`)
			f.requireUnchanged()
		})
	}
	t.Run("half deleted", func(t *testing.T) {
		f := newFolder(t)
		want := f.tree()
		f.put(block+"+superseded/0000000002", "PAR1 page 2")
		f.repair()
		require.Equal(t, want, f.tree())
	})
}

func TestKeepsBlockWhoseCompletedBlockIsBroken(t *testing.T) {
	for name, damage := range map[string]func(files map[string]string){
		"no meta.json":        func(files map[string]string) { delete(files, "meta.json") },
		"empty meta.json":     func(files map[string]string) { files["meta.json"] = "" },
		"truncated meta.json": func(files map[string]string) { files["meta.json"] = files["meta.json"][:20] },
		"no data":             func(files map[string]string) { delete(files, "data.parquet") },
		"truncated data":      func(files map[string]string) { files["data.parquet"] = files["data.parquet"][:30] },
		"other data":          func(files map[string]string) { files["data.parquet"] = strings.Repeat("x", len(files["data.parquet"])) },
		"another's meta.json": func(files map[string]string) { files["meta.json"] = strings.Replace(files["meta.json"], id, "x", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.putCompletedBlock(damage)
			f.putPages(2)
			f.put(block+"/meta.json", tempoMeta)
			f.requireUnchanged()
			f.put(block+"/meta.json", "")
			before := f.tree()
			f.repair()
			f.requireRestored(before, "empty", 2)
		})
	}
}

// A killed repair leaves its temporary file, which is neither a block nor a page.
func TestRepairsAfterKilledRepair(t *testing.T) {
	f := newFolder(t)
	f.putPages(2)
	f.put(block+"/meta.json", "")
	before := f.tree()
	f.put("meta.json.tmp", "{")
	f.repair()
	f.requireRestored(before, "empty", 2)
}

func TestReportsWhatItCannotRepair(t *testing.T) {
	f := newFolder(t)
	f.putPages(1)
	require.NoError(t, os.Mkdir(filepath.Join(f.dir, block, "meta.json"), 0o700))
	err := tempowal.Dir(f.dir).Repair(slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "read write-ahead block "+id)
}
