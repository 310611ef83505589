package controlnode_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

var update = flag.Bool("update", false, "rewrite golden files")

// maxRealistic leaves a quarter of EC2's limit as reserve.
const maxRealistic = 12 * 1024

// realisticInput returns an input with names as long as those of a real account.
func realisticInput() controlnode.Input {
	return controlnode.Input{
		Region:          "ap-southeast-3",
		Arch:            platform.ArchARM64,
		PrivateIP:       "10.200.100.200",
		PublicIP:        "203.113.213.113",
		VolumeID:        "vol-0a1b2c3d4e5f67890",
		RegistryMirror:  "registry.mirrors.team-analytics.example.com:8443",
		K3sURL:          "https://downloads.mirrors.team-analytics.example.com/github.com/k3s-io/k3s/releases/download",
		ParameterPrefix: "/" + platform.Project + "/team-analytics-production-eu.2026/control/k3s/",
	}
}

type cloudConfig struct {
	WriteFiles []struct{ Path, Permissions, Content string } `json:"write_files"`
	RunCmd     [][]string                                    `json:"runcmd"`
}

// parse decodes user data that has only the modules write_files and runcmd.
func parse(t *testing.T, userData []byte) cloudConfig {
	t.Helper()
	require.True(t, strings.HasPrefix(string(userData), "#cloud-config\n"), "cloud-init identifies the format by the first line")
	var c cloudConfig
	require.NoError(t, yaml.UnmarshalStrict(userData, &c), "modules other than write_files and runcmd")
	return c
}

func (c cloudConfig) file(t *testing.T, path string) string {
	t.Helper()
	for _, f := range c.WriteFiles {
		if f.Path == path {
			return f.Content
		}
	}
	require.Failf(t, "file missing", "%s is not written", path)
	return ""
}

func TestUserDataGolden(t *testing.T) {
	got, err := controlnode.UserData(realisticInput())
	require.NoError(t, err)
	golden := filepath.Join("testdata", "user-data.golden.yaml")
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run: go test ./assets/controlnode -update")
}

func TestUserDataContent(t *testing.T) {
	in := realisticInput()
	raw, err := controlnode.UserData(in)
	require.NoError(t, err)
	require.LessOrEqual(t, len(raw), maxRealistic)
	for _, word := range []string{"BEGIN CERT", "PRIVATE KEY-", "AKIA"} {
		require.NotContains(t, string(raw), word)
	}

	c := parse(t, raw)
	require.Equal(t, [][]string{{
		"bash", "-c", `bash "$0" "$1" || { systemctl enable --now --no-block "$2"; exit 1; }`,
		platform.ControlBootScript, platform.ControlBootFacts, platform.ControlBootUnit,
	}}, c.RunCmd)

	var k3s map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(c.file(t, platform.ControlK3sConfig)), &k3s))
	require.Equal(t, []any{in.PrivateIP, "127.0.0.1", in.PublicIP}, k3s["tls-san"])
	require.Equal(t, in.PrivateIP, k3s["node-ip"], "an Elastic IP is on no interface of the machine")
	require.Equal(t, platform.ControlK3sDir, k3s["data-dir"])
	require.Equal(t, []any{"traefik", "servicelb"}, k3s["disable"])
	require.Equal(t, true, k3s["secrets-encryption"])
	require.Contains(t, k3s["kubelet-arg"].([]any)[0], fmt.Sprintf("imagefs.available<%dGi,", platform.EvictionGiB))
	require.Less(t, platform.EvictionGiB, platform.StoreReserveGiB(), "the stores refuse data before the kubelet evicts them")
	require.Equal(t, "3000-8080", k3s["service-node-port-range"])

	unit := c.file(t, "/etc/systemd/system/"+platform.ControlK3sUnit)
	require.Contains(t, unit, "RequiresMountsFor="+platform.ControlDataDir+"\n")
	require.Contains(t, unit, "ExecStart="+platform.ControlK3sBinary+" server\n")
	require.Contains(t, unit, "RuntimeMaxSec=30d\n", "K3s renews certificates when it starts")
	again := c.file(t, "/etc/systemd/system/"+platform.ControlBootUnit)
	require.Contains(t, again, "ExecStart=/usr/bin/bash "+platform.ControlBootScript+" "+platform.ControlBootFacts+"\n")
	require.Contains(t, again, "Restart=on-failure\n")

	facts := c.file(t, platform.ControlBootFacts)
	require.Contains(t, facts, "DEVICE='/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a1b2c3d4e5f67890'\n")
	require.Contains(t, facts, platform.K3sBinaries()[platform.ArchARM64].SHA256)
	require.Contains(t, facts, "K3S_URL='"+in.K3sURL+"/v1.36.4%2Bk3s1/k3s-arm64'\n")

	in.K3sURL, in.RegistryMirror = "", ""
	raw, err = controlnode.UserData(in)
	require.NoError(t, err)
	c = parse(t, raw)
	require.Contains(t, c.file(t, platform.ControlBootFacts),
		"K3S_URL='https://github.com/k3s-io/k3s/releases/download/v1.36.4%2Bk3s1/k3s-arm64'\n")
	require.NotContains(t, string(raw), "regist")
}

// The mirror has the images of every registry below the registry's name, and there is no
// other place to look for them.
func TestMirrorServesEveryImage(t *testing.T) {
	in := realisticInput()
	raw, err := controlnode.UserData(in)
	require.NoError(t, err)
	c := parse(t, raw)
	var k3s map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(c.file(t, platform.ControlK3sConfig)), &k3s))
	require.Equal(t, true, k3s["disable-default-registry-endpoint"])
	var file struct {
		Mirrors map[string]struct {
			Endpoint []string
			Rewrite  map[string]string
		}
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(c.file(t, platform.ControlRegistries)), &file))
	images := []platform.Image{platform.ImageAWSCLI()}
	for _, r := range platform.Workloads() {
		images = append(images, r.Image)
	}
	for _, image := range images {
		registry, repository, _ := strings.Cut(image.Repository, "/")
		mirror, found := file.Mirrors[registry]
		require.True(t, found, image.Repository)
		require.Equal(t, []string{"https://" + in.RegistryMirror}, mirror.Endpoint)
		for pattern, replacement := range mirror.Rewrite {
			require.Equal(t, image.Repository, regexp.MustCompile(pattern).ReplaceAllString(repository, replacement))
		}
		require.Len(t, mirror.Rewrite, 1)
	}
	require.Contains(t, file.Mirrors, "docker.io", "K3s' own images")
}

// The kubelet must leave the volume alone while the stores fill it up to their reserve,
// and delete images before it ends the stores.
func TestImagesAreCollectedBelowTheStoresReserve(t *testing.T) {
	raw, err := controlnode.UserData(realisticInput())
	require.NoError(t, err)
	var k3s struct {
		Arguments []string `json:"kubelet-arg"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(parse(t, raw).file(t, platform.ControlK3sConfig)), &k3s))
	const off = 100 // kubernetes/kubernetes pkg/kubelet/kubelet.go, StartGarbageCollection
	threshold := 85 // the kubelet's default
	for _, a := range k3s.Arguments {
		_, _ = fmt.Sscanf(a, "image-gc-high-threshold=%d", &threshold)
	}
	for gib := platform.MinDataVolumeGiB; gib <= platform.MaxDataVolumeGiB; gib++ {
		full := 100 - platform.StoreReserveGiB()*100/gib // as the kubelet computes it, when the stores refuse data
		require.True(t, threshold == off || threshold > full, "%d GiB: %d %%", gib, full)
	}
}

func TestUserDataRespectsEC2SizeLimit(t *testing.T) {
	in := realisticInput()
	in.ParameterPrefix = "/" + strings.Repeat("a", controlnode.MaxUserData) + "/"
	_, err := controlnode.UserData(in)
	require.ErrorContains(t, err, "EC2 takes at most 16384")
}

func TestUserDataReportsEveryViolation(t *testing.T) {
	_, err := controlnode.UserData(controlnode.Input{
		Region: "moon", Arch: "riscv", PrivateIP: "::1", PublicIP: "::2", VolumeID: "vol", ParameterPrefix: "k3s",
	})
	require.Error(t, err)
	for _, want := range []string{
		`region: "moon"`, `arch: "riscv"`, `privateIp: "::1"`, `publicIp: "::2"`, `volumeId: "vol"`, `parameterPrefix: "k3s"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestUserDataQuotesShellInput(t *testing.T) {
	for _, value := range []string{"/a/$(touch x)/", "/a/`x`/", "/a/'; x '/", "/a b/"} {
		in := realisticInput()
		in.ParameterPrefix = value
		_, err := controlnode.UserData(in)
		require.ErrorContains(t, err, "parameterPrefix", value)
	}
}

// TestCloudInitAcceptsUserData runs cloud-init's own check. Its package starts
// services at boot, so it is required on CI's machines only.
func TestCloudInitAcceptsUserData(t *testing.T) {
	cloudInit := requireTool(t, "cloud-init", "the user data was not checked against cloud-init's schema")
	check := func(userData []byte) (string, error) {
		file := filepath.Join(t.TempDir(), "user-data")
		require.NoError(t, os.WriteFile(file, userData, 0o600))
		out, err := exec.Command(cloudInit, "schema", "--config-file", file).CombinedOutput()
		return string(out), err
	}
	for _, arch := range []string{platform.ArchAMD64, platform.ArchARM64} {
		in := realisticInput()
		in.Arch = arch
		good, err := controlnode.UserData(in)
		require.NoError(t, err)
		out, err := check(good)
		require.NoError(t, err, out)
		require.NotContains(t, out, "deprecat")
		for edit, reason := range map[[2]string]string{
			{`permissions: "0644"`, `permissions: 644`}:        "is not of type 'string'",
			{"  path: ", "  pfad: "}:                           "'path' is a required property",
			{"write_files:\n", "write_files: files\nfiles:\n"}: "is not of type 'array'",
		} {
			out, err := check([]byte(strings.ReplaceAll(string(good), edit[0], edit[1])))
			require.Error(t, err, "%v", edit)
			require.Contains(t, out, reason)
		}
	}
}

// requireTool finds a program that CI installs. Elsewhere the test is skipped
// without it, with a message that says what was not tested.
func requireTool(t *testing.T, name, without string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	testenv.Require(t, err == nil, fmt.Sprintf("%s is not on PATH: %s (apt-get install %s; .ci/run installs it)", name, without, name))
	return path
}

func TestShellcheck(t *testing.T) {
	linter := requireTool(t, "shellcheck", "the scripts were not linted")
	out, err := exec.Command(linter, "boot.sh", "gate.sh").CombinedOutput()
	require.NoError(t, err, string(out))
}
