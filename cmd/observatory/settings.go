package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// settings are what every command knows.
type settings struct {
	state, stack string
	config       []string // key=value over the stack's file, for one run
	accepted     []string // logical names of what an up may lose
}

// projectDir is the checkout: the nearest folder upward that has Pulumi.yaml,
// from the working folder and then from the program itself.
func projectDir() (string, error) {
	starts := []string{"."}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		dir, err := filepath.Abs(start)
		if err != nil {
			return "", err
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

func (s *settings) stateDir() (string, error) {
	if s.state != "" {
		return filepath.Abs(s.state)
	}
	dir, err := projectDir()
	return filepath.Join(dir, ".state"), err
}

// check refuses a stack whose file or whose --config is faulty; all faults are
// told.
func (s *settings) check() error {
	_, err := s.read()
	return err
}

// read gives the stack's configuration, --config over its file.
func (s *settings) read() (config.Config, error) {
	dir, err := projectDir()
	if err != nil {
		return config.Config{}, err
	}
	_, cfg, err := config.ReadStackFile(dir, s.stack, s.config...)
	return cfg, err
}

// machined is the local cloud's second binary, beside this one.
func machined() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(exe), "machined")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `make build`", path)
	}
	return path, nil
}
