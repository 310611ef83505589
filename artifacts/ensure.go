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

	"github.com/emr-observatory/emr-observatory/platform"
)

// Progress receives each step of an artifact; elapsed counts from the artifact's
// start. It may be nil.
type Progress func(artifact, message string, elapsed time.Duration)

// Ensure builds or fetches the locked artifacts of a build that the store lacks (or
// only those named), and verifies each against the lock before it enters the store.
// All failures are reported. It needs go for the collector, mvn and a JDK for the
// rest.
func Ensure(ctx context.Context, s Store, build Build, progress Progress, names ...string) error {
	l, err := committedLock(platform.NodeParts())
	if err != nil {
		return err
	}
	picked, err := pick(l.of(build), names)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	var errs []error
	for _, a := range picked {
		errs = append(errs, l.ensure(ctx, s, a, progress))
	}
	return errors.Join(errs...)
}

// pick returns the entries of these names, each in all its builds, or all of them.
func pick(all []Artifact, names []string) ([]Artifact, error) {
	if len(names) == 0 {
		return all, nil
	}
	var found []Artifact
	var errs []error
	for _, name := range names {
		before := len(found)
		for _, a := range all {
			if a.Name == name {
				found = append(found, a)
			}
		}
		if len(found) == before {
			errs = append(errs, fmt.Errorf("artifact %q: the lock has none of this name", name))
		}
	}
	return found, errors.Join(errs...)
}

// ensure builds or fetches an artifact unless the store has it.
func (l lockFile) ensure(ctx context.Context, s Store, a Artifact, progress Progress) error {
	report := reporter(progress, a.label())
	if _, err := s.Path(a); err == nil {
		report("ready")
		return nil
	}
	b, err := l.make(ctx, s, a, report)
	if err != nil {
		return err
	}
	defer b.discard()
	if b.sum != a.SHA256 {
		return fmt.Errorf("artifact %s: built %d bytes with SHA-256 %s, the lock (written with %s and JDK %s) has %d bytes with %s: "+
			"use these tools, or write a new lock with `make artifacts-lock`", a.label(), b.size, b.sum, l.Go, l.JDK, a.Size, a.SHA256)
	}
	if err := s.put(b.file, b.sum, a.Name); err != nil {
		return err
	}
	report(fmt.Sprintf("done, %d bytes", b.size))
	return nil
}

// Relock builds or fetches every artifact of every build (or only those named) again,
// whatever the store has, puts it there and writes the lock file at path
// (assets/node/artifacts.lock.json). Names and versions come from the node parts'
// records; toolchains, and the entries of artifacts that are not named, from the old
// lock.
func Relock(ctx context.Context, s Store, path string, progress Progress, names ...string) error {
	return relockParts(ctx, s, path, platform.NodeParts(), progress, names...)
}

func relockParts(ctx context.Context, s Store, path string, parts []platform.NodePart, progress Progress, names ...string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read old lock: %w", err)
	}
	var l lockFile
	if err := json.Unmarshal(content, &l); err != nil {
		return fmt.Errorf("read old lock %s: %w", path, err)
	}
	old := l.Artifacts
	l.Artifacts = entriesOf(parts)
	picked, err := pick(l.Artifacts, names)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i := range l.Artifacts {
		kept := slices.IndexFunc(old, l.Artifacts[i].same)
		if kept >= 0 && !slices.ContainsFunc(picked, l.Artifacts[i].same) {
			l.Artifacts[i] = old[kept]
			continue
		}
		if err := l.relock(ctx, s, &l.Artifacts[i], reporter(progress, l.Artifacts[i].label())); err != nil {
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

// relock builds or fetches an artifact, stores it, and updates its entry in the lock file.
func (l lockFile) relock(ctx context.Context, s Store, a *Artifact, report func(string)) error {
	inputs, err := inputsOf(a.Source.Kind, a.Build)
	if err != nil {
		return err
	}
	b, err := l.make(ctx, s, *a, report)
	if err != nil {
		return err
	}
	defer b.discard()
	a.SHA256, a.Size, a.Source.Inputs = b.sum, b.size, inputs
	report("sha256 " + b.sum)
	return s.put(b.file, b.sum, a.Name)
}

// lock takes the store's file lock, so that no two processes build the same
// artifact at once, and returns the function that releases it.
func (s Store) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("create store %s: %w", s.Dir, err)
	}
	l := flock.New(filepath.Join(s.Dir, ".lock"))
	if _, err := l.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock store %s: %w", s.Dir, err)
	}
	return func() { _ = l.Unlock() }, nil
}

// reporter returns a function that reports the steps of an artifact.
func reporter(progress Progress, name string) func(string) {
	start := time.Now()
	return func(message string) {
		if progress != nil {
			progress(name, message, time.Since(start))
		}
	}
}
