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
	Name   string `json:"name"`           // file name, one of platform.Artifact*
	Arch   string `json:"arch,omitempty"` // platform.ArchAMD64, platform.ArchARM64, or "" for any
	SHA256 string `json:"sha256"`         // lower-case hex of the content
	Size   int64  `json:"size"`           // bytes
	Source Source `json:"source"`
}

// Source says where an artifact comes from.
type Source struct {
	Kind        Kind   `json:"kind"`
	Coordinates string `json:"coordinates,omitempty"` // of KindMaven: group:artifact:version
	Inputs      string `json:"inputs,omitempty"`      // of what is built here: SHA-256 of its sources
}

// Kind is a way to obtain an artifact.
type Kind string

// The kinds.
const (
	KindMaven     Kind = "maven"     // a release on Maven Central
	KindCollector Kind = "collector" // built from assets/node/_collector
	KindLauncher  Kind = "launcher"  // built from assets/node/launcher
)

// lockFile is the whole of artifacts.lock.json.
type lockFile struct {
	Go        string     `json:"go"`  // toolchain that gives these sums, as GOTOOLCHAIN
	JDK       string     `json:"jdk"` // feature version of the javac that gives these sums
	Artifacts []Artifact `json:"artifacts"`
}

var (
	hexSHA256   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	fileName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	coordinates = regexp.MustCompile(`^[^:\s]+:[^:\s]+:[^:\s]+$`)
)

// Locked gives the artifacts of the committed lock. It fails if the lock is
// malformed or if the sources of something that is built here changed since
// the lock was written.
func Locked() ([]Artifact, error) {
	l, err := parse(node.Lock())
	if err != nil {
		return nil, err
	}
	return l.Artifacts, l.drift()
}

// LockedFor gives the locked artifacts that nodes of the given architectures
// install: those of one of them, and those that know none.
func LockedFor(architectures []string) ([]Artifact, error) {
	all, err := Locked()
	return slices.DeleteFunc(all, func(a Artifact) bool {
		return a.Arch != "" && !slices.Contains(architectures, a.Arch)
	}), err
}

// Names are the artifacts' names, as Fulfil takes them.
func Names(list []Artifact) []string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	return names
}

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
	var faults []error
	fault := func(i int, field, value, rule string) {
		faults = append(faults, fmt.Errorf("artifacts[%d].%s: %q: %s: run `make artifacts-lock`", i, field, value, rule))
	}
	if l.Go == "" || l.JDK == "" {
		faults = append(faults, errors.New("go, jdk: empty: run `make artifacts-lock`"))
	}
	seen := map[string]bool{}
	for i, a := range l.Artifacts {
		if !fileName.MatchString(a.Name) || seen[a.Name] {
			fault(i, "name", a.Name, "must be a file name that occurs once")
		}
		seen[a.Name] = true
		if !hexSHA256.MatchString(a.SHA256) {
			fault(i, "sha256", a.SHA256, "must be 64 lower-case hex digits")
		}
		if a.Size <= 0 {
			fault(i, "size", fmt.Sprint(a.Size), "must be above 0")
		}
		switch a.Source.Kind {
		case KindMaven:
			if !coordinates.MatchString(a.Source.Coordinates) {
				fault(i, "source.coordinates", a.Source.Coordinates, "must be group:artifact:version")
			}
		case KindCollector, KindLauncher:
			if !hexSHA256.MatchString(a.Source.Inputs) {
				fault(i, "source.inputs", a.Source.Inputs, "must be 64 lower-case hex digits")
			}
		default:
			fault(i, "source.kind", string(a.Source.Kind), "must be maven, collector or launcher")
		}
	}
	return errors.Join(faults...)
}

// drift names the artifacts whose sources are not those of the lock.
func (l lockFile) drift() error {
	var faults []error
	for _, a := range l.Artifacts {
		inputs, err := inputsOf(a.Source.Kind)
		switch {
		case err != nil:
			faults = append(faults, err)
		case inputs != a.Source.Inputs:
			faults = append(faults, fmt.Errorf("artifact %s: its sources have SHA-256 %s, the lock was written for %s: run `make artifacts-lock`", a.Name, inputs, a.Source.Inputs))
		}
	}
	return errors.Join(faults...)
}

// sourcesOf gives the files that an artifact of this kind is built from.
func sourcesOf(kind Kind) (map[string][]byte, error) {
	switch kind {
	case KindCollector:
		return node.CollectorSources()
	case KindLauncher:
		return node.LauncherSources()
	default:
		return nil, nil
	}
}

// inputsOf sums the sources of a kind and the flags of its compiler; "" where
// nothing is built.
func inputsOf(kind Kind) (string, error) {
	files, err := sourcesOf(kind)
	if err != nil || len(files) == 0 {
		return "", err
	}
	digest := sha256.New()
	if kind == KindCollector {
		fmt.Fprintf(digest, "%q\n", platform.CompilerFlags())
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(digest, "%s %d\n", name, len(files[name]))
		digest.Write(files[name])
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
