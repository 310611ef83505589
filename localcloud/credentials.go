package localcloud

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// Credentials are the one key pair of the local AWS account, made with the
// state folder and kept in it, readable by its owner only.
type Credentials struct {
	AccessKeyID, SecretAccessKey string
	// Passphrase encrypts the stack's secrets in the engine's state.
	Passphrase string
}

// LoadCredentials reads the credentials of a state folder, making them first
// where there are none.
func LoadCredentials(state string) (Credentials, error) {
	path := filepath.Join(state, "credentials.json")
	var c Credentials
	raw, err := os.ReadFile(path)
	if err == nil {
		return c, json.Unmarshal(raw, &c)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return c, err
	}
	if err := os.MkdirAll(state, 0o755); err != nil {
		return c, err
	}
	c = Credentials{AccessKeyID: "AKIA" + rand.Text()[:16], SecretAccessKey: rand.Text() + rand.Text()[:14], Passphrase: rand.Text()}
	raw, err = json.Marshal(c)
	if err != nil {
		return c, err
	}
	return c, os.WriteFile(path, raw, 0o600)
}
