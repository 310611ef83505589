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

// Agents that teams bring along, of the versions in
// https://central.sonatype.com.
func openTelemetryAgent() mavenJar {
	return mavenJar{"io.opentelemetry.javaagent:opentelemetry-javaagent:2.31.0", "d48673b2ff956b26d809bc34243649913d4eefd9191c4e175b686da633e0134b"}
}

func pyroscopeAgent() mavenJar {
	return mavenJar{"io.pyroscope:agent:2.1.2", "bbf88777b8241934ce24447cd6bd1be3f80497d153972d32a716fb21b1e12b32"}
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
