package kube

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

func emptyObjects() objects {
	return objects{
		ConfigMaps: map[string]corev1.ConfigMap{}, Secrets: map[string]corev1.Secret{}, Services: map[string]corev1.Service{},
		Workloads: map[string]workload{}, Addresses: map[string]string{},
	}
}

// Open reads the objects of an earlier run; Restore starts their pods.
func (r *Runner) Open() error {
	r.objects = emptyObjects()
	if err := r.load(); err != nil {
		return fmt.Errorf("open Kubernetes objects: %w", err)
	}
	return nil
}

func (r *Runner) load() error {
	raw, err := os.ReadFile(r.stateFile())
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(r.Dir, 0o700)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &r.objects); err != nil {
		return fmt.Errorf("%s: %w", r.stateFile(), err)
	}
	if len(r.objects.Sealed) == 0 {
		return nil
	}
	if err := r.decrypt(r.objects.Sealed, &r.objects.Secrets); err != nil {
		return fmt.Errorf("%s: decrypt Secrets with this key: %w; remove the file, then up creates them again", r.stateFile(), err)
	}
	return nil
}

func (r *Runner) stateFile() string { return filepath.Join(r.Dir, "objects.json") }

// change changes the objects and writes them.
func (r *Runner) change(apply func(*objects)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	apply(&r.objects)
	if err := r.save(); err != nil {
		return fmt.Errorf("write Kubernetes objects: %w", err)
	}
	return nil
}

// save writes the state; the caller holds the lock.
func (r *Runner) save() error {
	var err error
	if r.objects.Sealed, err = r.encrypt(r.objects.Secrets); err != nil {
		return err
	}
	raw, err := json.Marshal(r.objects)
	if err != nil {
		return err
	}
	tmp := r.stateFile() + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, r.stateFile())
}

// cipher returns the cipher for Secrets in the state.
func (r *Runner) cipher() (cipher.AEAD, error) {
	if r.Key == "" {
		return nil, errors.New("no key to encrypt Secrets with")
	}
	sum := sha256.Sum256([]byte(r.Key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (r *Runner) encrypt(v any) ([]byte, error) {
	aead, err := r.cipher()
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, plain, nil), nil //nolint:gosec // NewGCMWithRandomNonce draws the nonce
}

func (r *Runner) decrypt(sealed []byte, v any) error {
	aead, err := r.cipher()
	if err != nil {
		return err
	}
	plain, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}
