package servers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/platform"
)

// DirEnv names a folder of ready binaries that goes before the cache.
const DirEnv = "OBSERVATORY_SERVERS"

// Progress is told what a build does; elapsed is counted from its start.
// A nil Progress is told nothing.
type Progress func(server, message string, elapsed time.Duration)

// Builder builds into one cache.
type Builder struct {
	Dir string // <Dir>/<name>-<key>/<name>
	Go  string // the go command
}

// DefaultBuilder uses $XDG_CACHE_HOME/emr-observatory/servers and the go
// command on PATH.
func DefaultBuilder() (Builder, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Builder{}, fmt.Errorf("find cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return Builder{Dir: filepath.Join(cache, "emr-observatory", "servers"), Go: "go"}, nil
}

// Build gives the path of the server's binary, built into the default cache
// where it is not there yet.
func Build(ctx context.Context, name string, progress Progress) (string, error) {
	b, err := DefaultBuilder()
	if err != nil {
		return "", err
	}
	return b.Build(ctx, name, progress)
}

// Find gives the path of a binary that is already there: in the folder that
// DirEnv names, else in the cache, else on PATH. It builds nothing.
func Find(ctx context.Context, name string) (string, error) {
	if _, err := Get(name); err != nil {
		return "", err
	}
	if dir := os.Getenv(DirEnv); dir != "" {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return filepath.Abs(path)
		}
	}
	b, err := DefaultBuilder()
	if err != nil {
		return "", err
	}
	if path, err := b.path(ctx, name); err == nil && isFile(path) {
		return path, nil
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("server %s is neither in $%s nor in %s nor on PATH: run `make tools`", name, DirEnv, b.Dir)
}

// Build is as the function of that name, in this cache. A binary appears only
// whole: it is built aside and renamed. Two processes that want the same one
// build it once.
func (b Builder) Build(ctx context.Context, name string, progress Progress) (string, error) {
	start := time.Now()
	say := func(message string) {
		if progress != nil {
			progress(name, message, time.Since(start))
		}
	}
	path, err := b.path(ctx, name)
	if err != nil {
		return "", err
	}
	if isFile(path) {
		say("ready in " + filepath.Dir(path))
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("make cache of %s: %w", name, err)
	}
	lock := flock.New(filepath.Dir(path) + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another build of %s: %w", name, err)
	}
	defer func() { _ = lock.Unlock() }()
	if isFile(path) {
		say("built by another process")
		return path, nil
	}
	s, err := Get(name)
	if err != nil {
		return "", err
	}
	say("building " + s.Module + " " + s.Release)
	if err := b.compile(ctx, s, path, say); err != nil {
		return "", fmt.Errorf("build %s %s: %w", name, s.Release, err)
	}
	say("built")
	return path, nil
}

// compile builds s in a folder of its own beside path and renames the result.
func (b Builder) compile(ctx context.Context, s Server, path string, say func(string)) error {
	work, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	files, err := s.files()
	if err != nil {
		return err
	}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(work, name), body, 0o644); err != nil {
			return err
		}
	}
	made := filepath.Join(work, s.Name)
	cmd := exec.CommandContext(ctx, b.Go, slices.Concat([]string{"build"}, s.buildArgs(), []string{"-v", "-o", made, s.Package})...)
	cmd.Dir, cmd.Env = work, environment()
	tail := &tail{say: say}
	cmd.Stderr = tail
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, tail)
	}
	return os.Rename(made, path)
}

func (s Server) buildArgs() []string {
	return append(platform.CompilerFlags(), "-buildvcs=false", "-ldflags", strings.TrimSpace("-s -w "+s.LDFlags))
}

// environment lets nothing of the caller's shape the binary: no workspace, no
// flags, and no C compiler, which not every machine has.
func environment() []string {
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly "+platform.CompilerProcesses(), "CGO_ENABLED=0", platform.CompilerMemory)
}

// path is where the binary belongs: its folder's name changes with anything
// that shapes it.
func (b Builder) path(ctx context.Context, name string) (string, error) {
	s, err := Get(name)
	if err != nil {
		return "", err
	}
	files, err := s.files()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, b.Go, "env", "GOVERSION", "GOOS", "GOARCH")
	cmd.Env = environment()
	version, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version (is Go installed?): %w", b.Go, err)
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%q\n", version, s.buildArgs())
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		_, _ = fmt.Fprintf(h, "%s %d\n%s", n, len(files[n]), files[n])
	}
	return filepath.Join(b.Dir, name+"-"+hex.EncodeToString(h.Sum(nil))[:16], name), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// tail counts the packages that `go build -v` names, says so once a second,
// and keeps what else was printed for the error.
type tail struct {
	say      func(string)
	rest     []byte
	problems []string // the last of them
	compiled int
	said     time.Time
}

func (t *tail) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	r := bufio.NewReader(bytes.NewReader(t.rest))
	for {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			t.rest = []byte(line)
			return len(p), nil
		}
		t.line(strings.TrimRight(line, "\n"))
	}
}

func (t *tail) line(line string) {
	module, downloading := strings.CutPrefix(line, "go: downloading ")
	now := "downloading " + module
	switch {
	case downloading:
	case strings.ContainsAny(line, " \t"): // a package is named by its path alone
		if t.problems = append(t.problems, line); len(t.problems) > 40 {
			t.problems = t.problems[1:]
		}
		return
	default:
		t.compiled++
		now = fmt.Sprintf("%d packages, now %s", t.compiled, line)
	}
	if time.Since(t.said) >= time.Second {
		t.said = time.Now()
		t.say(now)
	}
}

func (t *tail) String() string { return strings.Join(append(t.problems, string(t.rest)), "\n") }
