package tempowal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	metaFile = "meta.json"
	dataFile = "data.parquet" // of a completed block
	tempFile = metaFile + ".tmp"
)

// block is a write-ahead block, as its folder's name describes it.
type block struct {
	root                Dir
	dir                 string // the block's folder
	id, tenant, version string
	superseded          bool // Repair is deleting it
}

// meta is what Tempo needs of a block's meta.json (backend.BlockMeta). It counts
// the rest from the pages, or sets it when it completes the block.
type meta struct {
	Version    string    `json:"format"`
	ID         string    `json:"blockID"`
	Tenant     string    `json:"tenantID"`
	StartTime  time.Time `json:"startTime"`
	EndTime    time.Time `json:"endTime"`
	Size       int64     `json:"size,omitempty"`
	FooterSize uint32    `json:"footerSize,omitempty"`
}

// parseName parses the name of a block's folder. It accepts only vParquet versions:
// others have no meta.json.
func parseName(root Dir, name string) (block, bool) {
	name, isSuperseded := strings.CutSuffix(name, superseded)
	m := regexp.MustCompile(`^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\+([^+/]+)\+(vParquet[^+/]+)$`).FindStringSubmatch(name)
	if m == nil {
		return block{}, false
	}
	dir := filepath.Join(string(root), name)
	if isSuperseded {
		dir += superseded
	}
	return block{root: root, dir: dir, id: m[1], tenant: m[2], version: m[3], superseded: isSuperseded}, true
}

// metaState is the state of a block's meta.json.
type metaState string

const (
	readable   metaState = "readable"
	missing    metaState = "missing"
	empty      metaState = "empty"
	unreadable metaState = "unreadable"
)

func (b block) metaState() (metaState, error) {
	body, err := os.ReadFile(filepath.Join(b.dir, metaFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing, nil
	case err != nil:
		return "", err
	case len(body) == 0:
		return empty, nil
	}
	if m, ok := parseMeta(body); ok && m.ID == b.id && m.Tenant == b.tenant {
		return readable, nil
	}
	return unreadable, nil
}

func parseMeta(body []byte) (meta, bool) {
	var m meta
	err := json.Unmarshal(body, &m)
	return m, err == nil
}

// pages returns the block's files that contain spans. It leaves out empty ones, which
// Tempo has opened but not flushed and ignores too. Tempo also skips a page whose end
// is missing.
func (b block) pages() ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, err
	}
	var pages []fs.FileInfo
	for _, e := range entries {
		if e.Name() == metaFile || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() > 0 {
			pages = append(pages, info)
		}
	}
	return pages, nil
}

// deriveMeta derives a block's meta.json from its name and its pages' modification
// times. Tempo searches and keeps a block by its time range. The derived range
// contains the true one, since a block receives spans for
// platform.TempoMaxBlockDuration.
func (b block) deriveMeta(pages []fs.FileInfo) meta {
	first, last := pages[0].ModTime(), pages[0].ModTime()
	for _, p := range pages {
		if t := p.ModTime(); t.Before(first) {
			first = t
		} else if t.After(last) {
			last = t
		}
	}
	return meta{
		Version: b.version, ID: b.id, Tenant: b.tenant,
		StartTime: first.Add(-platform.TempoMaxBlockDuration - platform.TempoIngestionSlack).Truncate(time.Second).UTC(),
		EndTime:   last.Add(platform.TempoIngestionSlack + time.Second).Truncate(time.Second).UTC(),
	}
}

// writeMeta replaces meta.json. The new file is written outside the block's
// folder, where Tempo would take it for a page.
func (b block) writeMeta(m meta) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	temp := filepath.Join(string(b.root), tempFile)
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(b.dir, metaFile))
}

// hasCompletedBlock reports whether the block's completed block exists and is intact.
// Tempo writes its meta.json last. The checks are those of Tempo's Validate.
func (b block) hasCompletedBlock() (bool, error) {
	dir := filepath.Join(string(b.root), completedDir, b.tenant, b.id)
	body, err := os.ReadFile(filepath.Join(dir, metaFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m, ok := parseMeta(body)
	if !ok || m.ID != b.id || m.Tenant != b.tenant || m.Size < footerLength {
		return false, nil
	}
	return isComplete(filepath.Join(dir, dataFile), m)
}

// footerLength is the end of a Parquet file: the size of its metadata, and the
// magic number.
const footerLength = 8

// isComplete reports whether a Parquet file has the size that m records, and ends with a
// footer of the recorded size and the magic number. A missing file is not complete.
func isComplete(path string, m meta) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() != m.Size {
		return false, err
	}
	var end [footerLength]byte
	if _, err := f.ReadAt(end[:], m.Size-footerLength); err != nil {
		return false, err
	}
	return string(end[4:]) == "PAR1" && binary.LittleEndian.Uint32(end[:4]) == m.FooterSize, nil
}
