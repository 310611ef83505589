package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/emr-observatory/emr-observatory/internal/local"
)

// defaultStack is the stack of the local cloud.
const defaultStack = "local"

// settings are the flags of all commands.
type settings struct {
	state, stack string
	stackGiven   bool // --stack was given; only doctor sets it
}

// command returns a command of this program for sh, as it was called, on the same local
// cloud and stack.
func (s *settings) command(words ...string) string {
	line := []string{os.Args[0]}
	if s.state != "" {
		line = append(line, "--state", s.state)
	}
	if s.stack != "" && s.stack != defaultStack {
		line = append(line, "--stack", s.stack)
	}
	line = append(line, words...)
	for i, word := range line {
		line[i] = wordOf(word)
	}
	return strings.Join(line, " ")
}

// platform returns the stack on the local cloud that the flags select.
func (s *settings) platform() (local.Platform, error) {
	project, err := projectDir()
	if err != nil {
		return local.Platform{}, err
	}
	state, err := s.stateDir()
	return local.Platform{Project: project, State: state, Stack: s.stack}, err
}

// stateDir returns the folder of the local cloud.
func (s *settings) stateDir() (string, error) {
	if s.state != "" {
		return filepath.Abs(s.state)
	}
	dir, err := projectDir()
	return filepath.Join(dir, ".state"), err
}

// projectDir returns the checkout: the nearest folder with Pulumi.yaml upward from
// the working folder, or else from this program.
func projectDir() (string, error) {
	starts := []string{"."}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		dir, err := filepath.Abs(start)
		if err != nil {
			return "", fmt.Errorf("find the checkout: %w", err)
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "Pulumi.yaml")); err == nil {
				return dir, nil
			}
			if filepath.Dir(dir) == dir {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	return "", errors.New("no Pulumi.yaml here or above: run this in a checkout of emr-observatory")
}

// machinedPath returns the path of machined, which `make build` puts beside this
// program.
func machinedPath() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(exe), "machined")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `make build`", path)
	}
	return path, nil
}
