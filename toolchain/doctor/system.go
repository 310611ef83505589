package doctor

import (
	"os"
	"slices"
	"strings"
)

// system is the Linux distribution, as far as remedies depend on it.
type system struct {
	apt, dnf, amazon bool
}

// readSystem reads os-release(5), where ID and ID_LIKE name the distribution and
// those that it derives from. If the file is missing, remedies name the commands
// of both families.
func readSystem(path string) system {
	if path == "" {
		path = "/etc/os-release"
	}
	raw, err := os.ReadFile(path)
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

// install returns the remedy that installs packages, given their names for apt and
// for dnf.
func (s system) install(apt, dnf string) string {
	a, d := "`sudo apt-get install "+apt+"`", "`sudo dnf install "+dnf+"`"
	switch {
	case s.apt:
		return "run " + a
	case s.dnf:
		return "run " + d
	}
	return "run " + a + " or " + d + ", or the equivalent of this system"
}

// dnfJDK returns the package of JDK 17. Amazon Linux has only Corretto.
func (s system) dnfJDK() string {
	if s.amazon {
		return "java-17-amazon-corretto-devel"
	}
	return "java-17-openjdk-devel"
}
