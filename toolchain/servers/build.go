package servers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/platform"
)

// DirEnv is the variable that names a folder of built binaries, which Find
// prefers to the cache.
const DirEnv = "OBSERVATORY_SERVERS"

// Progress receives what a build is doing and the time since its start. It may
// be nil.
type Progress func(server, message string, elapsed time.Duration)

// Builder builds servers into a cache.
type Builder struct {
	Dir string // <Dir>/<name>-<key>/<name>
	Go  string // the go command
}

// DefaultBuilder builds into $XDG_CACHE_HOME/emr-observatory/servers with the go
// command on PATH.
func DefaultBuilder() (Builder, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Builder{}, fmt.Errorf("find cache folder (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return Builder{Dir: filepath.Join(cache, "emr-observatory", "servers"), Go: "go"}, nil
}

// Build returns the path of a server's binary in the default cache, and builds it if
// it is missing.
func Build(ctx context.Context, name string, progress Progress) (string, error) {
	b, err := DefaultBuilder()
	if err != nil {
		return "", err
	}
	return b.Build(ctx, name, progress)
}

// Find returns the path of an existing binary: in the folder that DirEnv names, in
// the default cache, or on PATH, in this order. It builds nothing.
func Find(ctx context.Context, name string) (string, error) {
	if _, err := Get(name); err != nil {
		return "", err
	}
	if dir := os.Getenv(DirEnv); dir != "" {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return absolutePath(path)
		}
	}
	b, err := DefaultBuilder()
	if err != nil {
		return "", err
	}
	if path, err := b.binaryPath(ctx, name); err == nil && isFile(path) {
		return path, nil
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("find server %s: neither in $%s, nor in %s, nor on PATH; run `make tools`", name, DirEnv, b.Dir)
}

// Build returns the path of a server's binary in this cache, and builds it if it is
// missing. It builds in a temporary folder and renames the result, so that a binary
// in the cache is complete. Concurrent processes build the same binary only once.
func (b Builder) Build(ctx context.Context, name string, progress Progress) (string, error) {
	start := time.Now()
	report := func(message string) {
		if progress != nil {
			progress(name, message, time.Since(start))
		}
	}
	path, err := b.binaryPath(ctx, name)
	if err != nil {
		return "", err
	}
	if isFile(path) {
		report("ready in " + filepath.Dir(path))
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("create cache of server %s: %w", name, err)
	}
	lock := flock.New(filepath.Dir(path) + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another build of server %s: %w", name, err)
	}
	defer func() { _ = lock.Unlock() }()
	if isFile(path) {
		report("built by another process")
		return path, nil
	}
	s, err := Get(name)
	if err != nil {
		return "", err
	}
	report("building " + s.Module + " " + s.Release)
	if err := b.compile(ctx, s, path, report); err != nil {
		return "", fmt.Errorf("build server %s %s: %w", name, s.Release, err)
	}
	report("built")
	return path, nil
}

// compile builds s in a temporary folder beside path and renames the result.
func (b Builder) compile(ctx context.Context, s Server, path string, report func(string)) error {
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
	binary := filepath.Join(work, s.Name)
	cmd := exec.CommandContext(ctx, b.Go, slices.Concat([]string{"build"}, s.buildArgs(), []string{"-v", "-o", binary, s.Package})...)
	cmd.Dir, cmd.Env = work, buildEnvironment()
	output := &buildOutput{report: report}
	cmd.Stderr = output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return os.Rename(binary, path)
}

// buildArgs returns the arguments of go build that affect the binary.
func (s Server) buildArgs() []string {
	return append(platform.ServerFlags(), "-buildvcs=false", "-ldflags", strings.TrimSpace("-s -w "+s.LDFlags))
}

// buildEnvironment returns the environment of the go command. It keeps the caller's
// settings from affecting the binary: no workspace, no flags, and no C compiler,
// which not every machine has.
func buildEnvironment() []string {
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly "+platform.CompilerProcesses(), "CGO_ENABLED=0", platform.CompilerMemory)
}

// binaryPath returns where the binary belongs. The name of its folder is a hash of all
// that affects the binary.
func (b Builder) binaryPath(ctx context.Context, name string) (string, error) {
	s, err := Get(name)
	if err != nil {
		return "", err
	}
	files, err := s.files()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, b.Go, "env", "GOVERSION", "GOOS", "GOARCH")
	cmd.Env = buildEnvironment()
	version, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run %s env (is Go installed?): %w", b.Go, err)
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%q\n", version, s.buildArgs())
	for _, n := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(h, "%s %d\n%s", n, len(files[n]), files[n])
	}
	return filepath.Join(b.Dir, name+"-"+hex.EncodeToString(h.Sum(nil))[:16], name), nil
}

func absolutePath(path string) (string, error) {
	out, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return out, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// buildOutput reads the output of `go build -v`. It counts compiled packages,
// reports progress once a second, and keeps the last other lines for the error.
type buildOutput struct {
	report   func(string)
	partial  []byte   // the last line, still incomplete
	messages []string // the last ones
	compiled int
	reported time.Time
}

// Write implements io.Writer.
func (o *buildOutput) Write(p []byte) (int, error) {
	o.partial = append(o.partial, p...)
	for {
		line, rest, complete := bytes.Cut(o.partial, []byte("\n"))
		if !complete {
			return len(p), nil
		}
		o.partial = rest
		o.addLine(string(line))
	}
}

// addLine counts a package, keeps a message, or reports a download.
func (o *buildOutput) addLine(line string) {
	module, downloading := strings.CutPrefix(line, "go: downloading ")
	message := "downloading " + module
	switch {
	case downloading:
	case strings.ContainsAny(line, " \t"): // a compiled package is printed as its path alone
		const maxMessages = 40
		o.messages = append(o.messages, line)
		o.messages = o.messages[max(0, len(o.messages)-maxMessages):]
		return
	default:
		o.compiled++
		message = fmt.Sprintf("%d packages, now %s", o.compiled, line)
	}
	if time.Since(o.reported) >= time.Second {
		o.reported = time.Now()
		o.report(message)
	}
}

// String returns the last messages of the compiler.
func (o *buildOutput) String() string {
	return strings.Join(append(o.messages, string(o.partial)), "\n")
}
