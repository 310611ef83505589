package canary_test

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/tests/canary"
)

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

func gzipText(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// A secret is found in every encoding and after any prefix. The same text with
// another secret has no leak.
func TestFindsEncodedSecrets(t *testing.T) {
	key, password := privateKey(t), "Zk3+/qW8 x&1vTr9nBm"
	search, err := canary.New(nil, canary.Secret{Name: "key", Value: key}, canary.Secret{Name: "password", Value: password})
	require.NoError(t, err)
	inJSON := func(s string) string {
		b, err := json.Marshal(s)
		require.NoError(t, err)
		return string(b)
	}
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	encodings := map[string]func(string) string{
		"plain":            func(s string) string { return s },
		"JSON":             inJSON,
		"JSON in JSON":     func(s string) string { return inJSON(inJSON(s)) },
		"base64":           b64,
		"base64 of URLs":   func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"base64 of base64": func(s string) string { return b64("key: " + b64(s)) },
		"hex":              func(s string) string { return hex.EncodeToString([]byte(s)) },
		"URL":              url.QueryEscape,
		"Windows' breaks":  func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"indented":         func(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") },
		"gzip":             func(s string) string { return gzipText(t, s) },
	}
	for name, encode := range encodings {
		for _, before := range []string{"", "a", "ab", "abc", "admin:"} {
			for _, secret := range []struct{ name, value string }{{"key", key}, {"password", password}} {
				if strings.HasPrefix(name, "JSON") && secret.name == "password" {
					continue // JSON escapes its &, which no password of the program contains
				}
				leaks := search.Search("here", []byte(encode(before+secret.value+"z")))
				require.NotEmpty(t, leaks, "%s, %q before", name, before)
				for _, l := range leaks {
					require.Equal(t, secret.name, l.Secret)
					require.NotContains(t, l.String(), password)
				}
			}
			require.Empty(t, search.Search("here", []byte(encode(before+privateKey(t)+"harmless and long enough"))), "%s, %q before", name, before)
		}
	}
}

func TestSearchTree(t *testing.T) {
	dir := t.TempDir()
	search, err := canary.New(nil, canary.Secret{Name: "password", Value: "correct-horse-battery"})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "correct-horse-battery"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b"), []byte("admin:correct-horse-battery"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c"), []byte("clean"), 0o600))
	leaks, files, err := search.SearchTree(dir)
	require.NoError(t, err)
	require.Equal(t, 2, files)
	require.Equal(t, []canary.Leak{
		{Secret: "password", Source: "a/b", Form: "plain", Offset: 6},
		{Secret: "password", Source: "the name of a/correct-horse-battery", Form: "plain", Offset: 2},
	}, leaks)
	_, _, err = search.SearchTree(filepath.Join(dir, "absent"))
	require.Error(t, err)
}

// A private key's file contains the public key, which may occur anywhere.
func TestIgnoresPublicLines(t *testing.T) {
	const public, private = "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY", "oSQDIgADkqhP1bLvk0rIv0bCk1Wk3hS"
	search, err := canary.New([]string{"ssh " + public + " me"}, canary.Secret{Name: "key", Value: public + "\n" + private})
	require.NoError(t, err)
	require.Empty(t, search.Search("", []byte(public)))
	require.NotEmpty(t, search.Search("", []byte(private)))
	_, err = canary.New([]string{public}, canary.Secret{Name: "key", Value: public})
	require.ErrorContains(t, err, "key")
}

func TestRejectsShortSecrets(t *testing.T) {
	_, err := canary.New(nil, canary.Secret{Name: "pin", Value: "1234"})
	require.ErrorContains(t, err, "pin")
	require.NotContains(t, err.Error(), "1234")
}
