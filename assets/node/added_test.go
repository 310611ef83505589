package node_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// extraParts returns parts that the platform does not have, each a record and a
// function: a file for every machine, and a service with a binary for one
// architecture.
func extraParts() []node.Part {
	extra := node.Part{
		NodePart: platform.NodePart{
			Component: "extra", Artifact: func(string) string { return "extra.jar" },
			Path: platform.NodeInstallDir + "/extra.jar", Mode: "0640",
			Facts: []platform.NodeSetting{{Name: "extra.control", Value: "$control"}},
		},
		Configure: func() (node.PartConfig, error) {
			file := platform.NodeFile{Staged: "extra.conf", Path: platform.NodeInstallDir + "/extra.conf"}
			return node.PartConfig{Files: []node.PartFile{{NodeFile: file, Content: []byte("interval=10\n")}}}, nil
		},
	}
	agent := node.Part{
		NodePart: platform.NodePart{
			Component: "agent", PerArchitecture: true, Artifact: func(arch string) string { return "agent-" + arch + ".gz" },
			Path: platform.NodeInstallDir + "/bin/agent", Mode: "0755",
			Environment:     []platform.NodeSetting{{Name: "AGENT_HOST", Value: "$host"}},
			EnvironmentFile: platform.NodeFile{Staged: "agent.env", Path: platform.NodeInstallDir + "/agent.env"},
		},
		Configure: func() (node.PartConfig, error) {
			unit := platform.NodeFile{Staged: "agent-unit", Path: platform.NodeUnitDir + "/agent.service"}
			return node.PartConfig{
				Files:   []node.PartFile{{NodeFile: unit, Content: []byte("[Service]\n")}},
				Folders: []string{"/mnt/agent"}, Service: &node.Service{Unit: "agent.service", Health: 13200},
			}, nil
		},
	}
	return []node.Part{extra, agent}
}

func inputWithExtraParts() node.BootstrapInput {
	in := anyInput()
	sum := strings.Repeat("1b", 32)
	in.Artifacts = append(in.Artifacts,
		node.Installed{Name: "extra.jar", SHA256: sum}, node.Installed{Name: "agent-arm64.gz", Arch: platform.ArchARM64, SHA256: sum})
	return in
}

func TestBootstrapInstallsAddedParts(t *testing.T) {
	script, _, err := node.BootstrapWith(append(node.Parts(), extraParts()...), inputWithExtraParts())
	require.NoError(t, err)
	sum := strings.Repeat("1b", 32)
	for _, text := range []string{
		"install_artifact extra " + sum + " extra.jar 0640 /opt/observatory/extra.jar &\n",
		`install_artifact agent "$agent_sha256" "$agent_name" 0755 /opt/observatory/bin/agent &` + "\n",
		"agent_sha256=" + sum + " agent_name=agent-arm64.gz ;;\n",
		"agent_name='' ;;\n", // on other machines
		"collector_sha256='' agent_sha256=''\n",
		`"control.address=$control" "extra.control=$control" >"$work/facts"` + "\n",
		`printf '%s\n' "AGENT_HOST=$host" >"$work/agent.env"` + "\n",
		"cat >\"$work/extra.conf\" <<'EXTRA'\ninterval=10\nEXTRA\n",
		`place "$work/extra.conf" 0644 /opt/observatory/extra.conf &&`,
		`place "$work/agent.env" 0644 /opt/observatory/agent.env &&`,
		"sudo install -d -m 0700 /mnt/agent\n",
		"sudo systemctl restart agent.service\n",
		"http://127.0.0.1:13200/;",
		"start_collector\nstart_agent\nreport\n",
		"components='launcher collector profiler plugin connect extra agent'\n", // the report's, and so the metric's
		"if hosts_only; then components='collector extra agent'; else install_launcher; fi\n",
	} {
		require.Contains(t, string(script), text)
	}
	check := exec.Command("bash", "-n")
	check.Stdin = bytes.NewReader(script)
	out, err := check.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestBootstrapNeedsTheArtifactsOfAddedParts(t *testing.T) {
	_, _, err := node.BootstrapWith(append(node.Parts(), extraParts()...), anyInput())
	require.ErrorContains(t, err, "artifact extra.jar: missing")
	require.ErrorContains(t, err, "artifact agent-amd64.gz or agent-arm64.gz: missing")
	_, _, err = node.Bootstrap(inputWithExtraParts())
	require.ErrorContains(t, err, "artifact extra.jar: no part of a node is installed from it")
}
