package localcloud

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Credentials are the key pair of the local AWS account. They are kept in the
// state folder, readable by its owner only.
type Credentials struct {
	AccessKeyID, SecretAccessKey string
	// Passphrase encrypts the stack's secrets in the engine's state.
	Passphrase string
}

// LoadCredentials reads the credentials of a state folder, or creates them.
func LoadCredentials(state string) (Credentials, error) {
	path := filepath.Join(state, "credentials.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return createCredentials(path)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("read credentials: %w", err)
	}
	var c Credentials
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("read credentials from %s: %w", path, err)
	}
	return c, nil
}

// Profile names the key pair of the local AWS account in SharedCredentialsFile.
const Profile = "observatory-local"

// SharedCredentialsFile returns the path of the file from which the AWS CLI and SDKs read the
// key pair (AWS_SHARED_CREDENTIALS_FILE), so that no secret is in an argument.
func SharedCredentialsFile(state string) string { return filepath.Join(state, "aws-credentials") }

// WriteSharedCredentials writes that file, for its owner only.
func WriteSharedCredentials(state string) error {
	c, err := LoadCredentials(state)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", Profile, c.AccessKeyID, c.SecretAccessKey)
	if err := os.WriteFile(SharedCredentialsFile(state), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	return nil
}

func createCredentials(path string) (Credentials, error) {
	c := Credentials{
		AccessKeyID: "AKIA" + rand.Text()[:16], SecretAccessKey: rand.Text() + rand.Text()[:14], Passphrase: rand.Text(),
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return c, fmt.Errorf("create credentials: %w", err)
	}
	raw, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil {
		return c, fmt.Errorf("create credentials: %w", err)
	}
	return c, nil
}
