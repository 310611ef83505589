package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
)

// unitDir is where units are looked for, as on a node.
const unitDir = "/etc/systemd/system"

// service is the part of a unit file that a machine carries out. Hardening and
// resource limits are read by systemd on a real node; here they are ignored,
// since namespaces within namespaces are not to be had everywhere.
type service struct {
	name                       string
	pre, start, post, stopPost [][]string
	user, dir                  string
	env, given                 map[string]string
	envFiles                   []string
	restart                    string
	restartDelay, restartMax   time.Duration
	restartSteps               int
	oneshot                    bool
	stdout, stderr             string
	cancel                     context.CancelFunc
	done                       chan struct{}
	mu                         sync.Mutex
	pid, restarts              int
	active                     bool
	result                     string
}

// loadUnit reads a unit file.
func loadUnit(name string) (*service, error) {
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	f, err := os.Open(filepath.Join(unitDir, name))
	if err != nil {
		return nil, fmt.Errorf("unit %s could not be found", name)
	}
	defer f.Close()
	opts, err := unit.Deserialize(f)
	if err != nil {
		return nil, fmt.Errorf("unit %s: %w", name, err)
	}
	s := &service{name: name, env: map[string]string{}, restart: "no", restartDelay: 100 * time.Millisecond}
	for _, o := range opts {
		if o.Section == "Service" {
			if err := s.set(o.Name, o.Value); err != nil {
				return nil, fmt.Errorf("unit %s: %s: %w", name, o.Name, err)
			}
		}
	}
	if len(s.start) == 0 {
		return nil, fmt.Errorf("unit %s has no ExecStart", name)
	}
	return s, nil
}

func (s *service) set(key, value string) error {
	switch key {
	case "ExecStartPre", "ExecStart", "ExecStartPost", "ExecStopPost":
		argv, err := splitWords(value)
		if err != nil || len(argv) == 0 {
			return fmt.Errorf("cannot read %q", value)
		}
		list := map[string]*[][]string{"ExecStartPre": &s.pre, "ExecStart": &s.start, "ExecStartPost": &s.post, "ExecStopPost": &s.stopPost}[key]
		*list = append(*list, argv)
	case "User":
		s.user = value
	case "WorkingDirectory":
		s.dir = value
	case "Type":
		s.oneshot = value == "oneshot"
	case "Restart":
		s.restart = value
	case "RestartSec":
		d, err := seconds(value)
		s.restartDelay = d
		return err
	case "RestartMaxDelaySec":
		d, err := seconds(value)
		s.restartMax = d
		return err
	case "RestartSteps":
		n, err := strconv.Atoi(value)
		s.restartSteps = n
		return err
	case "EnvironmentFile":
		s.envFiles = append(s.envFiles, value)
	case "Environment":
		words, err := splitWords(value)
		if err != nil {
			return err
		}
		for _, w := range words {
			k, v, _ := strings.Cut(w, "=")
			s.env[k] = v
		}
	case "StandardOutput":
		s.stdout = strings.TrimPrefix(strings.TrimPrefix(value, "append:"), "file:")
	case "StandardError":
		s.stderr = strings.TrimPrefix(strings.TrimPrefix(value, "append:"), "file:")
	}
	return nil
}

// delay is how long to wait before a unit starts again: from RestartSec to
// RestartMaxDelaySec by equal factors over RestartSteps (systemd.service(5)).
func (s *service) delay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restartSteps == 0 || s.restartMax <= s.restartDelay || s.restartDelay == 0 {
		return s.restartDelay
	}
	if s.restarts >= s.restartSteps {
		return s.restartMax
	}
	factor := math.Pow(float64(s.restartMax)/float64(s.restartDelay), float64(s.restarts)/float64(s.restartSteps))
	return time.Duration(float64(s.restartDelay) * factor)
}

func seconds(v string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return time.Duration(n * float64(time.Second)), nil
	}
	return time.ParseDuration(v)
}

// splitWords splits as systemd does: blanks separate, quotes keep together.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	in := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed %c", quote)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// environment is the unit's own variables: its files' over the inline ones, what
// it was started with over both.
func (s *service) environment() (map[string]string, error) {
	env := map[string]string{}
	for k, v := range s.env {
		env[k] = v
	}
	for _, path := range s.envFiles {
		optional := strings.HasPrefix(path, "-")
		f, err := os.Open(strings.TrimPrefix(path, "-"))
		if err != nil {
			if optional && errors.Is(err, os.ErrNotExist) {
				continue
			}
			return nil, err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			line := strings.TrimSpace(lines.Text())
			if k, v, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
				env[k] = strings.Trim(v, `"'`)
			}
		}
		f.Close()
	}
	maps.Copy(env, s.given)
	return env, nil
}
