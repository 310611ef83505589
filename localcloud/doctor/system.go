package doctor

import (
	"os"
	"slices"
	"strings"
)

// system is the kind of Linux, as far as remedies differ by it.
type system struct {
	apt, dnf, amazon bool
}

// readSystem reads os-release(5): ID and ID_LIKE name the distribution and
// those it descends from. Without the file the remedies name both commands.
func readSystem(path string) system {
	if path == "" {
		path = "/etc/os-release"
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the system's own file
	if err != nil {
		return system{}
	}
	var ids []string
	for line := range strings.Lines(string(raw)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == "ID" || key == "ID_LIKE" {
			ids = append(ids, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	has := func(id string) bool { return slices.Contains(ids, id) }
	return system{apt: has("debian") || has("ubuntu"), dnf: has("fedora") || has("rhel"), amazon: has("amzn")}
}

// install is the command that installs the packages, by their names there.
func (s system) install(apt, dnf string) string {
	a, d := "`sudo apt-get install "+apt+"`", "`sudo dnf install "+dnf+"`"
	switch {
	case s.apt:
		return "run " + a
	case s.dnf:
		return "run " + d
	}
	return "run " + a + " or " + d + ", or what this system has in their place"
}

// jdk is the package of JDK 17. Amazon Linux has Corretto alone.
func (s system) jdk() (apt, dnf string) {
	if s.amazon {
		return "openjdk-17-jdk-headless", "java-17-amazon-corretto-devel"
	}
	return "openjdk-17-jdk-headless", "java-17-openjdk-devel"
}
