package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// systemctl carries out the commands that scripts on a node use.
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
	reads := map[string]bool{"status": true, "is-active": true, "list-units": true, "is-system-running": true}
	if uid != 0 && !reads[verb] {
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
			if c := a.control(ctx, verb, u, flags, out, errs); c != 0 {
				code = c
			}
		}
	}
	return code
}

func (a *Agent) control(ctx context.Context, verb, name string, flags map[string]bool, out, errs *os.File) int {
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
		if err = enable(name); err == nil && flags["--now"] {
			err = a.StartUnit(ctx, name)
		}
	case "disable":
		if err = disable(name); err == nil && flags["--now"] {
			err = a.StopUnit(ctx, name)
		}
	case "is-active", "status":
		return a.report(name, flags["--quiet"] || flags["-q"], out)
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

// enabledDir links the units that start at boot.
const enabledDir = unitDir + "/multi-user.target.wants"

func enable(name string) error {
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	if _, err := os.Stat(filepath.Join(unitDir, name)); err != nil {
		return fmt.Errorf("unit file %s does not exist", name)
	}
	if err := os.MkdirAll(enabledDir, 0o755); err != nil {
		return err
	}
	return replaceLink(filepath.Join(unitDir, name), filepath.Join(enabledDir, name))
}

func disable(name string) error {
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	if err := os.Remove(filepath.Join(enabledDir, name)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// report prints a unit's state; 3 is systemd's exit code for "not active".
func (a *Agent) report(name string, quiet bool, out *os.File) int {
	for _, u := range a.Units() {
		if u.Name == name || u.Name == name+".service" {
			if u.Active {
				if !quiet {
					fmt.Fprintln(out, "active")
				}
				return 0
			}
		}
	}
	if !quiet {
		fmt.Fprintln(out, "inactive")
	}
	return 3
}
