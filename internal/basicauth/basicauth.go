// Package basicauth protects a server's requests by one user's password, which is in a file. It reads
// the files of other servers' secrets, too.
//
// It knows no TLS: whoever serves it outside of a pod network has to.
package basicauth

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"

	"github.com/emr-observatory/emr-observatory/platform"
)

// MinBytes is the shortest secret: a truncated or empty file must not become one.
const MinBytes = 16

// Read reads the password of platform.StatusUser from a file.
func Read(file string) (string, error) {
	return ReadSecret(file, "the password of the user "+platform.StatusUser)
}

// ReadSecret reads a secret from a file, without the white space around it. what names the secret in
// the error of a file that cannot be read.
func ReadSecret(file, what string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%w; give a file with %s", err, what)
	}
	secret := bytes.TrimSpace(raw)
	if len(secret) < MinBytes {
		return "", fmt.Errorf("%s: %d bytes: must have %d or more; generate a longer one", file, len(secret), MinBytes)
	}
	return string(secret), nil
}

// Require passes requests of platform.StatusUser with this password on, and rejects others.
func Require(password string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(platform.StatusUser + ":" + password))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, given, _ := r.BasicAuth()
		got := sha256.Sum256([]byte(user + ":" + given)) // so that lengths are equal
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Basic realm=%q, charset="UTF-8"`, platform.Name))
			http.Error(w, fmt.Sprintf("log in as %s with the password of the stack output statusPassword", platform.StatusUser),
				http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
