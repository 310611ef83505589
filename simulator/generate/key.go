package generate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// privateKey creates the only keys that programs here have.
func privateKey(in map[string]any) (generated, error) {
	if in["algorithm"] != "ECDSA" || in["ecdsaCurve"] != "P256" {
		return generated{}, fmt.Errorf("algorithm %v with ecdsaCurve %v: the simulator generates keys of ECDSA on P256 only",
			in["algorithm"], in["ecdsaCurve"])
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return generated{}, err
	}
	private, privateErr := x509.MarshalECPrivateKey(key)
	pkcs8, pkcs8Err := x509.MarshalPKCS8PrivateKey(key)
	public, publicErr := x509.MarshalPKIXPublicKey(key.Public())
	values, sshErr := openSSH(key)
	if err := errors.Join(privateErr, pkcs8Err, publicErr, sshErr); err != nil {
		return generated{}, err
	}
	g := generated{
		id: fingerprint(public), values: values, secrets: []string{"privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"},
	}
	g.values["privateKeyPem"] = encodePEM("EC PRIVATE KEY", private)
	g.values["privateKeyPemPkcs8"] = encodePEM("PRIVATE KEY", pkcs8)
	g.values["publicKeyPem"] = encodePEM("PUBLIC KEY", public)
	g.values["rsaBits"] = 2048 // pulumi-tls's default, whatever the algorithm
	return g, nil
}

// openSSH returns the key in OpenSSH's formats.
func openSSH(key crypto.Signer) (map[string]any, error) {
	public, publicErr := ssh.NewPublicKey(key.Public())
	private, privateErr := ssh.MarshalPrivateKey(key, "")
	if err := errors.Join(publicErr, privateErr); err != nil {
		return nil, err
	}
	return map[string]any{
		"privateKeyOpenssh": string(pem.EncodeToMemory(private)), "publicKeyOpenssh": string(ssh.MarshalAuthorizedKey(public)),
		"publicKeyFingerprintMd5": ssh.FingerprintLegacyMD5(public), "publicKeyFingerprintSha256": ssh.FingerprintSHA256(public),
	}, nil
}

func encodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// parseKey reads the input key, a private key in any of privateKey's PEM
// formats, and returns it with the name of its algorithm.
func parseKey(in map[string]any, input string) (crypto.Signer, string, error) {
	b, _ := pem.Decode([]byte(text(in, input)))
	if b == nil {
		return nil, "", fmt.Errorf("%s: no PEM block", input)
	}
	key, err := ssh.ParseRawPrivateKey([]byte(text(in, input)))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", input, err)
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return k, "RSA", nil
	case *ecdsa.PrivateKey:
		return k, "ECDSA", nil
	case ed25519.PrivateKey:
		return k, "ED25519", nil
	default:
		return nil, "", fmt.Errorf("%s: unsupported key type %T", input, key)
	}
}
