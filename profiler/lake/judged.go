package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// findingsTable is the one table that is made from the others, after they are complete.
var findingsTable = tables.Table((*tables.Finding)(nil))

// ManifestError is a manifest that this program cannot parse: a damaged one, or a newer
// program's.
type ManifestError struct {
	Key string // with the lake's prefix
	Err error
}

func (e *ManifestError) Error() string { return e.Err.Error() } // names the manifest
func (e *ManifestError) Unwrap() error { return e.Err }

// Attempts yields what the lake has of each attempt that was read and whose commit is
// complete, in the order of their names. It ends at the first error that is not a
// ManifestError.
func (l *Lake) Attempts(ctx context.Context) iter.Seq2[*Held, error] {
	return func(yield func(*Held, error) bool) {
		for content, err := range fetchAhead(ctx, l.store, l.store.List(ctx, l.prefix+attemptManifests)) {
			var held *Held
			if err == nil {
				held, err = l.heldIn(content)
			}
			var damaged *ManifestError
			switch {
			case errors.Is(err, fs.ErrNotExist): // removed since
			case errors.As(err, &damaged):
				if !yield(nil, err) {
					return
				}
			case err != nil:
				yield(nil, fmt.Errorf("list the attempts in the lake: %w", err))
				return
			case !held.Writing && held.IsRead():
				if !yield(held, nil) {
					return
				}
			}
		}
	}
}

func (l *Lake) heldIn(content *fetched) (*Held, error) {
	raw, err := io.ReadAll(content.content())
	if err != nil {
		return nil, fmt.Errorf("read the manifest %s: %w", content.key, err)
	}
	m, err := parseManifest(raw, content.key)
	if err != nil {
		return nil, &ManifestError{content.key, err}
	}
	return &Held{*m, l.store, l.prefix}, nil
}

// ID returns the identity of an attempt, without its cluster's name and its source.
func (h *Held) ID() tables.Attempt {
	return tables.Attempt{
		Cluster:       tables.Cluster{Account: h.Account, Region: h.Region, ClusterID: h.ClusterID},
		ApplicationID: h.ApplicationID, AttemptID: h.AttemptID,
	}
}

// SetFindings replaces the findings of an attempt, and nothing else. judged says by what its
// rows were judged; Held.Judged returns it until the rows change. If both are as before, it
// writes nothing. The lake must be locked.
//
// It first takes the object out of the manifest, then writes or removes it, and completes the
// manifest: an attempt whose findings were being replaced counts as not judged, and its other
// tables stay complete.
func (l *Lake) SetFindings(ctx context.Context, id tables.Attempt, found []tables.Finding, judged string) (Written, error) {
	written := Written{Rows: map[tables.Name]int64{}}
	batch, err := l.begin(attemptManifest(id), attemptName(id), tables.OfAttempt, manifest{})
	if err != nil {
		return written, err
	}
	defer batch.Discard()
	before, err := readManifest(ctx, l.store, l.prefix+batch.key)
	if err == nil && (before == nil || before.Writing) {
		err = fmt.Errorf("%s has no complete rows", batch.name)
	}
	if err != nil {
		return written, fmt.Errorf("write findings: %w", err)
	}
	batch.manifest.Day = before.Day
	for i := range found {
		if err := batch.Put(&found[i]); err != nil {
			return written, err
		}
	}
	files, err := batch.finish()
	defer func() {
		for _, file := range files {
			file.close()
		}
	}()
	if err == nil {
		err = l.setFindings(ctx, batch, before, files[findingsTable], judged, &written)
	}
	if err != nil {
		return written, fmt.Errorf("write findings of %s: %w", batch.name, err)
	}
	return written, nil
}

// setFindings writes what differs from before.
func (l *Lake) setFindings(ctx context.Context, b *Batch, before *manifest, file *spool, judged string, written *Written) error {
	after := *before
	after.Objects = maps.Clone(before.Objects)
	delete(after.Objects, findingsTable)
	o, some := b.manifest.Objects[findingsTable]
	was, had := before.Objects[findingsTable]
	key := objectKey(findingsTable, before.Day, b.name)
	torn := slices.Contains(before.Stale, key)
	if changed := o != was || torn; changed && (some || had || torn) {
		intent := after
		intent.Judged, intent.Stale = "", []string{key}
		if err := l.writeManifest(ctx, b.key, &intent); err != nil {
			return err
		}
		if err := l.replace(ctx, key, file, written); err != nil {
			return err
		}
	} else if before.Judged == judged {
		return nil
	}
	if some {
		after.Objects[findingsTable] = o
		written.Rows[findingsTable] = o.Rows
	}
	after.Judged, after.Stale = judged, nil
	return l.writeManifest(ctx, b.key, &after)
}

// replace writes an object, or removes it if there is no file.
func (l *Lake) replace(ctx context.Context, key string, file *spool, written *Written) error {
	if file == nil {
		written.Removed++
		return l.removeRows(ctx, key)
	}
	written.Objects++
	written.Bytes += file.size
	return l.putRows(ctx, key, file.content())
}

// keepFindings keeps the findings of an attempt's earlier rows until the new rows are judged;
// if those are the same, they count as judged.
func (m *manifest) keepFindings(before *manifest) {
	if before == nil || before.Writing || before.Day != m.Day || before.SchemaVersion != m.SchemaVersion {
		return
	}
	others := maps.Clone(before.Objects)
	delete(others, findingsTable)
	if maps.Equal(others, m.Objects) {
		m.Judged = before.Judged
	}
	if o, had := before.Objects[findingsTable]; had {
		m.Objects[findingsTable] = o
	}
}

// judgedMark is the content of the object at judgedKey.
type judgedMark struct {
	Judged string `json:"judged"`
}

// JudgedBy returns by what all attempts in the lake were judged; "" if some may not have been.
func (l *Lake) JudgedBy(ctx context.Context) (string, error) {
	raw, err := readAll(ctx, l.store, l.prefix+judgedKey)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var mark judgedMark
	if err == nil {
		err = json.Unmarshal(raw, &mark)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", judgedKey, err)
	}
	return mark.Judged, nil
}

// SetJudgedBy notes that all attempts in the lake were judged by something, until the next
// commit of an attempt.
func (l *Lake) SetJudgedBy(ctx context.Context, judged string) error {
	if before, err := l.JudgedBy(ctx); err == nil && before == judged {
		return nil
	}
	raw, err := json.Marshal(judgedMark{judged})
	if err != nil {
		return fmt.Errorf("write %s: %w", judgedKey, err)
	}
	l.mu.Lock()
	l.unjudged = false
	l.mu.Unlock()
	return l.put(ctx, judgedKey, bytes.NewReader(append(raw, '\n')))
}

// setUnjudged notes that not all attempts are judged, before one of them changes.
func (l *Lake) setUnjudged(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock() // the others wait until it is noted
	if l.unjudged {
		return nil
	}
	err := l.remove(ctx, judgedKey)
	l.unjudged = err == nil
	return err
}
