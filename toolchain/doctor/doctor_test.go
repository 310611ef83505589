package doctor_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

func noError() error { return nil }

// fakeMaven puts a Maven on PATH that prints its version without a JVM, for
// tests of other checks.
func fakeMaven(t *testing.T) {
	t.Helper()
	file := writeTempFile(t, "mvn", "#!/bin/sh\necho Apache Maven 3.9.9\n", 0o700)
	t.Setenv("PATH", filepath.Dir(file)+":"+os.Getenv("PATH"))
}

func examine(t *testing.T, change func(*doctor.Options)) doctor.Report {
	t.Helper()
	o := doctor.Options{Project: "../..", State: filepath.Join(t.TempDir(), "not", "there"), Namespaces: noError}
	if change != nil {
		change(&o)
	}
	return doctor.Examine(t.Context(), o)
}

func findCheck(t *testing.T, r doctor.Report, name string) doctor.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	require.Failf(t, "no such check", "%s", name)
	return doctor.Check{}
}

// The machine that runs the tests has what they need.
func TestThisMachinePasses(t *testing.T) {
	r := examine(t, nil)
	require.NoError(t, r.Err())
	require.True(t, r.OK)
	for _, c := range r.Checks {
		require.NotEmpty(t, c.Found, c.Name)
		require.NotEmpty(t, c.Rule, c.Name)
		require.Equal(t, c.OK, c.Remedy == "", c.Name)
	}
}

// With an empty PATH every program is missing, each with its remedy. What only
// tests need is not in the error.
func TestEmptyPathReportsEveryProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	debian := writeTempFile(t, "os-release", "ID=raspbian\nID_LIKE=debian\n", 0o600)
	r := examine(t, func(o *doctor.Options) { o.OSRelease = debian })
	require.False(t, r.OK)
	for name, remedy := range map[string]string{
		"Go": "go.dev/dl", "JDK": "apt-get install openjdk-17-jdk", "Maven": "apt-get install maven",
		"Python with pip": "apt-get install python3 python3-pip", "git": "apt-get install git",
	} {
		c := findCheck(t, r, name)
		require.False(t, c.OK, name)
		require.Contains(t, c.Found, "on PATH", name)
		require.Contains(t, c.Remedy, remedy, name)
		require.ErrorContains(t, r.Err(), c.Error())
	}
	for _, name := range []string{"shellcheck", "Chromium", "Python venv"} {
		require.False(t, findCheck(t, r, name).OK)
		require.NotContains(t, r.Err().Error(), name)
	}
	var out bytes.Buffer
	r.Render(&out)
	require.Contains(t, out.String(), "missing (tests only)")
	require.Contains(t, out.String(), "Maven: run `sudo apt-get install maven`")
}

func TestRefusesUnsuitablePrograms(t *testing.T) {
	for name, c := range map[string]struct{ program, script, check, found string }{
		"old Go":                        {"go", `echo go1.20.14; echo`, "Go", "go1.20.14"},
		"Go without toolchain download": {"go", `echo go1.24.0; echo local`, "Go", "go1.24.0"},
		"broken Go":                     {"go", `echo no disk >&2; exit 1`, "Go", "no disk"},
		"old Maven":                     {"mvn", `echo 'Apache Maven 3.5.4 (1edded0)'`, "Maven", "3.5.4"},
		"Maven without Java":            {"mvn", `echo 'JAVA_HOME is not defined correctly' >&2; exit 1`, "Maven", "JAVA_HOME"},
		"old Python":                    {"python3", `echo 3.7.17`, "Python with pip", "3.7.17"},
		"Python without pip":            {"python3", `echo "No module named 'pip'" >&2; exit 1`, "Python with pip", "No module named 'pip'"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeMaven(t)
			file := writeTempFile(t, c.program, "#!/bin/sh\n"+c.script+"\n", 0o700)
			t.Setenv("PATH", filepath.Dir(file)+":"+os.Getenv("PATH"))
			got := findCheck(t, examine(t, nil), c.check)
			require.False(t, got.OK)
			require.Contains(t, got.Found, c.found)
			require.NotEmpty(t, got.Remedy)
		})
	}
}

func TestAcceptsOlderGoThatDownloadsToolchains(t *testing.T) {
	fakeMaven(t)
	file := writeTempFile(t, "go", "#!/bin/sh\necho go1.24.0\necho auto\n", 0o700)
	t.Setenv("PATH", filepath.Dir(file)+":"+os.Getenv("PATH"))
	require.True(t, findCheck(t, examine(t, nil), "Go").OK)
}

// The required version is the highest of everything that is built, so that no
// build stops halfway.
func TestGoRuleIsTheHighestOfAllModules(t *testing.T) {
	fakeMaven(t)
	raw, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	mod, err := modfile.ParseLax("go.mod", raw, nil)
	require.NoError(t, err)
	rule := findCheck(t, examine(t, nil), "Go").Rule
	highest, err := servers.GoVersion()
	require.NoError(t, err)
	require.True(t, bytes.Contains([]byte(rule), []byte(mod.Go.Version)) || bytes.Contains([]byte(rule), []byte(highest)), rule)
}

func TestRefusesUnsuitableJavaHomes(t *testing.T) {
	fakeMaven(t)
	home := func(release string, programs ...string) string {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
		for _, p := range programs {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", p), nil, 0o600))
		}
		if release != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "release"), []byte(release), 0o600))
		}
		return dir
	}
	for found, dir := range map[string]string{
		"without bin/java":       home(`JAVA_VERSION="17.0.1"`),
		"without bin/javac":      home(`JAVA_VERSION="17.0.1"`, "java"), // a JRE
		"without a release file": home("", "java", "javac"),
		"which is not Java 17":   home(`JAVA_VERSION="21.0.4"`, "java", "javac"),
		", which is not Java 17": home(`JAVA_VERSION="1.8.0_17"`, "java", "javac"),
	} {
		t.Setenv("JAVA_HOME", dir)
		_, err := doctor.JDK()
		require.ErrorContains(t, err, found)
		require.False(t, findCheck(t, examine(t, nil), "JDK").OK)
	}
	t.Setenv("JAVA_HOME", home("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17\"\n", "java", "javac"))
	_, err := doctor.JDK()
	require.NoError(t, err)
}

func TestRemediesNameThePackageManager(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	for release, remedy := range map[string]string{
		"ID=ubuntu\n":                           "apt-get install openjdk-17-jdk-headless`,",
		"ID=\"rocky\"\nID_LIKE=\"rhel fedora\"": "dnf install java-17-openjdk-devel`,",
		"ID=\"amzn\"\nID_LIKE=\"fedora\"\n":     "dnf install java-17-amazon-corretto-devel`,",
		"ID=alpine\n":                           "` or `sudo dnf install java-17-openjdk-devel`, or the equivalent of this system",
	} {
		file := writeTempFile(t, "os-release", release, 0o600)
		r := examine(t, func(o *doctor.Options) { o.OSRelease = file })
		require.Contains(t, findCheck(t, r, "JDK").Remedy, remedy, release)
	}
	r := examine(t, func(o *doctor.Options) { o.OSRelease = filepath.Join(t.TempDir(), "absent") })
	require.Contains(t, findCheck(t, r, "git").Remedy, "apt-get")
	require.Contains(t, findCheck(t, r, "git").Remedy, "dnf")
}

func TestReportsFailedNamespaces(t *testing.T) {
	fakeMaven(t)
	r := examine(t, func(o *doctor.Options) {
		o.Namespaces = func() error { return errors.New("bridge: operation not supported") }
	})
	c := findCheck(t, r, "namespaces")
	require.Contains(t, c.Found, "bridge: operation not supported")
	require.NotEmpty(t, c.Remedy)
	require.ErrorContains(t, r.Err(), "namespaces")
}

// Free space is measured on the file systems that are written to: a cache on a
// file system of a few pages is refused, since servers would have to be built.
func TestRefusesSmallDisk(t *testing.T) {
	const small = "/dev/shm"
	t.Setenv(servers.DirEnv, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir()) // without go nothing counts as built
	c := findCheck(t, examine(t, func(o *doctor.Options) { o.Caches = small }), "disk")
	require.Contains(t, c.Rule, fmt.Sprintf("%.1f GiB", float64(doctor.BuildSpace)/(1<<30)))
	require.Contains(t, c.Found, small)
	running := examine(t, func(o *doctor.Options) { o.Caches, o.Running = small, true })
	require.True(t, findCheck(t, running, "memory").OK, "a running cloud has its memory already")
	reserve := fmt.Sprintf("%.1f GiB", float64(platform.StoreReserveGiB()))
	require.Contains(t, findCheck(t, running, "disk").Rule, reserve, "its stores refuse writes below that")
}

func writeTempFile(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(content), mode))
	return file
}
