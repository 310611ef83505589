package artifacts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Artifact is one file of the lock.
type Artifact struct {
	Name   string `json:"name"`            // file name, as platform.NodePart.Artifact gives it
	Arch   string `json:"arch,omitempty"`  // platform.ArchAMD64, platform.ArchARM64, or "" for any
	Build  Build  `json:"build,omitempty"` // "" for any
	SHA256 string `json:"sha256"`          // lower-case hex of the content
	Size   int64  `json:"size"`            // bytes
	Source Source `json:"source"`
}

// Source is where an artifact comes from, as its part's record says.
type Source struct {
	Kind        platform.SourceKind `json:"kind"`
	Coordinates string              `json:"coordinates,omitempty"` // of platform.SourceMaven: group:artifact:version
	Inputs      string              `json:"inputs,omitempty"`      // of what is built here: SHA-256 of its sources
}

// lockFile is the content of artifacts.lock.json.
type lockFile struct {
	Go        string     `json:"go"`  // toolchain that gives these sums, as GOTOOLCHAIN
	JDK       string     `json:"jdk"` // feature version of the javac that gives these sums
	Artifacts []Artifact `json:"artifacts"`
}

var coordinates = regexp.MustCompile(`^[^:\s]+:[^:\s]+:[^:\s]+$`)

// Locked returns the artifacts of a build in the committed lock. It fails if the lock
// is malformed, does not match the node parts' records, or was written for other
// sources of something that is built here.
func Locked(build Build) ([]Artifact, error) {
	l, err := committedLock(platform.NodeParts())
	return l.of(build), err
}

// of returns the artifacts of a build, and those that do not depend on it.
func (l lockFile) of(build Build) []Artifact {
	return slices.DeleteFunc(slices.Clone(l.Artifacts), func(a Artifact) bool { return a.Build != "" && a.Build != build })
}

// label names an artifact in messages.
func (a Artifact) label() string {
	if a.Build == "" {
		return a.Name
	}
	return fmt.Sprintf("%s (%s build)", a.Name, a.Build)
}

// same reports whether two entries stand for the same artifact.
func (a Artifact) same(b Artifact) bool { return a.Name == b.Name && a.Build == b.Build }

// committedLock returns the committed lock after checking it against the parts.
func committedLock(parts []platform.NodePart) (lockFile, error) {
	l, err := parse(node.Lock())
	if err != nil {
		return l, err
	}
	return l, errors.Join(l.check(parts), l.drift())
}

// entriesOf returns the entries the lock must contain for parts, without checksum
// and size.
func entriesOf(parts []platform.NodePart) []Artifact {
	var list []Artifact
	for _, p := range parts {
		for _, arch := range p.Architectures() {
			for _, build := range buildsOf(p.Source.Kind) {
				list = append(list, Artifact{
					Name: p.Artifact(arch), Arch: arch, Build: build,
					Source: Source{Kind: p.Source.Kind, Coordinates: p.Source.Coordinates},
				})
			}
		}
	}
	return list
}

// check compares the lock's entries with the parts' records.
func (l lockFile) check(parts []platform.NodePart) error {
	var errs []error
	want := entriesOf(parts)
	for _, w := range want {
		i := slices.IndexFunc(l.Artifacts, w.same)
		if i < 0 {
			errs = append(errs, fmt.Errorf("artifact %s: not in the lock: run `make artifacts-lock`", w.label()))
			continue
		}
		a := l.Artifacts[i]
		if a.Arch != w.Arch || a.Source.Kind != w.Source.Kind || a.Source.Coordinates != w.Source.Coordinates {
			errs = append(errs, fmt.Errorf("artifact %s: the lock has %s %s for %q, its part's record has %s %s for %q: run `make artifacts-lock`",
				a.label(), a.Source.Kind, a.Source.Coordinates, a.Arch, w.Source.Kind, w.Source.Coordinates, w.Arch))
		}
	}
	for _, a := range l.Artifacts {
		if !slices.ContainsFunc(want, a.same) {
			errs = append(errs, fmt.Errorf("artifact %s: in the lock, but belongs to no part in platform.NodeParts: "+
				"run `make artifacts-lock`", a.label()))
		}
	}
	return errors.Join(errs...)
}

// LockedFor returns the locked artifacts that nodes of the given architectures
// install: those for one of them, and those for any.
func LockedFor(build Build, architectures []string) ([]Artifact, error) {
	all, err := Locked(build)
	return slices.DeleteFunc(all, func(a Artifact) bool {
		return a.Arch != "" && !slices.Contains(architectures, a.Arch)
	}), err
}

// Names returns the artifacts' names, as Ensure takes them.
func Names(list []Artifact) []string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	return names
}

// parse decodes and validates a lock.
func parse(content []byte) (lockFile, error) {
	var l lockFile
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return l, fmt.Errorf("read assets/node/artifacts.lock.json: %w", err)
	}
	if err := l.validate(); err != nil {
		return l, fmt.Errorf("read assets/node/artifacts.lock.json: %w", err)
	}
	return l, nil
}

func (l lockFile) validate() error {
	var errs []error
	violation := func(i int, field, value, rule string) {
		errs = append(errs, fmt.Errorf("artifacts[%d].%s: %q: %s: run `make artifacts-lock`", i, field, value, rule))
	}
	if l.Go == "" || l.JDK == "" {
		errs = append(errs, errors.New("go, jdk: empty: run `make artifacts-lock`"))
	}
	for i, a := range l.Artifacts {
		if !platform.IsFileName(a.Name) || slices.ContainsFunc(l.Artifacts[:i], a.same) {
			violation(i, "name", a.Name, "must be a file name that occurs once for each build")
		}
		if !slices.Contains(buildsOf(a.Source.Kind), a.Build) {
			violation(i, "build", string(a.Build), fmt.Sprintf("must be one of %q for source.kind %s", buildsOf(a.Source.Kind), a.Source.Kind))
		}
		if !platform.IsSHA256(a.SHA256) {
			violation(i, "sha256", a.SHA256, "must be 64 lower-case hex digits")
		}
		if a.Size <= 0 {
			violation(i, "size", fmt.Sprint(a.Size), "must be above 0")
		}
		switch a.Source.Kind {
		case platform.SourceMaven:
			if !coordinates.MatchString(a.Source.Coordinates) {
				violation(i, "source.coordinates", a.Source.Coordinates, "must be group:artifact:version")
			}
		case platform.SourceCollector, platform.SourceLauncher, platform.SourcePlugin, platform.SourceConnect:
			if !platform.IsSHA256(a.Source.Inputs) {
				violation(i, "source.inputs", a.Source.Inputs, "must be 64 lower-case hex digits")
			}
		default:
			violation(i, "source.kind", string(a.Source.Kind), "must be maven, collector, launcher, plugin or connect")
		}
	}
	return errors.Join(errs...)
}

// drift reports artifacts whose sources changed since the lock was written.
func (l lockFile) drift() error {
	var errs []error
	for _, a := range l.Artifacts {
		inputs, err := inputsOf(a.Source.Kind, a.Build)
		switch {
		case err != nil:
			errs = append(errs, err)
		case inputs != a.Source.Inputs:
			errs = append(errs, fmt.Errorf("artifact %s: its sources have SHA-256 %s, the lock was written for %s: run `make artifacts-lock`",
				a.label(), inputs, a.Source.Inputs))
		}
	}
	return errors.Join(errs...)
}

// sourcesOf returns the files that an artifact of this kind is built from, by path.
func sourcesOf(kind platform.SourceKind) (map[string][]byte, error) {
	switch kind {
	case platform.SourceCollector:
		return node.CollectorSources()
	case platform.SourceLauncher:
		return node.LauncherSources()
	case platform.SourcePlugin:
		return node.PluginSources()
	case platform.SourceConnect:
		return node.ConnectSources()
	default:
		return nil, nil
	}
}

// inputsOf returns the SHA-256 of a kind's sources and its compiler's flags; "" for
// a kind that is not built here.
func inputsOf(kind platform.SourceKind, build Build) (string, error) {
	files, err := sourcesOf(kind)
	if err != nil || len(files) == 0 {
		return "", err
	}
	digest := sha256.New()
	if kind == platform.SourceCollector {
		fmt.Fprintf(digest, "%q\n", build.compilerFlags())
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(digest, "%s %d\n", name, len(files[name]))
		digest.Write(files[name])
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
