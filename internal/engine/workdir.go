package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

func backendDir(state string) string { return filepath.Join(state, "pulumi") }
func backendURL(state string) string { return "file://" + backendDir(state) }

// fillWorkDir copies the project's and the stack's file into a working folder: the
// engine writes configuration and the salt of the stack's secrets into the copies.
func fillWorkDir(dir string, o Options) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := "Pulumi." + o.Stack + ".yaml"
	for _, name := range []string{"Pulumi.yaml", file} {
		raw, err := os.ReadFile(filepath.Join(o.Project, name))
		if err != nil {
			return err
		}
		if name == file {
			if raw, err = keepSalt(raw, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// keepSalt adds the engine's own keys from an earlier run's copy (a path) to the
// stack's file (raw).
func keepSalt(raw []byte, earlier string) ([]byte, error) {
	copied, err := os.ReadFile(earlier)
	if errors.Is(err, os.ErrNotExist) {
		return raw, nil
	}
	if err != nil {
		return nil, err
	}
	var previous, current map[string]any
	if err := errors.Join(yaml.Unmarshal(copied, &previous), yaml.Unmarshal(raw, &current)); err != nil {
		return nil, fmt.Errorf("keep the salt of %s: %w", earlier, err)
	}
	for _, k := range []string{"encryptionsalt", "secretsprovider", "encryptedkey"} {
		if v, ok := previous[k]; ok {
			current[k] = v
		}
	}
	return yaml.Marshal(current)
}
