package doctor

import (
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

	"github.com/emr-observatory/emr-observatory/localcloud/servers"
)

// patience is how long a program may take to tell its version: Maven starts a
// JVM for it, on a machine that may be busy.
const patience = 30 * time.Second

// ask runs a program and gives what it printed, on one line.
func ask(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // fixed programs
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text := strings.Join(strings.Fields(string(out)), " ")
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("none on PATH")
	}
	if err != nil {
		return "", fmt.Errorf("`%s %s` that fails: %s", name, strings.Join(args, " "), or(text, err.Error()))
	}
	return text, nil
}

func or(s, other string) string {
	const longest = 160
	if s == "" {
		s = other
	}
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	return s
}

func (m machine) goToolchain(ctx context.Context) Check {
	c := Check{Name: "Go", Remedy: "install it from https://go.dev/dl and put its bin folder on PATH"}
	want, err := m.goVersion()
	if err != nil {
		c.Rule, c.Found, c.Remedy = "go.mod must say which version", err.Error(), "run this in a checkout of the project"
		return c
	}
	c.Rule = "must be " + want + " or later (go.mod, and the servers' modules)"
	found, err := ask(ctx, m.Project, "go", "env", "GOVERSION", "GOTOOLCHAIN")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	have, toolchain, _ := strings.Cut(found, " ")
	c.Found, c.OK = have, version.Compare(have, "go"+want) >= 0
	// From 1.21 on the go command fetches the toolchain that a module asks
	// for, unless told not to (go.dev/doc/toolchain).
	if !c.OK && version.Compare(have, "go1.21") >= 0 && strings.HasSuffix(toolchain, "auto") {
		c.Found, c.OK = have+", which fetches what a module asks for", true
	}
	return c
}

// goVersion is the highest version that the project or a server asks for.
func (m machine) goVersion() (string, error) {
	file := filepath.Join(m.Project, "go.mod")
	raw, err := os.ReadFile(file) //nolint:gosec // the project's own file
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
	c.Remedy = m.system.install(m.system.jdk()) + ", and set JAVA_HOME to it if there are several"
	home, err := JDK()
	if err != nil {
		c.Found = err.Error()
		return c
	}
	c.Found, c.OK = home, true
	return c
}

// JDK is the home of the JDK 17 that nodes run with: JAVA_HOME, or where java
// on PATH really is. The error says what was found instead.
func JDK() (string, error) {
	home := os.Getenv("JAVA_HOME")
	if home == "" {
		java, err := exec.LookPath("java")
		if err != nil {
			return "", errors.New("neither JAVA_HOME nor java on PATH")
		}
		if java, err = filepath.EvalSymlinks(java); err != nil {
			return "", fmt.Errorf("find the home of java: %w", err)
		}
		home = filepath.Dir(filepath.Dir(java))
	}
	for _, program := range []string{"java", "javac"} {
		if _, err := os.Stat(filepath.Join(home, "bin", program)); err != nil {
			return "", fmt.Errorf("%s without bin/%s", home, program)
		}
	}
	release, err := os.ReadFile(filepath.Join(home, "release")) //nolint:gosec // the JDK's own file
	if err != nil {
		return "", fmt.Errorf("%s without a release file", home)
	}
	if found := javaVersion.FindStringSubmatch(string(release)); found == nil || !strings.HasPrefix(found[1]+".", "17.") {
		return "", fmt.Errorf("%s, which is not Java 17", home)
	}
	return home, nil
}

var javaVersion = regexp.MustCompile(`JAVA_VERSION="([^"]*)"`)

// mavenFloor is the first Maven that knows -ntp (--no-transfer-progress),
// which the applications are fetched with (Maven 3.6.1 release notes).
const mavenFloor = "3.6.1"

func (m machine) maven(ctx context.Context) Check {
	c := Check{Name: "Maven", Rule: "must be " + mavenFloor + " or later", Remedy: m.system.install("maven", "maven")}
	said, err := ask(ctx, "", "mvn", "--version")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	found := mavenVersion.FindStringSubmatch(said)
	if found == nil {
		c.Found = or(said, "no version")
		return c
	}
	c.Found, c.OK = found[1], semver.Compare("v"+found[1], "v"+mavenFloor) >= 0
	return c
}

var mavenVersion = regexp.MustCompile(`Apache Maven (\d+\.\d+\.\d+)`)

// pythonFloor is what PySpark 3.5 needs (Spark 3.5 documentation, "Downloading").
const pythonFloor = "3.8"

func (m machine) python(ctx context.Context) Check {
	c := Check{Name: "Python with pip", Rule: "python3 on PATH must be " + pythonFloor + " or later and run pip", Remedy: m.system.install("python3 python3-pip", "python3 python3-pip")}
	return pythonOf(ctx, c, "python3", "import pip")
}

// nodePython is the one that machines of the local cloud see: /usr is the
// host's there, and PySpark's and the AWS CLI's path is EMR's.
func (m machine) nodePython(ctx context.Context) Check {
	c := Check{Name: "Python of the nodes", Rule: "/usr/bin/python3 must be " + pythonFloor + " or later", Remedy: m.system.install("python3", "python3")}
	return pythonOf(ctx, c, "/usr/bin/python3", "")
}

// venv is needed by the tests that speak to EMR's API through boto3.
func (m machine) venv(ctx context.Context) Check {
	c := Check{Name: "Python venv", Rule: "python3 on PATH must make virtual environments (venv, ensurepip)", Remedy: m.system.install("python3-venv", "python3"), Tests: true}
	return pythonOf(ctx, c, "python3", "import venv, ensurepip")
}

func pythonOf(ctx context.Context, c Check, program, imports string) Check {
	said, err := ask(ctx, "", program, "-c", imports+"\nimport sys\nprint('%d.%d.%d' % sys.version_info[:3])")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	c.Found, c.OK = said, semver.Compare("v"+said, "v"+pythonFloor) >= 0
	return c
}

func (m machine) git(ctx context.Context) Check {
	c := Check{Name: "git", Rule: "must be there: go fetches with it what a module proxy lacks", Remedy: m.system.install("git", "git")}
	said, err := ask(ctx, "", "git", "--version")
	c.Found, c.OK = said, err == nil
	if err != nil {
		c.Found = err.Error()
	}
	return c
}

func (m machine) shellcheck(ctx context.Context) Check {
	c := Check{Name: "shellcheck", Rule: "must be there: the nodes' scripts are checked with it", Remedy: m.system.install("shellcheck", "ShellCheck"), Tests: true}
	said, err := ask(ctx, "", "shellcheck", "--version")
	if err != nil {
		c.Found = err.Error()
		return c
	}
	c.Found, c.OK = or(shellcheckVersion.FindString(said), "an unknown version"), true
	return c
}

var shellcheckVersion = regexp.MustCompile(`version: \S+`)
