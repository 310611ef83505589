package sparktest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

//go:embed spark4.xml
var spark4 []byte

// Spark4Jars returns a folder with the jars of Spark 4, which Maven fetches once (210 MB).
func Spark4Jars(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	for _, program := range []string{"java", "mvn"} {
		_, err := exec.LookPath(program)
		testenv.Require(t, err == nil, program+" is not on PATH: `make doctor` says how to install it")
	}
	sum := sha256.Sum256(spark4) // another version, or other jars, get a folder of their own
	dir := filepath.Join(cache, "emr-observatory", "spark4-"+hex.EncodeToString(sum[:8]))
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	lock := flock.New(dir + ".lock")
	require.NoError(t, lock.Lock())
	defer func() { require.NoError(t, lock.Unlock()) }()
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	part, pom := dir+".part", filepath.Join(t.TempDir(), "pom.xml")
	require.NoError(t, os.RemoveAll(part))
	require.NoError(t, os.WriteFile(pom, spark4, 0o600))
	out, err := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-f", pom,
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+part).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Rename(part, dir))
	return dir
}
