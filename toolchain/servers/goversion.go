package servers

import (
	"fmt"
	"go/version"

	"golang.org/x/mod/modfile"
)

// GoVersion returns the Go version that building the servers of List requires,
// as "1.26.6": the highest of their modules.
func GoVersion() (string, error) {
	list, err := List()
	if err != nil {
		return "", err
	}
	highest := ""
	for _, s := range list {
		mod, err := modules.ReadFile("modules/" + s.Name + ".mod")
		if err != nil {
			return "", fmt.Errorf("read module of %s: %w", s.Name, err)
		}
		parsed, err := modfile.Parse(s.Name+".mod", mod, nil)
		if err != nil {
			return "", fmt.Errorf("parse module of %s: %w", s.Name, err)
		}
		if parsed.Go != nil && version.Compare("go"+parsed.Go.Version, "go"+highest) > 0 {
			highest = parsed.Go.Version
		}
	}
	return highest, nil
}
