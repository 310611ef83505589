package provider

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
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"golang.org/x/crypto/ssh"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// makers are the types that are made once and are real: keys, certificates,
// random values.
func makers() map[string]func(Request) (Result, error) {
	return map[string]func(Request) (Result, error){
		"tls:index/privateKey:PrivateKey":               privateKey,
		"tls:index/certRequest:CertRequest":             certRequest,
		"tls:index/selfSignedCert:SelfSignedCert":       selfSignedCert,
		"tls:index/locallySignedCert:LocallySignedCert": locallySignedCert,
		"random:index/randomPassword:RandomPassword":    randomPassword,
		"random:index/randomString:RandomString":        randomString,
		"random:index/randomId:RandomId":                randomID,
		"random:index/randomBytes:RandomBytes":          randomBytes,
		"random:index/randomPet:RandomPet":              randomPet,
		"random:index/randomInteger:RandomInteger":      randomInteger,
		"random:index/randomUuid:RandomUuid":            randomUUID,
	}
}

// made is a result: the inputs and what was made of them. Keys listed in
// secret are marked so.
func made(r Request, id string, made map[string]any, secret ...string) Result {
	out := resource.PropertyMap{}
	for k, v := range r.Inputs {
		if !strings.HasPrefix(string(k), "__") {
			out[k] = v
		}
	}
	for k, v := range made {
		out[resource.PropertyKey(k)] = resource.NewPropertyValue(v)
	}
	for _, k := range secret {
		key := resource.PropertyKey(k)
		if v, ok := out[key]; ok && !v.IsSecret() {
			out[key] = resource.MakeSecret(v)
		}
	}
	return Result{ID: id, Outputs: out}
}

func privateKey(r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	key, defaults, err := generate(in)
	if err != nil {
		return Result{}, fmt.Errorf("create private key %s: %w", r.Name, err)
	}
	private, err := privatePEM(key)
	if err != nil {
		return Result{}, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Result{}, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return Result{}, err
	}
	outputs := map[string]any{
		"privateKeyPem":      private,
		"privateKeyPemPkcs8": block("PRIVATE KEY", pkcs8),
		"publicKeyPem":       block("PUBLIC KEY", public),
	}
	for k, v := range defaults {
		outputs[k] = v
	}
	for k, v := range openSSH(key) {
		outputs[k] = v
	}
	return made(r, fingerprint(public), outputs, "privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"), nil
}

// generate makes a key as pulumi-tls does, with its defaults: RSA 2048, P224.
func generate(in map[string]any) (crypto.Signer, map[string]any, error) {
	defaults := map[string]any{"ecdsaCurve": "P224", "rsaBits": 2048}
	if curve, ok := in["ecdsaCurve"].(string); ok {
		defaults["ecdsaCurve"] = curve
	}
	if bits, ok := in["rsaBits"].(float64); ok {
		defaults["rsaBits"] = int(bits)
	}
	var key crypto.Signer
	var err error
	switch in["algorithm"] {
	case "RSA":
		key, err = rsa.GenerateKey(rand.Reader, defaults["rsaBits"].(int)) //nolint:forcetypeassert // set above
	case "ECDSA":
		curves := map[string]elliptic.Curve{"P224": elliptic.P224(), "P256": elliptic.P256(), "P384": elliptic.P384(), "P521": elliptic.P521()}
		key, err = ecdsa.GenerateKey(curves[defaults["ecdsaCurve"].(string)], rand.Reader) //nolint:forcetypeassert // set above
	case "ED25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		err = fmt.Errorf("algorithm %v", in["algorithm"])
	}
	return key, defaults, err
}

func privatePEM(key crypto.Signer) (string, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k)), nil
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(k)
		return block("EC PRIVATE KEY", der), err
	default:
		der, err := x509.MarshalPKCS8PrivateKey(key)
		return block("PRIVATE KEY", der), err
	}
}

// openSSH gives the key's OpenSSH forms; P224 has none and they are empty.
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

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// parseKey reads a private key in any of the forms that privateKey gives.
func parseKey(text string) (crypto.Signer, string, error) {
	b, _ := pem.Decode([]byte(text))
	if b == nil {
		return nil, "", errors.New("privateKeyPem: no PEM block")
	}
	if k, err := x509.ParsePKCS1PrivateKey(b.Bytes); err == nil {
		return k, "RSA", nil
	}
	if k, err := x509.ParseECPrivateKey(b.Bytes); err == nil {
		return k, "ECDSA", nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(b.Bytes)
	if err != nil {
		return nil, "", errors.New("privateKeyPem: not an RSA, EC or PKCS#8 private key")
	}
	switch k := parsed.(type) {
	case *rsa.PrivateKey:
		return k, "RSA", nil
	case *ecdsa.PrivateKey:
		return k, "ECDSA", nil
	case ed25519.PrivateKey:
		return k, "ED25519", nil
	default:
		return nil, "", fmt.Errorf("privateKeyPem: unsupported key %T", parsed)
	}
}
