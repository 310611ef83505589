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
