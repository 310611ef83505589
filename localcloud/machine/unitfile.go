package machine

import (
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

// unitDir holds the unit files, as on a node.
const unitDir = "/etc/systemd/system"

// service is a service unit: the supported options of its file, and its state.
// Hardening and resource limits are ignored: systemd applies them on a real node, but
// not every host allows namespaces within namespaces.
type service struct {
	name                     string
	pre, start, post         [][]string // ExecStartPre=, ExecStart=, ExecStartPost=
	user, dir                string
	env                      map[string]string // Environment=
	envFiles                 []string
	startEnv                 map[string]string // of UnitStart
	restart                  string
	restartDelay, restartMax time.Duration
	restartSteps             int
	oneshot                  bool
	stdout, stderr           string

	cancel context.CancelFunc
	done   chan struct{} // closed once none of its processes runs

	mu            sync.Mutex
	pid, restarts int
	active        bool
	result        string
}

// loadUnit reads a unit file.
func loadUnit(name string) (*service, error) {
	name = unitFileName(name)
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
			if err := s.setOption(o.Name, o.Value); err != nil {
				return nil, fmt.Errorf("unit %s: %s: %w", name, o.Name, err)
			}
		}
	}
	if len(s.start) == 0 {
		return nil, fmt.Errorf("unit %s has no ExecStart", name)
	}
	return s, nil
}

// setOption sets an option of the section [Service]; it ignores unsupported ones.
func (s *service) setOption(key, value string) error {
	switch key {
	case "ExecStartPre":
		return appendCommand(&s.pre, value)
	case "ExecStart":
		return appendCommand(&s.start, value)
	case "ExecStartPost":
		return appendCommand(&s.post, value)
	case "User":
		s.user = value
	case "WorkingDirectory":
		s.dir = value
	case "Type":
		s.oneshot = value == "oneshot"
	case "Restart":
		s.restart = value
	case "RestartSec":
		return parseSeconds(&s.restartDelay, value)
	case "RestartMaxDelaySec":
		return parseSeconds(&s.restartMax, value)
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
		s.stdout = outputFile(value)
	case "StandardError":
		s.stderr = outputFile(value)
	}
	return nil
}

// outputFile returns the path that StandardOutput= or StandardError= names; other
// values are returned as they are.
func outputFile(value string) string {
	return strings.TrimPrefix(strings.TrimPrefix(value, "append:"), "file:")
}

func appendCommand(list *[][]string, line string) error {
	argv, err := splitWords(line)
	if err != nil || len(argv) == 0 {
		return fmt.Errorf("%q: not a command line", line)
	}
	*list = append(*list, argv)
	return nil
}

// delay returns the pause before the next restart: it grows from RestartSec= to
// RestartMaxDelaySec= by a constant factor over RestartSteps= (systemd.service(5)).
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

// parseSeconds reads a time span: a number of seconds, or units as in 1m30s.
func parseSeconds(into *time.Duration, value string) error {
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		*into = time.Duration(n * float64(time.Second))
		return nil
	}
	var err error
	*into, err = time.ParseDuration(value)
	return err
}

// splitWords splits a command line at blanks outside quotes, as systemd does.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed %c", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// environment returns the unit's variables. Those of files override inline ones, and
// those of the start request override both.
func (s *service) environment() (map[string]string, error) {
	env := maps.Clone(s.env)
	for _, path := range s.envFiles {
		file, optional := strings.CutPrefix(path, "-")
		raw, err := os.ReadFile(file)
		if err != nil && (!optional || !errors.Is(err, os.ErrNotExist)) {
			return nil, fmt.Errorf("read EnvironmentFile=%s: %w", path, err)
		}
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSpace(line)
			if k, v, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
				env[k] = strings.Trim(v, `"'`)
			}
		}
	}
	maps.Copy(env, s.startEnv)
	return env, nil
}
