package generate

import (
	"crypto/x509"
	"maps"
	"slices"
)

// KeyUsages lists the values of allowedUses: key usages and extended key usages
// (terraform-provider-tls, internal/provider/types.go).
func KeyUsages() []string {
	return slices.Concat(slices.Sorted(maps.Keys(keyUsages())), slices.Sorted(maps.Keys(extendedKeyUsages())))
}

func keyUsages() map[string]x509.KeyUsage {
	return map[string]x509.KeyUsage{
		"digital_signature":  x509.KeyUsageDigitalSignature,
		"content_commitment": x509.KeyUsageContentCommitment,
		"key_encipherment":   x509.KeyUsageKeyEncipherment,
		"data_encipherment":  x509.KeyUsageDataEncipherment,
		"key_agreement":      x509.KeyUsageKeyAgreement,
		"cert_signing":       x509.KeyUsageCertSign,
		"crl_signing":        x509.KeyUsageCRLSign,
		"encipher_only":      x509.KeyUsageEncipherOnly,
		"decipher_only":      x509.KeyUsageDecipherOnly,
	}
}

func extendedKeyUsages() map[string]x509.ExtKeyUsage {
	return map[string]x509.ExtKeyUsage{
		"any_extended":                      x509.ExtKeyUsageAny,
		"server_auth":                       x509.ExtKeyUsageServerAuth,
		"client_auth":                       x509.ExtKeyUsageClientAuth,
		"code_signing":                      x509.ExtKeyUsageCodeSigning,
		"email_protection":                  x509.ExtKeyUsageEmailProtection,
		"ipsec_end_system":                  x509.ExtKeyUsageIPSECEndSystem,
		"ipsec_tunnel":                      x509.ExtKeyUsageIPSECTunnel,
		"ipsec_user":                        x509.ExtKeyUsageIPSECUser,
		"timestamping":                      x509.ExtKeyUsageTimeStamping,
		"ocsp_signing":                      x509.ExtKeyUsageOCSPSigning,
		"microsoft_server_gated_crypto":     x509.ExtKeyUsageMicrosoftServerGatedCrypto,
		"netscape_server_gated_crypto":      x509.ExtKeyUsageNetscapeServerGatedCrypto,
		"microsoft_commercial_code_signing": x509.ExtKeyUsageMicrosoftCommercialCodeSigning,
		"microsoft_kernel_code_signing":     x509.ExtKeyUsageMicrosoftKernelCodeSigning,
	}
}
