package node_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mavenJar is a jar that only a test needs.
type mavenJar struct{ coordinates, sha256 string }

// Agents that teams bring along.
func openTelemetryAgent() mavenJar {
	return mavenJar{"io.opentelemetry.javaagent:opentelemetry-javaagent:2.31.0",
		"d48673b2ff956b26d809bc34243649913d4eefd9191c4e175b686da633e0134b"}
}

func pyroscopeAgent() mavenJar {
	return mavenJar{"io.pyroscope:agent:2.1.2", "bbf88777b8241934ce24447cd6bd1be3f80497d153972d32a716fb21b1e12b32"}
}

// log4j is the version of Spark 3.5, which is on emr-7.x.
func log4j() []mavenJar {
	return []mavenJar{
		{"org.apache.logging.log4j:log4j-api:2.20.0", "2f43eea679ea66f14ca0f13fec2a8600ac124f5a5231dcb4df8393eddcb97550"},
		{"org.apache.logging.log4j:log4j-core:2.20.0", "6137df848cdaed9f4d5076f75513c6c85da80b953f4e7acca38098b770763f55"},
	}
}

// otherSparks are the oldest and the newest Spark in range.
func otherSparks() map[string][]mavenJar {
	return map[string][]mavenJar{
		"3.4, Scala 2.12": {
			{"org.apache.spark:spark-core_2.12:3.4.1", "e3428c4536bfd0801de7077f39d8f07276196e41fd25224b24cbfcea4c267033"},
			{"org.apache.spark:spark-sql_2.12:3.4.1", "c607297485b0a74549fe5e38afcda410698a89403b120c6c18be43f5134f26de"},
			{"org.scala-lang:scala-library:2.12.17", "7eefde7e3cc1937f78dc13b9e6c00746f602cff6f5621d62df2c24d922619fe0"},
		},
		"4.0, Scala 2.13": {
			{"org.apache.spark:spark-core_2.13:4.0.0", "36910fd3217907f2937cc9fcf6d680b4e7e556d44ed305e54156a7f84cc285bd"},
			{"org.apache.spark:spark-sql_2.13:4.0.0", "d1bad99366eaf632c26f79dc0beb89f4a3a209a06fa60919fec219d1d98ce9a6"},
			{"org.apache.spark:spark-common-utils_2.13:4.0.0", "b4689489053ab49cb6acddb23ec568447d4b52011194dd03476ce81aaf6a183e"},
			{"org.scala-lang:scala-library:2.13.16", "1ebb2b6f9e4eb4022497c19b1e1e825019c08514f962aaac197145f88ed730f1"},
		},
	}
}

// file returns the jar's path in the user's cache; Maven fetches what is missing there.
// Only the outer process may, since the namespaces have no network.
func (j mavenJar) file(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	parts := strings.Split(j.coordinates, ":")
	name := parts[1] + "-" + parts[2] + ".jar"
	path := filepath.Join(cache, "emr-observatory", "test-jars", j.sha256, name)
	if content, err := os.ReadFile(path); err == nil {
		require.Equal(t, j.sha256, digest(content), "delete %s", path)
		return path
	}
	work := t.TempDir()
	out, err := exec.Command("mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy",
		"-Dartifact="+j.coordinates, "-DoutputDirectory="+work).CombinedOutput()
	require.NoError(t, err, string(out))
	content, err := os.ReadFile(filepath.Join(work, name))
	require.NoError(t, err)
	require.Equal(t, j.sha256, digest(content), j.coordinates)
	write(t, path+".new", string(content))
	require.NoError(t, os.Rename(path+".new", path))
	return path
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
