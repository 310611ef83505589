package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/assets/node"
)

// Progress is told what is being made; elapsed counts from the artifact's
// start. A nil Progress is told nothing.
type Progress func(artifact, message string, elapsed time.Duration)

// Fulfil makes every artifact of the lock that the store lacks (or only those
// named), and verifies it against the lock before it enters the store. All
// failures are reported. It needs go for the collector, mvn and a JDK for the
// rest.
func Fulfil(ctx context.Context, s Store, progress Progress, names ...string) error {
	l, err := parse(node.Lock())
	if err != nil {
		return err
	}
	if err := l.drift(); err != nil {
		return err
	}
	wanted, err := l.pick(names)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var faults []error
	for _, a := range wanted {
		faults = append(faults, l.fulfil(ctx, s, a, progress))
	}
	return errors.Join(faults...)
}

// pick gives the named artifacts, or all of them.
func (l lockFile) pick(names []string) ([]Artifact, error) {
	if len(names) == 0 {
		return l.Artifacts, nil
	}
	var found []Artifact
	var faults []error
	for _, name := range names {
		i := slices.IndexFunc(l.Artifacts, func(a Artifact) bool { return a.Name == name })
		if i < 0 {
			faults = append(faults, fmt.Errorf("artifact %q: the lock has none of this name", name))
			continue
		}
		found = append(found, l.Artifacts[i])
	}
	return found, errors.Join(faults...)
}

func (l lockFile) fulfil(ctx context.Context, s Store, a Artifact, progress Progress) error {
	say := teller(progress, a.Name)
	if _, err := s.Path(a); err == nil {
		say("ready")
		return nil
	}
	made, err := l.make(ctx, s, a, say)
	if err != nil {
		return err
	}
	defer made.discard()
	if made.sum != a.SHA256 {
		return fmt.Errorf("artifact %s: made %d bytes of SHA-256 %s, the lock (made with %s and JDK %s) says %d bytes of %s: use these tools, or write a new lock with `make artifacts-lock`",
			a.Name, made.size, made.sum, l.Go, l.JDK, a.Size, a.SHA256)
	}
	if err := s.put(made.file, made.sum, a.Name); err != nil {
		return err
	}
	say(fmt.Sprintf("made, %d bytes", made.size))
	return nil
}

// Relock makes every artifact anew, whatever the store holds, puts it there
// and writes the lock file at path (assets/node/artifacts.lock.json) with the
// sums found. Versions and names are those of the old lock.
func Relock(ctx context.Context, s Store, path string, progress Progress) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read old lock: %w", err)
	}
	var l lockFile
	if err := json.Unmarshal(content, &l); err != nil {
		return fmt.Errorf("read old lock %s: %w", path, err)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i := range l.Artifacts {
		if err := l.relock(ctx, s, &l.Artifacts[i], teller(progress, l.Artifacts[i].Name)); err != nil {
			return err
		}
	}
	if err := l.validate(); err != nil {
		return err
	}
	out, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	if err := os.WriteFile(path, append(out, '\n'), 0o644); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	return nil
}

func (l lockFile) relock(ctx context.Context, s Store, a *Artifact, say func(string)) error {
	inputs, err := inputsOf(a.Source.Kind)
	if err != nil {
		return err
	}
	made, err := l.make(ctx, s, *a, say)
	if err != nil {
		return err
	}
	defer made.discard()
	a.SHA256, a.Size, a.Source.Inputs = made.sum, made.size, inputs
	say("sha256 " + made.sum)
	return s.put(made.file, made.sum, a.Name)
}

// lock keeps two runs from building the same things side by side.
func (s Store) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make store: %w", err)
	}
	l := flock.New(filepath.Join(s.Dir, ".lock"))
	if _, err := l.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for another run on %s: %w", s.Dir, err)
	}
	return func() { _ = l.Unlock() }, nil
}

func teller(progress Progress, name string) func(string) {
	start := time.Now()
	return func(message string) {
		if progress != nil {
			progress(name, message, time.Since(start))
		}
	}
}
