package lake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Compaction says what Compact did. Programs read it as JSON.
type Compaction struct {
	Days      int   `json:"days"` // that there are
	Compacted int   `json:"days_compacted"`
	Objects   int   `json:"objects_written"`
	Removed   int   `json:"objects_removed"` // of tables that no longer have rows on a day
	Rows      int64 `json:"rows"`            // of the objects written
	Bytes     int64 `json:"bytes_written"`
	// Failed lists the days that stay as they were. The next compaction tries again.
	Failed []UncompactedDay `json:"failed,omitempty"`
}

// UncompactedDay is a day that could not be compacted, and why.
type UncompactedDay struct {
	Day    string `json:"dt"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"` // "" for a damaged object
}

// Compact copies the rows of each table and day into one object,
// <prefix>compacted/<table>/dt=YYYY-MM-DD/rows.parquet, if they have changed since the last compaction, the latest days
// first. The tables stay as they are. All objects of a day are made before the first is written, and applications is
// written last, as in a commit. Each is replaced at once, so that a reader of the compacted objects finds each row once,
// as of the last compaction of its day. The same rows yield the same bytes. The lake must be locked. after, which may be
// nil, is called after each day.
//
// A table's day has a mark while its compacted object has the same rows. Whatever changes the day removes the mark first,
// so that a process killed at any moment leaves a day that the next compaction copies.
func (l *Lake) Compact(ctx context.Context, after func(Compaction)) (Compaction, error) {
	var c Compaction
	err := l.setCompacted(ctx)
	var days map[string][]tableDay
	if err == nil {
		days, c.Days, err = l.uncompacted(ctx)
	}
	if err != nil {
		return c, fmt.Errorf("compact the tables: %w", err)
	}
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		err := l.compactDay(ctx, days[day], &c)
		var failed *dayError
		switch {
		case errors.As(err, &failed):
			c.Failed = append(c.Failed, UncompactedDay{day, err.Error(), failed.remedy})
		case err != nil:
			return c, fmt.Errorf("compact the tables of %s: %w", day, err)
		}
		if after != nil {
			after(c)
		}
	}
	return c, nil
}

// IsCompacted reports whether the lake has been compacted, so that it is to be kept so.
func (l *Lake) IsCompacted(ctx context.Context) (bool, error) {
	_, err := readAll(ctx, l.store, l.prefix+compactedKey)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err // the error names the object
}

func (l *Lake) setCompacted(ctx context.Context) error {
	compacted, err := l.IsCompacted(ctx)
	if err != nil || compacted {
		return err
	}
	return l.putMark(ctx, compactedKey)
}

// IsChanged reports whether this process has changed rows that it has not compacted since.
func (l *Lake) IsChanged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unmarked) > 0
}

// tableDay is a table's day. Its text is the folder of its objects: <table>/dt=YYYY-MM-DD.
type tableDay string

func (t tableDay) table() tables.Name { return tables.Name(path.Dir(string(t))) }

// day returns "" if the folder is of something else.
func (t tableDay) day() string {
	day, found := strings.CutPrefix(path.Base(string(t)), tables.Partition+"=")
	if !found {
		return ""
	}
	return day
}

// Keys of a table's day, without the lake's prefix.
func (t tableDay) compacted() string { return path.Join(tables.Compacted, string(t), compactedObject) }
func (t tableDay) mark() string      { return compactedMarks + string(t) + ".json" }

// ofMark returns the table's day that a mark is of, from its key.
func (l *Lake) ofMark(key string) tableDay {
	return tableDay(strings.TrimSuffix(strings.TrimPrefix(key, l.prefix+compactedMarks), ".json"))
}

// compactedObject is the name of the one object of a table's day.
const compactedObject = "rows.parquet"

// uncompacted returns the tables' days whose compacted objects may differ from their rows, by day, and the number of all
// days. Objects that somebody removed by hand, on either side, count as changed, too.
func (l *Lake) uncompacted(ctx context.Context) (changed map[string][]tableDay, days int, err error) {
	marked := map[tableDay]bool{}
	for key, err := range l.store.List(ctx, l.prefix+compactedMarks) {
		if err != nil {
			return nil, 0, err
		}
		marked[l.ofMark(key)] = true
	}
	changed, known := map[string][]tableDay{}, map[string]bool{}
	for _, d := range tables.All() {
		here, err := l.daysIn(ctx, "", d.Name)
		if err != nil {
			return nil, 0, err
		}
		copied, err := l.daysIn(ctx, tables.Compacted+"/", d.Name)
		if err != nil {
			return nil, 0, err
		}
		for _, one := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(here), copied...)))) {
			known[one.day()] = true
			if !marked[one] || slices.Contains(here, one) != slices.Contains(copied, one) {
				changed[one.day()] = append(changed[one.day()], one)
			}
		}
	}
	return changed, len(known), nil
}

// daysIn returns the days of a table below a folder.
func (l *Lake) daysIn(ctx context.Context, folder string, table tables.Name) (found []tableDay, err error) {
	names, err := l.store.Folders(ctx, l.prefix+folder+string(table)+"/")
	for _, name := range names {
		if one := tableDay(string(table) + "/" + name); one.day() != "" {
			found = append(found, one)
		}
	}
	return found, err // the error names the folder
}

// compactDay compacts tables of a day, and marks them. Nothing changes the day meanwhile: this process is the only one
// that may write, and its other writers wait.
func (l *Lake) compactDay(ctx context.Context, changed []tableDay, c *Compaction) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	files := make([]compactedFile, len(changed))
	defer func() {
		for _, file := range files {
			file.close()
		}
	}()
	for i, one := range changed {
		var err error
		if files[i], err = l.concatenate(ctx, one); err != nil {
			return err
		}
	}
	slices.SortStableFunc(files, func(a, b compactedFile) int { return a.rank() - b.rank() })
	objects, removed := c.Objects, c.Removed
	for _, file := range files {
		if err := l.putCompacted(ctx, file, c); err != nil {
			return err
		}
	}
	if c.Objects > objects || c.Removed > removed { // else an empty folder that a killed process left
		c.Compacted++
	}
	return nil
}

// putCompacted replaces the compacted object of a table's day and marks it, or removes it.
func (l *Lake) putCompacted(ctx context.Context, file compactedFile, c *Compaction) error {
	if file.spool == nil {
		found, err := l.daysIn(ctx, tables.Compacted+"/", file.of.table())
		if err != nil || !slices.Contains(found, file.of) {
			return err
		}
		c.Removed++
		return l.remove(ctx, file.of.compacted())
	}
	if err := l.put(ctx, file.of.compacted(), file.content()); err != nil {
		return err
	}
	c.Objects++
	c.Rows += file.rows
	c.Bytes += file.size
	l.mu.Lock()
	delete(l.unmarked, file.of)
	l.mu.Unlock()
	return l.putMark(ctx, file.of.mark())
}

// putMark writes a small object whose existence is what counts.
func (l *Lake) putMark(ctx context.Context, key string) error {
	return l.put(ctx, key, strings.NewReader(fmt.Sprintf("{\"schema_version\": %d}\n", tables.SchemaVersion)))
}

// change changes an object of a table. The mark of its day goes first.
func (l *Lake) change(ctx context.Context, key string, do func() error) error {
	l.changing.RLock()
	defer l.changing.RUnlock()
	if one := tableDay(path.Dir(key)); one.day() != "" {
		if err := l.unmark(ctx, one); err != nil {
			return err
		}
	}
	return do()
}

// unmark removes the mark of a table's day, once in this process until the day is compacted.
func (l *Lake) unmark(ctx context.Context, one tableDay) error {
	l.mu.Lock()
	defer l.mu.Unlock() // the others wait until it is gone
	if l.unmarked[one] {
		return nil
	}
	if err := l.remove(ctx, one.mark()); err != nil {
		return err // the error names the object
	}
	l.unmarked[one] = true
	return nil
}
