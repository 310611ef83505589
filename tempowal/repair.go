// Package tempowal repairs Tempo's write-ahead log before Tempo replays it.
//
// A write-ahead block is a folder <block>+<tenant>+vParquet4 of numbered Parquet
// pages and a meta.json. Tempo 2.9 rewrites meta.json in place at every flush
// (tempodb/encoding/vparquet4/wal_block.go, Flush), and at startup it deletes a
// block whose meta.json it cannot parse (tempodb/wal/wal.go, RescanBlocks). A
// process that is killed between truncating and writing that file therefore loses
// the whole block, up to platform.TempoMaxBlockDuration of spans. Repair writes such
// a meta.json again.
//
// Tempo also deletes a write-ahead block file by file once its completed block is
// written. If it is killed while doing so, it replays the remaining pages and
// discards the completed block (modules/ingester/ingester.go, replayWal). Repair
// finishes that deletion instead.
package tempowal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// Dir is Tempo's folder for write-ahead blocks. Its completed blocks are in the
// subfolder completedDir.
type Dir string

const completedDir = "blocks"

// superseded is the suffix of a folder that Repair is deleting. Tempo does not take a
// name with a fourth segment for a block.
const superseded = "+superseded"

// Repair restores every missing or corrupt meta.json, for which Tempo would delete
// the block, and deletes blocks whose completed block is intact. It changes nothing
// else, so it may run before every start. Tempo must not be running.
func (d Dir) Repair(log *slog.Logger) error {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list write-ahead blocks: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if b, ok := parseName(d, e.Name()); ok {
			errs = append(errs, b.repair(log.With("block", b.id, "tenant", b.tenant)))
		}
	}
	return errors.Join(errs...)
}

// repair does the work of Repair for one block.
func (b block) repair(log *slog.Logger) error {
	if b.superseded {
		return b.remove(log)
	}
	intact, err := b.hasCompletedBlock()
	if err != nil {
		return fmt.Errorf("read completed block %s: %w", b.id, err)
	}
	if intact {
		return b.remove(log)
	}
	state, err := b.metaState()
	if err != nil {
		return fmt.Errorf("read write-ahead block %s: %w", b.id, err)
	}
	if state == readable {
		return nil
	}
	pages, err := b.pages()
	if err != nil {
		return fmt.Errorf("read write-ahead block %s: %w", b.id, err)
	}
	if len(pages) == 0 {
		return nil // never flushed: Tempo has nothing to replay
	}
	m := b.deriveMeta(pages)
	if err := b.writeMeta(m); err != nil {
		return fmt.Errorf("restore write-ahead block %s: %w", b.id, err)
	}
	log.Warn("restored meta.json of write-ahead block", "was", state, "pages", len(pages), "start", m.StartTime, "end", m.EndTime)
	return nil
}

// remove deletes the block's folder. It renames the folder first, so that a
// half-deleted one is not mistaken for a block.
func (b block) remove(log *slog.Logger) error {
	dir := b.dir
	if !b.superseded {
		dir += superseded
		if err := os.Rename(b.dir, dir); err != nil {
			return fmt.Errorf("rename write-ahead block %s: %w", b.id, err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete write-ahead block %s: %w", b.id, err)
	}
	log.Warn("deleted write-ahead block: its completed block is whole", "folder", filepath.Base(b.dir))
	return nil
}
