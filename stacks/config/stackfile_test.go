package config_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// writeProject returns a folder with the project's own file and one stack's.
func writeProject(t *testing.T, stack string) string {
	t.Helper()
	dir := t.TempDir()
	own, err := os.ReadFile("../../Pulumi.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), own, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.trial.yaml"), []byte(stack), 0o600))
	return dir
}

func TestReadsStackFilesOfTheProject(t *testing.T) {
	networks := map[string]string{
		"dev": `{"cidr":"10.0.0.0/16"}`, "local": `{"cidr":"10.0.0.0/16","availabilityZones":["us-east-1a","us-east-1b"]}`,
	}
	for stack, network := range networks {
		f, cfg, err := config.ReadStackFile("../..", stack)
		require.NoError(t, err)
		require.Equal(t, stack == "local", cfg.Ephemeral, stack)
		require.Equal(t, "us-east-1", f.Values[platform.Project+":region"], "a string is not JSON")
		require.JSONEq(t, network, f.Values[platform.Project+":network"])
	}
}

func TestReportsAllViolationsOfAStackFile(t *testing.T) {
	dir := writeProject(t, `
config:
  emr-observatory:regoin: us-east-1
  emr-observatory:clusters: {main: {core: {count: -1, kount: 2}}}
  emr-observatory:tags: {secure: AAABAKQ=}
  aws:region: eu-west-1
`)
	_, _, err := config.ReadStackFile(dir, "trial", "retention.tempoDays=0", "retention", "network.nta=false")
	for _, part := range []string{
		"Pulumi.trial.yaml", "emr-observatory:regoin", "did you mean region?", "emr-observatory:region",
		"emr-observatory:clusters.main.core.count: -1 must be at least 1, or 0 for a cluster without core nodes; ",
		"emr-observatory:clusters.main.core.kount", "emr-observatory:tags: [secret]", "emr-observatory:retention.tempoDays: 0",
		`emr-observatory:retention: "retention" must be key=value`, "emr-observatory:network.nta",
	} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "AAABAKQ", "a ciphertext is shown")
	require.NotContains(t, err.Error(), "aws:region", "keys of other namespaces are not checked")
}

func TestOverridesReplaceFileEntries(t *testing.T) {
	dir := writeProject(t, "config:\n  emr-observatory:region: us-east-1\n  emr-observatory:clusters: {main: {core: {count: 2}}}\n"+
		"  emr-observatory:operatorCidrs: [10.0.0.0/16, 10.1.0.0/16]\n")
	_, cfg, err := config.ReadStackFile(dir, "trial", "clusters.main.core.count=5", "region=eu-west-1",
		"ephemeral=true", "operatorCidrs[0]=10.2.0.0/16")
	require.NoError(t, err)
	require.Equal(t, []string{"10.2.0.0/16", "10.1.0.0/16"}, cfg.OperatorCIDRs)
	require.Equal(t, 5, cfg.Clusters["main"].Core.Count)
	require.Equal(t, "eu-west-1", cfg.Region)
	require.True(t, cfg.Ephemeral)
}

// A rehearsal reads the file of a stack whose secrets it cannot decrypt.
func TestSecretsOfAStackFileStaySealed(t *testing.T) {
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), "observatory.example.com")
	file := func(key string) string {
		return "config:\n  emr-observatory:region: us-east-1\n  emr-observatory:controlNode:\n    dataVolumeGiB: 200\n    certificate:\n" +
			"      domain: observatory.example.com\n      chain: " + strconv.Quote(issued.Chain()) + "\n      key: " + key + "\n"
	}
	f, cfg, err := config.ReadStackFile(writeProject(t, file("{secure: AAABAKQ=}")), "trial")
	require.NoError(t, err)
	require.Equal(t, schema.Sealed, cfg.ControlNode.Certificate.Key)
	require.Equal(t, 200, cfg.ControlNode.DataVolumeGiB)
	require.NotContains(t, f.Values[platform.Project+":controlNode"], "AAABAKQ")
	again, err := load(t, recorder.WithConfig(f.Values))
	require.NoError(t, err)
	require.Equal(t, cfg, again)

	_, _, err = config.ReadStackFile(writeProject(t, file(strconv.Quote(issued.Key))), "trial")
	require.ErrorContains(t, err, "emr-observatory:controlNode.certificate.key: [hidden] must be a secret")
	require.NotContains(t, err.Error(), "PRIVATE KEY-----")
	_, _, err = config.ReadStackFile(writeProject(t, "config:\n  emr-observatory:region: us-east-1\n"+
		"  emr-observatory:controlNode:\n    arch: {secure: AAABAKQ=}\n"), "trial")
	require.ErrorContains(t, err, "emr-observatory:controlNode: [secret] must not be a secret")
	require.ErrorContains(t, err, "emr-observatory:controlNode.arch: [secret] must be")
}

// Beside the private key, which makes the whole section a secret, a wrong value is shown. The
// engine tells the program less than the file does: there only what is public by nature is.
func TestWrongValuesBesideASecretAreShown(t *testing.T) {
	issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), "p.example.com")
	section := func(key string) string {
		return `{"arch":"sparc","certificate":{"domain":"o.example.com","chain":` + strconv.Quote(issued.Chain()) + `,"key":` + key + `}}`
	}
	const domain = `emr-observatory:controlNode.certificate.domain: "o.example.com" must be a name of the certificate, which is for ` +
		"p.example.com"
	_, _, err := config.ReadStackFile(writeProject(t, "config:\n  emr-observatory:region: us-east-1\n  emr-observatory:controlNode: "+
		section(`{"secure":"AAABAKQ="}`)+"\n"), "trial")
	require.ErrorContains(t, err, domain)
	require.ErrorContains(t, err, `emr-observatory:controlNode.arch: "sparc" must be`)

	_, err = load(t, recorder.WithConfig(map[string]string{platform.Project + ":region": "us-east-1"}),
		recorder.WithSecrets(map[string]string{platform.Project + ":controlNode": section(strconv.Quote(issued.Key))}))
	require.ErrorContains(t, err, domain)
	require.ErrorContains(t, err, "emr-observatory:controlNode.arch: [secret] must be")
	require.NotContains(t, err.Error(), "PRIVATE KEY")
}

func TestMissingStackErrorListsStacks(t *testing.T) {
	_, _, err := config.ReadStackFile(writeProject(t, ""), "absent")
	require.ErrorContains(t, err, "the stacks here are trial")
}

func TestReturnsEnvironmentsOfAStackFile(t *testing.T) {
	f, _, err := config.ReadStackFile(writeProject(t, "environment: [data/aws-dev]\nconfig:\n  emr-observatory:region: us-east-1\n"), "trial")
	require.NoError(t, err)
	require.Equal(t, []string{"data/aws-dev"}, f.Environments)
}

// A file written for one cluster is refused with the lines that replace it.
func TestFormerClusterIsRefusedWithTheLinesToWrite(t *testing.T) {
	dir := writeProject(t, `
config:
  emr-observatory:region: us-east-1
  emr-observatory:emr:
    releaseLabel: emr-7.9.0
    architectures: [arm64]
    blockPublicAccess: true
    core: {instanceType: m7g.xlarge, count: 3}
    master: {instanceType: m7g.xlarge}
`)
	_, _, err := config.ReadStackFile(dir, "trial")
	require.ErrorContains(t, err, "emr-observatory:emr: (unknown) is no longer a key")
	_, lines, found := strings.Cut(err.Error(), "stay):\n")
	require.True(t, found, err)
	replaced := writeProject(t, "config:\n  emr-observatory:region: us-east-1\n"+lines+"\n")
	_, cfg, err := config.ReadStackFile(replaced, "trial")
	require.NoError(t, err, lines)
	require.Equal(t, []string{"main"}, cfg.ClusterKeys())
	main := cfg.Clusters["main"]
	require.Equal(t, "emr-7.9.0", main.ReleaseLabel)
	require.Equal(t, 3, main.Core.Count)
	require.Equal(t, []string{"arm64"}, cfg.Architectures)
	require.True(t, cfg.BlockPublicAccess)

	_, err = config.Parse(map[string]string{"region": "us-east-1", "emr": `{"core":{"count":3}}`})
	require.ErrorContains(t, err, "emr-observatory:clusters:\n    main:\n      core:\n        count: 3")
	_, err = config.Parse(map[string]string{"region": "us-east-1", "emr": `{"task":{"count":1}}`})
	require.ErrorContains(t, err, "main:\n      tasks:\n        task:\n          count: 1")
	require.ErrorContains(t, config.CheckKeys([]string{"emr-observatory:emr"}), "emr-observatory:clusters:\n    main:")
}
