package ec2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// Where cloud-init keeps the script of runcmd and the script's output.
const (
	runcmdScript = "/var/lib/cloud/instance/scripts/runcmd"
	outputLog    = "/var/log/cloud-init-output.log"
)

// cloudConfig is the supported part of cloud-init's format.
type cloudConfig struct {
	WriteFiles []writeFile `json:"write_files"`
	RunCmd     []any       `json:"runcmd"`
}

type writeFile struct {
	Path        string `json:"path"`
	Content     string `json:"content"`
	Encoding    string `json:"encoding"`
	Permissions string `json:"permissions"`
}

// parseUserData parses user data. It refuses what the local cloud does not
// implement, and reports every violation at once.
func parseUserData(text string) (cloudConfig, error) {
	var c cloudConfig
	if text == "" {
		return c, nil
	}
	if !strings.HasPrefix(text, "#cloud-config\n") {
		return c, errors.New("the local cloud reads #cloud-config with write_files and runcmd only")
	}
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		return c, fmt.Errorf("the local cloud reads write_files and runcmd only: %w", err)
	}
	var violations []error
	for i, f := range c.WriteFiles {
		for _, err := range f.violations() {
			violations = append(violations, fmt.Errorf("write_files[%d].%w", i, err))
		}
	}
	if _, err := shellScript(c.RunCmd); err != nil {
		violations = append(violations, err)
	}
	return c, errors.Join(violations...)
}

// violations returns what the local cloud does not support in f.
func (f writeFile) violations() []error {
	var violations []error
	if !filepath.IsAbs(f.Path) {
		violations = append(violations, fmt.Errorf("path: %q: must be absolute", f.Path))
	}
	if f.Encoding != "" {
		violations = append(violations, fmt.Errorf("encoding: %q: the local cloud writes content as it is; leave encoding out", f.Encoding))
	}
	if _, err := f.mode(); err != nil {
		violations = append(violations, fmt.Errorf("permissions: %q: must be octal, such as \"0644\"", f.Permissions))
	}
	return violations
}

// mode returns the file's mode; cloud-init's default is 0644.
func (f writeFile) mode() (os.FileMode, error) {
	mode, err := strconv.ParseUint(cmp.Or(f.Permissions, "0644"), 8, 12)
	return os.FileMode(mode), err
}

// shellScript renders runcmd as one script, as cloud-init does: a list is a command
// with its words quoted, a string is a line of shell. A failed command does not
// stop the next; the script's exit code is the last one's (cloud-init, module
// runcmd).
func shellScript(commands []any) (string, error) {
	lines := []string{"#!/bin/sh"}
	var violations []error
	for i, cmd := range commands {
		switch c := cmd.(type) {
		case string:
			lines = append(lines, c)
		case []any:
			words := make([]string, 0, len(c))
			for _, w := range c {
				words = append(words, "'"+strings.ReplaceAll(fmt.Sprint(w), "'", `'\''`)+"'")
			}
			lines = append(lines, strings.Join(words, " "))
		default:
			violations = append(violations, fmt.Errorf("runcmd[%d]: %v: must be a string or a list of words", i, cmd))
		}
	}
	return strings.Join(lines, "\n") + "\n", errors.Join(violations...)
}

// run executes the user data, as cloud-init does on the first boot.
func (c cloudConfig) run(ctx context.Context, m *region.Machine) error {
	for _, f := range c.WriteFiles {
		mode, err := f.mode()
		if err != nil {
			return err
		}
		if err := writeWithMode(filepath.Join(m.Root, f.Path), f.Content, mode); err != nil {
			return err
		}
	}
	if len(c.RunCmd) == 0 {
		return nil
	}
	script, err := shellScript(c.RunCmd)
	if err != nil {
		return err
	}
	if err := writeWithMode(filepath.Join(m.Root, runcmdScript), script, 0o700); err != nil {
		return err
	}
	res, err := m.Run(ctx, machine.Exec{Argv: []string{runcmdScript}, Stdout: outputLog, Stderr: outputLog})
	if err != nil {
		return err
	}
	if res.ExitCode != 0 {
		return fmt.Errorf("runcmd ended with %d; see %s", res.ExitCode, filepath.Join(m.Root, outputLog))
	}
	return nil
}

// writeWithMode writes a file with exactly this mode, whatever the umask.
func writeWithMode(path, content string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
