package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// script is the data of the bootstrap action's template.
type script struct {
	Components string // names separated by spaces, for a shell loop
	// HostComponents are those of a cluster that reports its hosts only.
	HostComponents string
	Machines       []machine   // cases of uname -m
	Sums, Names    string      // assignments that empty the variables of the cases
	Downloads      []download  // in the order in which they start
	Settings       []settings  // files of settings
	Files          []PartFile  // in the order in which they are written
	Placements     string      // commands that put the staged files into place
	Services       []scriptRun // what systemd runs
}

// machine is one case of uname -m.
type machine struct{ Name, Assignments string }

// download is an artifact with its arguments to install_artifact.
type download struct {
	platform.NodePart
	SHA256, File string
}

// settings is a file of NAME=value lines, with the arguments of the printf that
// writes it.
type settings struct{ Staged, Args string }

// scriptRun is a service with its part's download.
type scriptRun struct {
	download
	Service
}

// machineNames maps platform's architectures to the output of uname -m.
func machineNames() map[string]string {
	return map[string]string{platform.ArchAMD64: "x86_64", platform.ArchARM64: "aarch64"}
}

// newScript assembles the data of the bootstrap template. installed holds each downloaded
// part's artifacts, by component and architecture.
func newScript(parts []Part, installed map[platform.NodeComponent]map[string]Installed) (script, error) {
	var s script
	facts := hostFacts()
	placements := []string{place("facts", platform.NodeFactsFile)}
	var environments []settings
	var placed, folders []string
	for _, p := range parts {
		config, err := p.config()
		if err != nil {
			return script{}, err
		}
		facts = append(facts, p.Facts...)
		if len(p.Environment) > 0 {
			environments = append(environments, settings{p.EnvironmentFile.Staged, shellArgs(p.Environment)})
			placements = append(placements, place(p.EnvironmentFile.Staged, p.EnvironmentFile.Path))
		}
		for _, f := range config.Files {
			s.Files = append(s.Files, f)
			placed = append(placed, place(f.Staged, f.Path))
		}
		for _, folder := range config.Folders {
			folders = append(folders, "sudo install -d -m 0700 "+folder)
		}
		if config.Service != nil {
			s.Services = append(s.Services, scriptRun{downloadOf(p.NodePart, installed[p.Component]), *config.Service})
		}
	}
	s.Components = componentNames(parts)
	s.HostComponents = componentNames(slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.OfSpark }))
	s.Settings = append([]settings{{"facts", shellArgs(facts)}}, environments...)
	s.Placements = strings.Join(slices.Concat(placements, placed, folders), " &&\n    ")
	s.Downloads = downloads(parts, installed)
	s.Machines, s.Sums, s.Names = machines(parts, installed)
	return s, nil
}

// place returns the shell command that installs a staged file.
func place(staged, path string) string { return `place "$work/` + staged + `" 0644 ` + path }

// hostFacts returns the platform's host labels, which every part may read.
func hostFacts() []platform.NodeSetting {
	return []platform.NodeSetting{
		{Name: string(platform.Cluster), Value: "$cluster"},
		{Name: string(platform.NodeRole), Value: "$role"},
		{Name: string(platform.HostName), Value: "$host"},
	}
}

// Layout of the quoted settings: how many are on the first line and on each further
// line.
const (
	settingsOnFirstLine = 3 // the host labels
	settingsPerLine     = 2
)

// shellArgs formats settings as quoted NAME=value arguments: the three host labels on
// the first line, then two per line.
func shellArgs(list []platform.NodeSetting) string {
	var out strings.Builder
	for i, s := range list {
		switch {
		case i == 0:
		case i >= settingsOnFirstLine && (i-settingsOnFirstLine)%settingsPerLine == 0:
			out.WriteString(" \\\n    ")
		default:
			out.WriteString(" ")
		}
		fmt.Fprintf(&out, `"%s=%s"`, s.Name, s.Value)
	}
	return out.String()
}

// downloads returns the artifacts of every machine, then those that depend on its
// architecture.
func downloads(parts []Part, installed map[platform.NodeComponent]map[string]Installed) []download {
	var all, perMachine []download
	for _, p := range parts {
		switch d := downloadOf(p.NodePart, installed[p.Component]); {
		case p.Embedded:
		case p.PerArchitecture:
			perMachine = append(perMachine, d)
		default:
			all = append(all, d)
		}
	}
	return append(all, perMachine...)
}

// downloadOf returns a part's download. For an artifact per architecture it uses the
// variables that the cases of uname -m set.
func downloadOf(p platform.NodePart, artifacts map[string]Installed) download {
	if p.PerArchitecture {
		return download{p, fmt.Sprintf(`"$%s_sha256"`, p.Component), fmt.Sprintf(`"$%s_name"`, p.Component)}
	}
	return download{p, artifacts[""].SHA256, artifacts[""].Name}
}

// machines returns the cases of uname -m, in the order of their architectures, with
// the assignments that leave the variables empty on another machine.
func machines(parts []Part, installed map[platform.NodeComponent]map[string]Installed) (cases []machine, sums, names string) {
	var perMachine []Part
	for _, p := range parts {
		if p.PerArchitecture {
			perMachine = append(perMachine, p)
			sums += fmt.Sprintf(" %s_sha256=''", p.Component)
			names += fmt.Sprintf("%s_name='' ", p.Component)
		}
	}
	for _, arch := range platform.Architectures() {
		var assignments strings.Builder
		found := false
		for _, p := range perMachine {
			a, ok := installed[p.Component][arch]
			found = found || ok
			if ok {
				fmt.Fprintf(&assignments, "%[1]s_sha256=%[2]s %[1]s_name=%[3]s ", p.Component, a.SHA256, a.Name)
			} else {
				fmt.Fprintf(&assignments, "%s_name='' ", p.Component)
			}
		}
		if found {
			cases = append(cases, machine{machineNames()[arch], assignments.String()})
		}
	}
	return cases, sums, names
}

// componentNames returns the parts' names, separated by spaces for a shell loop.
func componentNames(parts []Part) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = string(p.Component)
	}
	return strings.Join(names, " ")
}
