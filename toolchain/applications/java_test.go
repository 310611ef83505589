package applications_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// printsArguments is in place of a JVM.
const printsArguments = "#!/bin/sh\nprintf '%s\\n' \"$CLASSPATH\" \"$@\"\n"

// fakeJava writes a JAVA_HOME over a JDK that prints its arguments.
func fakeJava(t *testing.T, archive string) (home, spark string) {
	t.Helper()
	jdk, home, spark := t.TempDir(), t.TempDir(), t.TempDir()
	for file, text := range map[string]string{"bin/java": printsArguments, "bin/javac": "javac", "release": "17", "lib/modules": ""} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(jdk, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(jdk, file), []byte(text), 0o755))
	}
	require.NoError(t, os.Mkdir(filepath.Join(spark, "jars"), 0o755))
	java := applications.Java{Home: jdk, OnHost: jdk, Options: "-Xmine -Xother", Spark: spark, Archive: archive}
	require.NoError(t, java.Write(home))
	return home, spark
}

// The jars of the archive move to the front of the class path, wherever it is given and under whatever
// name, and nothing else changes.
func TestJavaReadsTheArchiveOfItsClassPath(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "spark.jsa")
	require.NoError(t, os.WriteFile(archive, nil, 0o644))
	home, spark := fakeJava(t, archive)
	link := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(filepath.Join(spark, "jars"), link))
	jars, shared := spark+"/jars/*", []string{"-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off"}
	for name, c := range map[string]struct {
		classPath string // the variable
		arguments []string
		want      []string // the variable, then the arguments
		shared    bool
	}{
		"option": {"", []string{"-Xmx1g", "-cp", "/conf:" + jars + ":/hadoop", "Main", "a b", ""},
			[]string{"", "-Xmx1g", "-cp", jars + ":/conf:/hadoop", "Main", "a b", ""}, true},
		"option of the program": {"", []string{"-cp", jars, "Main", "-cp", "/conf:" + jars},
			[]string{"", "-cp", jars, "Main", "-cp", "/conf:" + jars}, true},
		"variable":     {"/pwd:" + jars + ":/conf/", []string{"Main"}, []string{jars + ":/pwd:/conf/", "Main"}, true},
		"both":         {jars, []string{"-cp", "/other/*", "Main"}, []string{jars, "-cp", "/other/*", "Main"}, false},
		"another name": {"", []string{"-cp", "/conf:" + link + "/*", "Main"}, []string{"", "-cp", jars + ":/conf", "Main"}, true},
		"other jars":   {"", []string{"-cp", spark + "/*:x.jar", "Main"}, []string{"", "-cp", spark + "/*:x.jar", "Main"}, false},
		"no class":     {"", []string{"-version"}, []string{"", "-version"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := []string{c.want[0], "-Xmine", "-Xother"}
			if c.shared {
				want = append(want, shared...)
			}
			require.Equal(t, append(want, c.want[1:]...), printed(t, home, c.classPath, c.arguments))
		})
	}
	require.NoError(t, os.Remove(archive))
	path := "/conf:" + jars
	require.Equal(t, []string{"", "-Xmine", "-Xother", "-cp", path, "Main"}, printed(t, home, "", []string{"-cp", path, "Main"}))
	javac, err := os.ReadFile(filepath.Join(home, "bin/javac"))
	require.NoError(t, err)
	require.Equal(t, "javac", string(javac))
	require.FileExists(t, filepath.Join(home, "lib/modules"))
}

// printed returns the lines that java prints.
func printed(t *testing.T, home, classPath string, arguments []string) []string {
	t.Helper()
	cmd := exec.Command(filepath.Join(home, "bin/java"), arguments...)
	cmd.Env = append(os.Environ(), "CLASSPATH="+classPath)
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// An archive appears only when it is complete, is made once, and belongs to the build of a JVM.
func TestArchivesAreComplete(t *testing.T) {
	tree, jdk := t.TempDir(), t.TempDir()
	release := filepath.Join(jdk, "release")
	_, err := applications.ArchiveName(jdk, "x")
	require.ErrorContains(t, err, release)
	require.NoError(t, os.WriteFile(release, []byte("17.0.15"), 0o644))
	made := 0
	archive := func(text string, failure error) (string, error) {
		return applications.Archive(t.Context(), tree, jdk, "x", func(_ context.Context, file string) error {
			made++
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			return failure
		})
	}
	_, err = archive("half", errors.ErrUnsupported)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	file, err := archive("whole", nil)
	require.NoError(t, err)
	again, err := archive("never", nil)
	require.NoError(t, err)
	require.Equal(t, file, again)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "whole", string(text))
	name, err := applications.ArchiveName(jdk, "x")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(tree, name), file)
	require.NoError(t, os.WriteFile(release, []byte("17.0.16"), 0o644))
	other, err := archive("of another build", nil)
	require.NoError(t, err)
	require.NotEqual(t, file, other)
	require.Equal(t, 3, made)
}
