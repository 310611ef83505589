package lake

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Batch takes all rows of an attempt or a cluster: a tables.Sink. Nothing is in the lake
// before Commit. It is for one goroutine, and ends with Commit or Discard.
type Batch struct {
	lake     *Lake
	key      string // of the manifest
	name     string
	scope    tables.Scope
	manifest manifest
	writers  map[tables.Name]tableWriter
	failed   error
	ended    bool
}

// Written says what a commit did.
type Written struct {
	Objects int   // written; 0 if the lake held the same rows
	Removed int   // objects of tables that have no rows any more
	Bytes   int64 // of the objects written
	Rows    map[tables.Name]int64
}

// definitions are the tables by name.
var definitions = func() map[tables.Name]tables.Definition {
	all := map[tables.Name]tables.Definition{}
	for _, d := range tables.All() {
		all[d.Name] = d
	}
	return all
}()

func newBatch(l *Lake, key, name string, scope tables.Scope, m manifest) *Batch {
	return &Batch{lake: l, key: key, name: name, scope: scope, manifest: m, writers: map[tables.Name]tableWriter{}}
}

// Put copies a row. After an error the batch can only be discarded.
func (b *Batch) Put(row tables.Row) error {
	if b.failed == nil {
		b.failed = b.put(row)
	}
	return b.failed
}

func (b *Batch) put(row tables.Row) error {
	name := row.Table()
	writer := b.writers[name]
	if writer == nil {
		d, known := definitions[name]
		if !known || d.Scope != b.scope {
			return fmt.Errorf("a row of table %s does not belong to %s", name, b.name)
		}
		var err error
		if writer, err = newTableWriter(d, row); err != nil {
			return err
		}
		b.writers[name] = writer
	}
	return writer.put(row)
}

// Discard ends the batch without a trace. After Commit it does nothing.
func (b *Batch) Discard() {
	if !b.ended {
		b.end(nil)
	}
}

func (b *Batch) end(m *manifest) {
	b.ended = true
	for _, writer := range b.writers {
		writer.close()
	}
	b.lake.done(b.key, m)
}

// Commit writes the objects that differ from those in the lake, removes those of tables
// that have no rows any more, and ends the batch. final says that the source will never
// have more; fingerprint is what IsCurrent compares. The lake must be locked.
func (b *Batch) Commit(ctx context.Context, final bool, fingerprint string) (Written, error) {
	if b.ended {
		return Written{}, fmt.Errorf("write %s: the batch has ended", b.name)
	}
	b.manifest.Final, b.manifest.Fingerprint = final, fingerprint
	written, stored, err := b.commit(ctx)
	b.end(stored)
	if err != nil {
		return written, fmt.Errorf("write %s: %w", b.name, err)
	}
	return written, nil
}

// commit also returns the manifest that the store has now, nil if it was not replaced.
func (b *Batch) commit(ctx context.Context) (written Written, stored *manifest, err error) {
	if b.failed != nil {
		return Written{}, nil, b.failed
	}
	files := map[tables.Name]*spool{}
	defer func() {
		for _, file := range files {
			file.close()
		}
	}()
	written.Rows = map[tables.Name]int64{}
	b.manifest.Objects = map[tables.Name]object{}
	for name, writer := range b.writers {
		file, rows, err := writer.finish()
		if err != nil {
			return Written{}, nil, err
		}
		files[name], written.Rows[name] = file, rows
		b.manifest.Objects[name] = object{Key: objectKey(name, b.manifest.Day, b.name), SHA256: file.sum(), Rows: rows, Bytes: file.size}
	}
	before := b.lake.manifest(b.key)
	changed, stale := b.manifest.differences(before)
	intent := b.manifest
	if len(changed)+len(stale) > 0 {
		intent.Writing, intent.Stale = true, stale
		if err := b.store(ctx, &intent); err != nil {
			return Written{}, nil, err
		}
	} else if before != nil && reflect.DeepEqual(*before, b.manifest) {
		return written, nil, nil
	}
	if err := b.replace(ctx, changed, files, stale, &written); err != nil {
		return written, &intent, err
	}
	if err := b.store(ctx, &b.manifest); err != nil {
		return written, &intent, err
	}
	return written, &b.manifest, nil
}

func (b *Batch) store(ctx context.Context, m *manifest) error {
	if err := b.lake.writable(); err != nil {
		return err
	}
	return writeManifest(ctx, b.lake.store, b.lake.prefix+b.key, m)
}

// replace writes the changed objects and removes the stale ones.
func (b *Batch) replace(ctx context.Context, changed []tables.Name, files map[tables.Name]*spool, stale []string, written *Written) error {
	for _, name := range changed {
		if err := b.lake.writable(); err != nil {
			return err
		}
		o := b.manifest.Objects[name]
		if err := b.lake.store.Put(ctx, b.lake.prefix+o.Key, files[name].content()); err != nil {
			return err //nolint:wrapcheck // names the object
		}
		written.Objects++
		written.Bytes += o.Bytes
	}
	for _, key := range stale {
		if err := b.lake.writable(); err != nil {
			return err
		}
		if err := b.lake.store.Delete(ctx, b.lake.prefix+key); err != nil {
			return err //nolint:wrapcheck // names the object
		}
		written.Removed++
	}
	return nil
}

// differences lists the tables whose objects must be written, applications last, and the
// keys to remove. What an interrupted commit left behind is unknown: all is written.
func (m *manifest) differences(before *manifest) (changed []tables.Name, stale []string) {
	if before == nil {
		before = &manifest{}
	}
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
	// Whoever joins with applications sees none of a new attempt before it is complete.
	if i := slices.Index(changed, (*tables.Application)(nil).Table()); i >= 0 {
		changed = append(slices.Delete(changed, i, i+1), (*tables.Application)(nil).Table())
	}
	slices.Sort(stale)
	return changed, slices.Compact(stale)
}
