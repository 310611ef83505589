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

// Profile names the local AWS account in ProfileFile.
const Profile = "observatory-local"

// ProfileFile returns the path of the file from which the AWS CLI and SDKs read how they get the
// key pair (AWS_CONFIG_FILE).
func ProfileFile(state string) string { return filepath.Join(state, "aws-config") }

// WriteProfile writes that file. It has no secret: the program, which has the command credentials,
// prints the key pair when a client asks for it. Both paths must be absolute: clients run anywhere.
func WriteProfile(state, program string) error {
	text := fmt.Sprintf("[profile %s]\nregion = %s\ncredential_process = \"%s\" --state \"%s\" credentials\n",
		Profile, AWSRegion, program, state)
	if err := os.WriteFile(ProfileFile(state), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the profile of AWS clients: %w", err)
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
