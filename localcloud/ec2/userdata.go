package ec2

import (
	"context"
	"encoding/base64"
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

// Where cloud-init keeps what it runs and what that prints.
const (
	runcmdScript = "/var/lib/cloud/instance/scripts/runcmd"
	outputLog    = "/var/log/cloud-init-output.log"
)

// cloudConfig is the part of cloud-init's format that is carried out.
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

// parseUserData reads user data and gives all its faults at once: what would
// not be carried out must not pass for done.
func parseUserData(l Launch) (cloudConfig, error) {
	var c cloudConfig
	text := l.UserData
	if l.Base64 {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return c, err
		}
		text = string(raw)
	}
	if text == "" {
		return c, nil
	}
	if !strings.HasPrefix(text, "#cloud-config\n") {
		return c, errors.New("the local cloud reads #cloud-config with write_files and runcmd only")
	}
	if err := yaml.UnmarshalStrict([]byte(text), &c); err != nil {
		return c, fmt.Errorf("the local cloud reads write_files and runcmd only: %w", err)
	}
	var faults []error
	for i, f := range c.WriteFiles {
		for _, err := range f.faults() {
			faults = append(faults, fmt.Errorf("write_files[%d].%w", i, err))
		}
	}
	if _, err := shellScript(c.RunCmd); err != nil {
		faults = append(faults, err)
	}
	return c, errors.Join(faults...)
}

func (f writeFile) faults() []error {
	var faults []error
	if !filepath.IsAbs(f.Path) {
		faults = append(faults, fmt.Errorf("path: %q: must be absolute", f.Path))
	}
	if f.Encoding != "" {
		faults = append(faults, fmt.Errorf("encoding: %q: the local cloud writes content as it is; leave encoding out", f.Encoding))
	}
	if _, err := f.mode(); err != nil {
		faults = append(faults, fmt.Errorf("permissions: %q: must be octal, such as \"0644\"", f.Permissions))
	}
	return faults
}

// mode is cloud-init's: 0644 where nothing is said.
func (f writeFile) mode() (os.FileMode, error) {
	if f.Permissions == "" {
		return 0o644, nil
	}
	mode, err := strconv.ParseUint(f.Permissions, 8, 12)
	return os.FileMode(mode), err
}

// shellScript joins runcmd into the one script that cloud-init makes of it: a
// list is a command with its words quoted, a string is a line of shell. A
// command that fails does not stop those after it; the last one's exit is the
// script's (cloud-init, module runcmd).
func shellScript(commands []any) (string, error) {
	lines := []string{"#!/bin/sh"}
	var faults []error
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
			faults = append(faults, fmt.Errorf("runcmd[%d]: %v: must be a string or a list of words", i, cmd))
		}
	}
	return strings.Join(lines, "\n") + "\n", errors.Join(faults...)
}

// run does what cloud-init does on an instance's first boot.
func (c cloudConfig) run(ctx context.Context, m *region.Machine) error {
	for _, f := range c.WriteFiles {
		mode, err := f.mode()
		if err != nil {
			return err
		}
		if err := writeAs(filepath.Join(m.Root, f.Path), f.Content, mode); err != nil {
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
	if err := writeAs(filepath.Join(m.Root, runcmdScript), script, 0o700); err != nil {
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

// writeAs writes a file with exactly this mode, whatever the umask.
func writeAs(path, content string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
