package lessons_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// sparkClasses calls visit with the name and the reader of each class of the local
// cloud's Spark whose jar matches one of the patterns.
func sparkClasses(t *testing.T, visit func(name string, file *zip.File), patterns ...string) {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	for _, pattern := range patterns {
		jars, err := filepath.Glob(filepath.Join(tree, "spark", "jars", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, jars, pattern)
		for _, name := range jars {
			jar, err := zip.OpenReader(name)
			require.NoError(t, err, name)
			for _, file := range jar.File {
				if class, ok := strings.CutSuffix(file.Name, ".class"); ok {
					visit(class, file)
				}
			}
			require.NoError(t, jar.Close())
		}
	}
}

// Names that an engine or the plugin compares are those of classes of Spark: plan nodes
// that write, and servers of sessions. Connect, Livy and the shells of Python and R are
// not in the local cloud's Spark, or no classes.
func TestNamesAreSparks(t *testing.T) {
	missing := platform.SparkWriteCommands()
	for _, server := range platform.SessionServers() {
		if !regexp.MustCompile(`-shell$|^SparkConnectServer$|livy`).MatchString(server) {
			missing = append(missing, server)
		}
	}
	require.Len(t, missing, len(platform.SparkWriteCommands())+3)
	sparkClasses(t, func(name string, _ *zip.File) {
		class := strings.ReplaceAll(name, "/", ".")
		missing = slices.DeleteFunc(missing, func(want string) bool {
			return class == want || strings.HasPrefix(path.Base(name), want) // the node of CreateTableAsSelect is …Exec
		})
	}, "spark-sql_*.jar", "spark-catalyst_*.jar", "spark-hive*.jar", "spark-repl_*.jar")
	require.Empty(t, missing, "no class of Spark is called so")
}

// Each property that the platform sets or reads is a constant of Spark or Hadoop, or
// one of the platform's own, which somebody reads.
func TestKeysAreRead(t *testing.T) {
	own, theirs := split(slices.Concat(keysSet(t), keysOfSources(t)))
	require.Contains(t, own, platform.SparkSamplingRatio)
	require.Contains(t, theirs, "spark.submit.deployMode")
	require.Contains(t, theirs, "spark.plugins.defaultList")
	require.Contains(t, theirs, "spark.driver.defaultJavaOptions")
	require.Subset(t, ownKeysRead(t), slices.AppendSeq(own, maps.Values(ownKeys(t))), "a property of the platform that nothing reads")

	sparkClasses(t, func(_ string, file *zip.File) {
		class := content(t, file)
		theirs = slices.DeleteFunc(theirs, func(key string) bool { return bytes.Contains(class, constant(key)) })
	}, "spark-core_*.jar", "spark-sql_*.jar", "spark-common-utils_*.jar", "spark-yarn_*.jar", "spark-launcher_*.jar",
		"hadoop-client-api-*.jar")
	require.Empty(t, theirs, "properties that neither Spark nor Hadoop has")
}

// constant returns a text as the constants of a class file have it (JVMS 4.4.7).
func constant(text string) []byte {
	return append([]byte{1, byte(len(text) >> 8), byte(len(text))}, text...)
}

func content(t *testing.T, file *zip.File) []byte {
	t.Helper()
	r, err := file.Open()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	require.NoError(t, err, file.Name)
	return b
}

// split sorts keys and separates the platform's own.
func split(keys []string) (own, theirs []string) {
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if strings.HasPrefix(key, "spark."+platform.Name+".") {
			own = append(own, key)
		} else {
			theirs = append(theirs, key)
		}
	}
	return own, theirs
}

// keysSet returns the properties that a cluster's configuration sets. What the docker
// classification sets is read by YARN's container-executor, which is no Java.
func keysSet(t *testing.T) (keys []string) {
	t.Helper()
	text, err := (&emr.Args{SamplingRatio: "1"}).ConfigurationsJSON()
	require.NoError(t, err)
	var configurations []struct{ Properties map[string]string }
	require.NoError(t, json.Unmarshal([]byte(text), &configurations))
	for _, c := range configurations {
		for key := range c.Properties {
			keys = append(keys, key)
		}
	}
	return keys
}

// keysOfSources returns the properties that the launcher, the plugin and package phases
// read or set by name.
func keysOfSources(t *testing.T) (keys []string) {
	t.Helper()
	read := regexp.MustCompile(`(?:\b(?:get|contains|set|getProperty|setProperty|getLocalProperty|property|invoke)\([^")]*|` +
		`(?i:properties)\[|\.Spark\[|DEFAULT_PLUGINS = )"((?:spark|sql|streaming)\.[A-Za-z.]+)"`)
	for _, pattern := range []string{"assets/node/*/src/main/java/observatory/*/*.java", "phases/*.go", "phases/*/*.go"} {
		for _, text := range sources(t, pattern) {
			for _, match := range read.FindAllStringSubmatch(text, -1) {
				keys = append(keys, match[1])
			}
		}
	}
	return keys
}

// sources returns the files that match a pattern, without tests, by path.
func sources(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	texts := map[string]string{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			texts[file] = string(text)
		}
	}
	return texts
}

// ownKeys returns the properties that package platform defines, by constant.
func ownKeys(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, text := range sources(t, "platform/step.go") {
		for _, m := range regexp.MustCompile(`(Spark\w+) += "spark\." \+ Name \+ "(\.[^"]+)"`).FindAllStringSubmatch(text, -1) {
			found[m[1]] = "spark." + platform.Name + m[2]
		}
	}
	require.GreaterOrEqual(t, len(found), 3)
	for _, name := range platform.AirflowNames() {
		found[name.Variable] = name.Property
	}
	return found
}

// ownKeysRead returns those that the plugin, or the control node in a step's arguments,
// reads.
func ownKeysRead(t *testing.T) (keys []string) {
	t.Helper()
	for _, text := range sources(t, "platform/step.go") {
		for _, m := range regexp.MustCompile(`sparkProperty\(args, (\w+)\)`).FindAllStringSubmatch(text, -1) {
			keys = append(keys, ownKeys(t)[m[1]])
		}
	}
	java := sources(t, "assets/node/spark-plugin/src/main/java/observatory/spark/*.java")
	code := ""
	for file, text := range java {
		if filepath.Base(file) != "Platform.java" {
			code += text
		}
	}
	for file, text := range java {
		if filepath.Base(file) != "Platform.java" {
			continue
		}
		for _, m := range regexp.MustCompile(`(?s)(\w+) =\s[^;]+;`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(code, "Platform."+m[1]) {
				for _, key := range regexp.MustCompile(`"(spark\.[^"]+)"`).FindAllStringSubmatch(m[0], -1) {
					keys = append(keys, key[1])
				}
			}
		}
	}
	return keys
}
