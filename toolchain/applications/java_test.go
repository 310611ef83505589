package applications_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// printsArguments is in place of a JVM.
const printsArguments = "#!/bin/sh\nprintf '%s\\n' \"$CLASSPATH\" \"$@\"\n"

// fakeJava writes a JAVA_HOME over a JDK that prints its arguments. Its paths need quotes.
func fakeJava(t *testing.T, archive string) (home, spark string) {
	t.Helper()
	jdk, home, spark := filepath.Join(t.TempDir(), "a b'$c"), t.TempDir(), t.TempDir()
	for file, text := range map[string]string{"bin/java": printsArguments, "bin/javac": "javac", "release": "17", "lib/modules": ""} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(jdk, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(jdk, file), []byte(text), 0o755))
	}
	require.NoError(t, os.Mkdir(filepath.Join(spark, "jars"), 0o755))
	java := applications.Java{
		Home: jdk, OnHost: jdk, Options: []string{"-Xmine", "-Xo *"}, Spark: spark, Archive: archive, Behind: []string{"/mine", "/my/*"},
	}
	require.NoError(t, java.Write(home))
	return home, spark
}

// The jars of the archive move to the front of the class path past folders of configuration, wherever
// it is given and under whatever name. Where something else is before them, which may replace a class
// of Spark's, and where the JVM would not take this class path, nothing changes.
func TestJavaReadsTheArchiveOfItsClassPath(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "it's spark.jsa")
	require.NoError(t, os.WriteFile(archive, nil, 0o644))
	home, spark := fakeJava(t, archive)
	link, other := filepath.Join(t.TempDir(), "linked"), t.TempDir() // a folder with whatever classes
	require.NoError(t, os.Symlink(filepath.Join(spark, "jars"), link))
	jars, shared := spark+"/jars/*", []string{"-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off"}
	as := func(arguments ...string) []string { return arguments }
	for name, c := range map[string]struct {
		variable  string // CLASSPATH
		arguments []string
		moved     string   // the variable, if it changes
		want      []string // arguments, if they change
	}{
		"option": {"", as("-Xmx1g", "-cp", "/x/conf:"+jars+":/y", "Main", "a b", ""), "",
			as("-Xmx1g", "-cp", jars+":/x/conf:/y", "Main", "a b", "")},
		"another spelling": {"", as("-classpath", "/x/conf/:"+jars, "Main"), "", as("-classpath", jars+":/x/conf/", "Main")},
		"the last of two":  {"", as("-cp", "/x", "-cp", jars, "Main"), "", as("-cp", "/x", "-cp", jars, "Main")},
		"variable":         {jars + ":/y/", as("Main"), jars + ":/y/", as("Main")},
		"container": {"/pwd/__spark_conf__:" + jars, as("-server", "Main", "-cp", jars), jars + ":/pwd/__spark_conf__",
			as("-server", "Main", "-cp", jars)},
		"named folders":  {"/mine:/my/*:/h/conf:" + jars, as("Main"), jars + ":/mine:/my/*:/h/conf", as("Main")},
		"SPARK_CONF_DIR": {"/etc/mine:" + jars, as("Main"), jars + ":/etc/mine", as("Main")},
		"after an option's": {"", as("--add-opens", "a/b=ALL-UNNAMED", "-cp", jars, "Main"), "",
			as("--add-opens", "a/b=ALL-UNNAMED", "-cp", jars, "Main")},
		"nothing before": {"/pwd/__spark_libs__/*:" + jars, as("Main"), jars + ":/pwd/__spark_libs__/*", as("Main")},
		"another name":   {"", as("-cp", link+"/*:x.jar", "Main"), "", as("-cp", jars+":x.jar", "Main")},
		// What stays as it is:
		"a jar before":        {"", as("-cp", archive+":"+jars, "Main"), "", nil},
		"classes before":      {other + ":" + jars, as("Main"), "", nil},
		"jars before":         {other + "/*:" + jars, as("Main"), "", nil},
		"folder of work":      {"", as("-cp", ":"+jars, "Main"), "", nil},
		"folder of work last": {"", as("-cp", jars+":", "Main"), "", nil},
		"ignored variable":    {jars, as("-cp", other+"/*", "Main"), "", nil},
		"other jars":          {"", as("-cp", spark+"/*:x.jar", "Main"), "", nil},
		"jar to run":          {jars, as("-jar", "x.jar", "-cp", jars), "", nil},
		"module":              {jars, as("-p", "/m", "-m", "a/B"), "", nil},
		"file of arguments":   {jars, as("@file"), "", nil},
		"one word":            {"", as("--class-path="+jars, "Main"), "", nil},
		"no class path":       {"", as("-version"), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]string{c.variable, "-Xmine", "-Xo *"}, c.arguments...)
			if c.want != nil {
				want = slices.Concat([]string{c.moved, "-Xmine", "-Xo *"}, shared, c.want)
			}
			require.Equal(t, want, printed(t, home, c.variable, c.arguments))
		})
	}
	require.NoError(t, os.Remove(archive))
	require.Equal(t, as("", "-Xmine", "-Xo *", "-cp", "/x/conf:"+jars, "Main"), printed(t, home, "", as("-cp", "/x/conf:"+jars, "Main")))
	javac, err := os.ReadFile(filepath.Join(home, "bin/javac"))
	require.NoError(t, err)
	require.Equal(t, "javac", string(javac))
	require.FileExists(t, filepath.Join(home, "lib/modules"))
}

// The variables of a job reach its JVM whatever their names.
func TestJavaKeepsTheEnvironment(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "spark.jsa")
	require.NoError(t, os.WriteFile(archive, nil, 0o644))
	home, spark := fakeJava(t, archive)
	jdk, err := filepath.EvalSymlinks(filepath.Join(home, "release"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(jdk), "bin/java"), []byte("#!/bin/sh\nenv\n"), 0o755))
	cmd := exec.Command(filepath.Join(home, "bin/java"), "-cp", "/x/conf:"+spark+"/jars/*", "Main")
	variables := []string{"options=1", "archive=2", "path=3", "jars=4", "entry=5", "i=6", "REPLY=7", "entries=8", "IFS=9", "at=10"}
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, variables...)
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := strings.Split(string(out), "\n")
	for _, variable := range variables {
		if variable != "IFS=9" { // which no shell takes from its environment
			require.Contains(t, lines, variable)
		}
	}
}

// printed returns the lines that java prints.
func printed(t *testing.T, home, classPath string, arguments []string) []string {
	t.Helper()
	cmd := exec.Command(filepath.Join(home, "bin/java"), arguments...)
	cmd.Env = append(os.Environ(), "SPARK_CONF_DIR=/etc/mine")
	if classPath != "" {
		cmd.Env = append(cmd.Env, "CLASSPATH="+classPath)
	}
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// An archive appears only when it is complete, is made once, and in the place of those of other JVMs or
// jars.
func TestArchivesAreComplete(t *testing.T) {
	tree, jdk := t.TempDir(), t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	made := 0
	archive := func(text string, failure error) (string, error) {
		return applications.Archive(t.Context(), tree, jdk, "x", func(_ context.Context, file string) error {
			made++
			if text != "" {
				write(file, text)
			}
			return failure
		})
	}
	_, err := archive("of no JVM", nil)
	require.ErrorContains(t, err, filepath.Join(jdk, "release"))
	base := filepath.Join(jdk, "lib/server/classes.jsa")
	write(filepath.Join(jdk, "release"), "17.0.15")
	write(base, "base")
	write(filepath.Join(tree, "spark/jars/a.jar"), "a")
	_, err = archive("half", errors.ErrUnsupported)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = archive("", nil)
	require.ErrorContains(t, err, "the JVM wrote no archive")
	file, err := archive("whole", nil)
	require.NoError(t, err)
	again, err := archive("never", nil)
	require.NoError(t, err)
	require.Equal(t, file, again)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "whole", string(text))
	name, err := applications.ArchiveName(tree, jdk, "x")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(tree, name), file)
	for _, changed := range []string{base, filepath.Join(tree, "spark/jars/a.jar"), filepath.Join(tree, "spark/jars/b.jar")} {
		write(changed, "of another build")
		other, err := archive("another", nil)
		require.NoError(t, err)
		require.NotEqual(t, file, other)
		left, err := filepath.Glob(filepath.Join(tree, "archives/*"))
		require.NoError(t, err)
		require.ElementsMatch(t, []string{other, filepath.Join(tree, "archives/x.lock")}, left)
		file = other
	}
	require.Equal(t, 6, made)
}
