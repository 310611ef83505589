package lake

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Batch collects all rows of an attempt or a cluster; it is a tables.Sink. Nothing reaches
// the lake before Commit. It is for one goroutine, and ends with Commit or Discard.
type Batch struct {
	lake     *Lake
	key      string // of the manifest
	name     string
	scope    tables.Scope
	manifest manifest
	retries  int
	writers  map[tables.Name]tableWriter
	failed   error
	ended    bool
}

// Written says what a commit did.
type Written struct {
	Objects int   // written; 0 if the lake already held the same rows
	Removed int   // objects of tables that no longer have rows
	Bytes   int64 // of the objects written
	Rows    map[tables.Name]int64
	Final   bool // the source will never have more
}

// Put copies a row. After an error the batch can only be discarded.
func (b *Batch) Put(row tables.Row) error {
	if b.failed == nil {
		b.failed = b.put(row)
	}
	return b.failed
}

func (b *Batch) put(row tables.Row) error {
	name := tables.Table(row)
	writer := b.writers[name]
	if writer == nil {
		d, known := tables.Find(name)
		if !known || d.Scope != b.scope {
			return fmt.Errorf("a row of table %s does not belong to %s", name, b.name)
		}
		writer = writers[name](d, !d.OptIn)
		b.writers[name] = writer
	}
	return writer.put(row)
}

// Retry makes Commit treat a final attempt as not final, so that it is read again although
// its fingerprint is the same. After so many such commits with the same fingerprint it has
// no effect.
func (b *Batch) Retry(commits int) { b.retries = commits }

// Describe records the source of an attempt's rows, and whether some could not be read.
func (b *Batch) Describe(source tables.Source, unread bool) {
	b.manifest.Source, b.manifest.Unread = source, unread
}

// Discard ends the batch and writes nothing. After Commit it does nothing.
func (b *Batch) Discard() {
	if b.ended {
		return
	}
	b.ended = true
	for _, writer := range b.writers {
		writer.close()
	}
	b.lake.end(b.key)
}

// Commit writes the objects that differ from those in the lake, removes those of tables
// that no longer have rows, and ends the batch. final means that the source will never have
// more, unless Retry was called; Current compares the fingerprint. The lake must be locked.
func (b *Batch) Commit(ctx context.Context, final bool, fingerprint string) (Written, error) {
	if b.ended {
		return Written{}, fmt.Errorf("write %s: the batch has ended", b.name)
	}
	defer b.Discard()
	b.manifest.Final, b.manifest.Fingerprint = final, fingerprint
	files, err := b.finish()
	defer func() {
		for _, file := range files {
			file.close()
		}
	}()
	if err != nil {
		return Written{}, fmt.Errorf("write %s: %w", b.name, err)
	}
	written, err := b.commit(ctx, files)
	if err != nil {
		return written, fmt.Errorf("write %s: %w", b.name, err)
	}
	return written, nil
}

// finish completes the files and records them in the manifest.
func (b *Batch) finish() (map[tables.Name]*spool, error) {
	if b.failed != nil {
		return nil, b.failed
	}
	files := map[tables.Name]*spool{}
	b.manifest.Objects = map[tables.Name]object{}
	for name, writer := range b.writers {
		file, rows, err := writer.finish()
		if err != nil {
			return files, err
		}
		files[name] = file
		b.manifest.Objects[name] = object{Key: objectKey(name, b.manifest.Day, b.name), SHA256: file.sum(), Rows: rows, Bytes: file.size}
	}
	return files, nil
}

func (b *Batch) commit(ctx context.Context, files map[tables.Name]*spool) (Written, error) {
	written := Written{Rows: map[tables.Name]int64{}}
	for name, o := range b.manifest.Objects {
		written.Rows[name] = o.Rows
	}
	before, err := readManifest(ctx, b.lake.store, b.lake.prefix+b.key)
	if err != nil {
		return written, err
	}
	b.countTry(before)
	b.manifest.keepFindings(before)
	written.Final = b.manifest.Final
	changed, stale := b.manifest.differences(before)
	if len(changed)+len(stale) > 0 {
		if b.scope == tables.OfAttempt {
			if err := b.lake.setUnjudged(ctx); err != nil {
				return written, err
			}
		}
		intent := b.manifest
		intent.Writing, intent.Stale = true, stale
		if err := b.lake.writeManifest(ctx, b.key, &intent); err != nil {
			return written, err
		}
	} else if before != nil && reflect.DeepEqual(*before, b.manifest) {
		return written, nil
	}
	for _, name := range changed {
		o := b.manifest.Objects[name]
		if err := b.lake.putRows(ctx, o.Key, files[name].content()); err != nil {
			return written, err
		}
		written.Objects++
		written.Bytes += o.Bytes
	}
	for _, key := range stale {
		if err := b.lake.removeRows(ctx, key); err != nil {
			return written, err
		}
		written.Removed++
	}
	return written, b.lake.writeManifest(ctx, b.key, &b.manifest)
}

// countTry applies Retry.
func (b *Batch) countTry(before *manifest) {
	m := &b.manifest
	if b.retries > 0 && before != nil && before.Fingerprint == m.Fingerprint {
		m.Tries = before.Tries
	}
	if m.Final && m.Tries < b.retries {
		m.Tries++
		m.Final = false
	}
}

// differences lists the tables whose objects must be written, applications last, and the
// keys to remove. After an interrupted commit the objects are unknown, so all are written.
func (m *manifest) differences(before *manifest) (changed []tables.Name, stale []string) {
	before = cmp.Or(before, &manifest{})
	keep := map[string]bool{}
	for name, o := range m.Objects {
		keep[o.Key] = true
		if before.Writing || before.Objects[name] != o {
			changed = append(changed, name)
		}
	}
	for _, key := range before.Stale {
		if !keep[key] {
			stale = append(stale, key)
		}
	}
	for _, o := range before.Objects {
		if !keep[o.Key] {
			stale = append(stale, o.Key)
		}
	}
	slices.Sort(changed)
	// A join with applications shows no rows of a new attempt before it is complete.
	if i := slices.Index(changed, tables.Table((*tables.Application)(nil))); i >= 0 {
		changed = append(slices.Delete(changed, i, i+1), tables.Table((*tables.Application)(nil)))
	}
	slices.Sort(stale)
	return changed, slices.Compact(stale)
}
