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

func privateKey(in map[string]any) (generated, error) {
	key, parameters, err := generateKey(in)
	if err != nil {
		return generated{}, err
	}
	private, err := privatePEM(key)
	if err != nil {
		return generated{}, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return generated{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return generated{}, err
	}
	g := generated{
		id: fingerprint(public), values: openSSH(key), secrets: []string{"privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"},
	}
	g.values["privateKeyPem"] = private
	g.values["privateKeyPemPkcs8"] = encodePEM("PRIVATE KEY", pkcs8)
	g.values["publicKeyPem"] = encodePEM("PUBLIC KEY", public)
	g.values["ecdsaCurve"], g.values["rsaBits"] = parameters.curve, parameters.bits
	return g, nil
}

type keyParameters struct {
	curve string
	bits  int
}

// generateKey creates a key with pulumi-tls's defaults: RSA with 2048 bits,
// ECDSA on P224.
func generateKey(in map[string]any) (crypto.Signer, keyParameters, error) {
	p := keyParameters{curve: "P224", bits: 2048}
	if curve := text(in, "ecdsaCurve"); curve != "" {
		p.curve = curve
	}
	if bits, ok := in["rsaBits"].(float64); ok {
		p.bits = int(bits)
	}
	var key crypto.Signer
	var err error
	switch in["algorithm"] {
	case "RSA":
		key, err = rsa.GenerateKey(rand.Reader, p.bits)
	case "ECDSA":
		curves := map[string]elliptic.Curve{
			"P224": elliptic.P224(), "P256": elliptic.P256(), "P384": elliptic.P384(), "P521": elliptic.P521(),
		}
		curve, known := curves[p.curve]
		if !known {
			return nil, p, fmt.Errorf("unknown curve %q", p.curve)
		}
		key, err = ecdsa.GenerateKey(curve, rand.Reader)
	case "ED25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		err = fmt.Errorf("unknown algorithm %v", in["algorithm"])
	}
	return key, p, err
}

// privatePEM encodes a key as pulumi-tls does, which depends on the algorithm.
func privatePEM(key crypto.Signer) (string, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return encodePEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k)), nil
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(k)
		return encodePEM("EC PRIVATE KEY", der), err
	default:
		der, err := x509.MarshalPKCS8PrivateKey(key)
		return encodePEM("PRIVATE KEY", der), err
	}
}

// openSSH returns the key in OpenSSH's formats. They are empty for P224, which
// OpenSSH does not support.
func openSSH(key crypto.Signer) map[string]any {
	out := map[string]any{"privateKeyOpenssh": "", "publicKeyOpenssh": "", "publicKeyFingerprintMd5": "", "publicKeyFingerprintSha256": ""}
	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		return out
	}
	out["publicKeyOpenssh"] = string(ssh.MarshalAuthorizedKey(public))
	out["publicKeyFingerprintMd5"] = ssh.FingerprintLegacyMD5(public)
	out["publicKeyFingerprintSha256"] = ssh.FingerprintSHA256(public)
	if b, err := ssh.MarshalPrivateKey(key, ""); err == nil {
		out["privateKeyOpenssh"] = string(pem.EncodeToMemory(b))
	}
	return out
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
	key, err := parseDER(b.Bytes)
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

// parseDER parses a private key in PKCS#1, SEC 1 or PKCS#8 form.
func parseDER(der []byte) (any, error) {
	if k, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParseECPrivateKey(der); err == nil {
		return k, nil
	}
	if k, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return k, nil
	}
	return nil, errors.New("not an RSA, EC or PKCS#8 private key")
}
