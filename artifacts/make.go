package artifacts

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	// Not the standard library's gzip: its output may change with the Go version
	// that this program is built with, and the lock has the output's checksum.
	"github.com/klauspost/compress/gzip"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// dependencyPlugin is the Maven plugin that copies a release.
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy"

// built is a finished file in a folder of its own.
type built struct {
	dir, file, sum string
	size           int64
}

func (m built) discard() { _ = os.RemoveAll(m.dir) }

// make builds or fetches an artifact in a folder of its own.
func (l lockFile) make(ctx context.Context, s Store, a Artifact, report func(string)) (m built, err error) {
	m.dir, err = s.scratch()
	if err != nil {
		return m, err
	}
	defer func() {
		if err != nil {
			m.discard()
			err = fmt.Errorf("make artifact %s: %w", a.label(), err)
		}
	}()
	if err := writeSources(m.dir, a.Source.Kind); err != nil {
		return m, err
	}
	switch a.Source.Kind {
	case platform.SourceMaven:
		report("fetching " + a.Source.Coordinates)
		m.file, err = fetchRelease(ctx, m.dir, a.Source.Coordinates)
	case platform.SourceLauncher:
		report("building the launcher")
		m.file, err = buildModules(ctx, m.dir, a.Name, node.LauncherModule)
	case platform.SourcePlugin:
		report("building the Spark plugin")
		m.file, err = buildModules(ctx, m.dir, a.Name, node.LauncherModule, node.PluginModule)
	case platform.SourceConnect:
		report("building Spark Connect's interceptor")
		m.file, err = buildModules(ctx, m.dir, a.Name, node.LauncherModule, node.PluginModule, node.ConnectModule)
	case platform.SourceCollector:
		report("building the collector (minutes with an empty Go build cache)")
		m.file, err = l.buildCollector(ctx, m.dir, a.Arch, a.Build)
	default:
		err = fmt.Errorf("source.kind %q: unknown: use one of platform.Source*", a.Source.Kind)
	}
	if err != nil {
		return m, err
	}
	m.sum, m.size, err = Sum(m.file)
	return m, err
}

// writeSources writes the source files of the given kind to dir.
func writeSources(dir string, kind platform.SourceKind) error {
	files, err := sourcesOf(kind)
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fetchRelease downloads a jar from Maven Central and returns its path.
func fetchRelease(ctx context.Context, dir, coordinates string) (string, error) {
	err := run(ctx, dir, nil, "mvn", "-q", "-B", dependencyPlugin,
		"-Dartifact="+coordinates, "-DoutputDirectory="+dir, "-Dmdep.stripVersion=true")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, strings.Split(coordinates, ":")[1]+".jar"), nil
}

// buildModules builds Maven modules, each with the jars of those before it, and returns
// the path of the last one's jar.
func buildModules(ctx context.Context, dir, jar string, modules ...string) (path string, err error) {
	for _, module := range modules {
		folder := filepath.Join(dir, module)
		if err := run(ctx, folder, nil, "mvn", "-q", "-B", "package"); err != nil {
			return "", fmt.Errorf("build %s: %w", module, err)
		}
		path = filepath.Join(folder, "target", jar)
	}
	return path, nil
}

// buildCollector compiles the collector for one architecture and gzips it. What
// Go records in a binary is fixed: toolchain, flags, paths.
func (l lockFile) buildCollector(ctx context.Context, dir, arch string, build Build) (string, error) {
	binary := filepath.Join(dir, "otelcol")
	environment := []string{
		"GOOS=linux", "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOTOOLCHAIN=" + l.Go, "GOFLAGS=" + platform.CompilerProcesses(), "GOEXPERIMENT=", "GOWORK=off", platform.CompilerMemory,
	}
	if err := applyPatches(ctx, dir, environment); err != nil {
		return "", err
	}
	// remove_all_sd omits Prometheus' service discovery: half the size.
	args := slices.Concat([]string{"build"}, build.compilerFlags(),
		[]string{"-mod=readonly", "-buildvcs=false", "-tags=remove_all_sd", "-ldflags=-s -w -buildid=", "-o", binary, "."})
	if err := run(ctx, dir, environment, "go", args...); err != nil {
		return "", err
	}
	return binary + ".gz", compress(binary, binary+".gz")
}

// compress gzips a file, without name and time in the header: the same content
// gives the same bytes.
func compress(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, in); err != nil {
		return err
	}
	return z.Close()
}

// run executes a build tool; its output is shown only when it fails.
func run(ctx context.Context, dir string, environment []string, name string, args ...string) error {
	cmd, err := command(ctx, dir, environment, name, args...)
	if err != nil {
		return err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, tail(out))
	}
	return nil
}

// command returns a call of a build tool, which must be installed.
func command(ctx context.Context, dir string, environment []string, name string, args ...string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(name); err != nil {
		return nil, fmt.Errorf("%s is not on PATH: install it", name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	return cmd, nil
}

// tail returns the end of a tool's output, which usually has the cause.
func tail(out []byte) string {
	const keep = 2000
	if len(out) > keep {
		out = out[len(out)-keep:]
	}
	return strings.TrimSpace(string(out))
}
