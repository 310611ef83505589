package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// versionTimeout limits how long a program may take to print its version: Maven
// starts a JVM for it, and the machine may be busy.
const versionTimeout = 30 * time.Second

// runProgram runs a program and returns what it prints, on one line.
func runProgram(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text := strings.Join(strings.Fields(string(out)), " ")
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("no %s on PATH", name)
	}
	if err != nil {
		return "", fmt.Errorf("`%s %s` failing: %s", name, strings.Join(args, " "), orFallback(text, err.Error()))
	}
	return text, nil
}

// orFallback returns s, or fallback if s is empty, shortened for a table cell.
func orFallback(s, fallback string) string {
	const maxBytes = 160
	s = cmp.Or(s, fallback)
	if len(s) > maxBytes {
		s = s[:maxBytes] + "…"
	}
	return s
}

func (m machine) goToolchain(ctx context.Context) Check {
	c := Check{Name: "Go", Remedy: "install it from https://go.dev/dl and put its bin folder on PATH"}
	want, err := m.goVersion()
	if err != nil {
		c.Rule, c.Found, c.Remedy = "go.mod must name the version", err.Error(), "run this in a checkout of the project"
		return c
	}
	c.Rule = "must be " + want + " or later (go.mod, and the servers' modules)"
	found, err := runProgram(ctx, m.Project, "go", "env", "GOVERSION", "GOTOOLCHAIN")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	installed, toolchain, _ := strings.Cut(found, " ")
	c.Found, c.OK = installed, version.Compare(installed, "go"+want) >= 0
	// Since 1.21 the go command downloads the toolchain that a module requires,
	// unless GOTOOLCHAIN forbids it (go.dev/doc/toolchain).
	if !c.OK && version.Compare(installed, "go1.21") >= 0 && strings.HasSuffix(toolchain, "auto") {
		c.Found, c.OK = installed+", which downloads the required toolchain", true
	}
	return c
}

// goVersion returns the highest version that the project or a server requires.
func (m machine) goVersion() (string, error) {
	file := filepath.Join(m.Project, "go.mod")
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read go.mod: %w", err)
	}
	mod, err := modfile.ParseLax(file, raw, nil)
	if err != nil {
		return "", fmt.Errorf("parse go.mod: %w", err)
	}
	if mod.Go == nil {
		return "", fmt.Errorf("%s has no go line", file)
	}
	highest, err := servers.GoVersion()
	if err != nil || version.Compare("go"+mod.Go.Version, "go"+highest) > 0 {
		return mod.Go.Version, err
	}
	return highest, nil
}

func (m machine) jdk(context.Context) Check {
	c := Check{Name: "JDK", Rule: "must be JDK 17, in JAVA_HOME or with java on PATH (Spark on EMR 7 runs with Java 17)"}
	c.Remedy = m.system.install("openjdk-17-jdk-headless", m.system.dnfJDK()) + ", and set JAVA_HOME to it if there are several"
	return c.answered(JDK())
}

// JDK returns the home of the JDK 17 that nodes run with: JAVA_HOME, or the
// folder that java on PATH links to. The error says what was found instead.
func JDK() (string, error) {
	home := os.Getenv("JAVA_HOME")
	if home == "" {
		java, err := exec.LookPath("java")
		if err != nil {
			return "", errors.New("neither JAVA_HOME nor java on PATH")
		}
		if java, err = filepath.EvalSymlinks(java); err != nil {
			return "", fmt.Errorf("java on PATH: %w", err)
		}
		home = filepath.Dir(filepath.Dir(java))
	}
	for _, program := range []string{"java", "javac"} {
		if _, err := os.Stat(filepath.Join(home, "bin", program)); err != nil {
			return "", fmt.Errorf("%s without bin/%s", home, program)
		}
	}
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return "", fmt.Errorf("%s without a release file", home)
	}
	if found := javaVersion.FindStringSubmatch(string(release)); found == nil || !strings.HasPrefix(found[1]+".", "17.") {
		return "", fmt.Errorf("%s, which is not Java 17", home)
	}
	return home, nil
}

var javaVersion = regexp.MustCompile(`JAVA_VERSION="([^"]*)"`)

// minMaven is the first Maven with -ntp (--no-transfer-progress), with which the
// applications are fetched (Maven 3.6.1 release notes).
const minMaven = "3.6.1"

func (m machine) maven(ctx context.Context) Check {
	c := Check{Name: "Maven", Rule: "must be " + minMaven + " or later", Remedy: m.system.install("maven", "maven")}
	version, err := runProgram(ctx, "", "mvn", "--version")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	found := mavenVersion.FindStringSubmatch(version)
	if found == nil {
		c.Found = orFallback(version, "no version")
		return c
	}
	c.Found, c.OK = found[1], semver.Compare("v"+found[1], "v"+minMaven) >= 0
	return c
}

var mavenVersion = regexp.MustCompile(`Apache Maven (\d+\.\d+\.\d+)`)

// minPython is what PySpark 3.5 requires (Spark 3.5 documentation, "Downloading").
const minPython = "3.8"

func (m machine) python(ctx context.Context) Check {
	c := Check{
		Name: "Python with pip", Rule: "python3 on PATH must be " + minPython + " or later and run pip",
		Remedy: m.system.install("python3 python3-pip", "python3 python3-pip"),
	}
	return checkPython(ctx, c, "python3", "import pip")
}

// nodePython checks the Python that nodes of the local cloud use: they mount the
// host's /usr, and PySpark and the AWS CLI call it by EMR's path.
func (m machine) nodePython(ctx context.Context) Check {
	c := Check{
		Name: "Python of the nodes", Rule: "/usr/bin/python3 must be " + minPython + " or later",
		Remedy: m.system.install("python3", "python3"),
	}
	return checkPython(ctx, c, "/usr/bin/python3", "")
}

// venv checks what is needed by the tests that call EMR's API through boto3.
func (m machine) venv(ctx context.Context) Check {
	c := Check{
		Name: "Python venv", Rule: "python3 on PATH must make virtual environments (venv, ensurepip)",
		Remedy: m.system.install("python3-venv", "python3"), Tests: true,
	}
	return checkPython(ctx, c, "python3", "import venv, ensurepip")
}

// checkPython checks that a Python is at least minPython and executes imports. It
// sets Found and OK of c.
func checkPython(ctx context.Context, c Check, program, imports string) Check {
	version, err := runProgram(ctx, "", program, "-c", imports+"\nimport sys\nprint('%d.%d.%d' % sys.version_info[:3])")
	c = c.answered(version, err)
	c.OK = c.OK && semver.Compare("v"+version, "v"+minPython) >= 0
	return c
}

func (m machine) git(ctx context.Context) Check {
	c := Check{
		Name: "git", Rule: "must be on PATH: go fetches modules with it that a module proxy lacks",
		Remedy: m.system.install("git", "git"),
	}
	return c.answered(runProgram(ctx, "", "git", "--version"))
}

func (m machine) shellcheck(ctx context.Context) Check {
	c := Check{
		Name: "shellcheck", Rule: "must be on PATH: it checks the nodes' scripts", Remedy: m.system.install("shellcheck", "ShellCheck"),
		Tests: true,
	}
	version, err := runProgram(ctx, "", "shellcheck", "--version")
	return c.answered(orFallback(shellcheckVersion.FindString(version), "an unknown version"), err)
}

func (m machine) chromium(context.Context) Check {
	c := Check{
		Name: "Chromium", Rule: "chromium or google-chrome must be on PATH: it opens the status page",
		Remedy: m.system.install("chromium", "chromium"), Tests: true,
	}
	return c.answered(FindChromium())
}

// FindChromium returns the path of Chromium or Chrome.
func FindChromium() (string, error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		if chrome, chromeErr := exec.LookPath("google-chrome"); chromeErr == nil {
			return chrome, nil
		}
	}
	return program, err
}

var shellcheckVersion = regexp.MustCompile(`version: \S+`)
