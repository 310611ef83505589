package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// systemctl implements the commands of systemctl that scripts on a node use, and
// returns the exit code.
func (a *Agent) systemctl(ctx context.Context, uid int, args []string, out, errs *os.File) int {
	var words []string
	flags := map[string]bool{}
	for _, w := range args {
		if strings.HasPrefix(w, "-") {
			flags[w] = true
		} else {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		words = []string{"list-units"}
	}
	verb, units := words[0], words[1:]
	readOnly := map[string]bool{"status": true, "is-active": true, "list-units": true, "is-system-running": true}
	if uid != 0 && !readOnly[verb] {
		fmt.Fprintf(errs, "Failed to %s: Interactive authentication required.\n", verb)
		return 1
	}
	code := 0
	switch verb {
	case "daemon-reload", "reset-failed":
	case "list-units":
		for _, u := range a.Units() {
			fmt.Fprintf(out, "%s %v\n", u.Name, u.Active)
		}
	default:
		for _, u := range units {
			if c := a.controlUnit(ctx, verb, u, flags, out, errs); c != 0 {
				code = c
			}
		}
	}
	return code
}

// controlUnit executes a verb on one unit and returns the exit code.
func (a *Agent) controlUnit(ctx context.Context, verb, name string, flags map[string]bool, out, errs *os.File) int {
	var err error
	switch verb {
	case "start":
		err = a.StartUnit(ctx, name)
	case "stop":
		err = a.StopUnit(ctx, name)
	case "restart", "try-restart", "reload-or-restart":
		if err = a.StopUnit(ctx, name); err == nil {
			err = a.StartUnit(ctx, name)
		}
	case "enable":
		if err = enableUnit(name); err == nil && flags["--now"] {
			err = a.StartUnit(ctx, name)
		}
	case "disable":
		if err = disableUnit(name); err == nil && flags["--now"] {
			err = a.StopUnit(ctx, name)
		}
	case "is-active", "status":
		return a.printState(name, flags["--quiet"] || flags["-q"], out)
	default:
		fmt.Fprintf(errs, "Unknown command verb %s.\n", verb)
		return 1
	}
	if err != nil {
		fmt.Fprintf(errs, "Failed to %s %s: %v\n", verb, name, err)
		return 1
	}
	return 0
}

// enabledDir contains links to the units that start at boot.
const enabledDir = unitDir + "/multi-user.target.wants"

// unitFileName returns a unit's full name: a name without a type is a service's.
func unitFileName(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return name + ".service"
}

func enableUnit(name string) error {
	name = unitFileName(name)
	if _, err := os.Stat(filepath.Join(unitDir, name)); err != nil {
		return fmt.Errorf("unit file %s does not exist", name)
	}
	return ReplaceWithLink(filepath.Join(unitDir, name), filepath.Join(enabledDir, name))
}

func disableUnit(name string) error {
	if err := os.Remove(filepath.Join(enabledDir, unitFileName(name))); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// exitNotActive is systemctl's exit code for a unit that is not active.
const exitNotActive = 3

// printState prints whether a unit is active and returns the exit code.
func (a *Agent) printState(name string, quiet bool, out *os.File) int {
	state, code := "inactive", exitNotActive
	for _, u := range a.Units() {
		if u.Name == unitFileName(name) && u.Active {
			state, code = "active", 0
		}
	}
	if !quiet {
		fmt.Fprintln(out, state)
	}
	return code
}
