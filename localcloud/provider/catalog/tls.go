package catalog

import (
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
)

// tlsTypes gives the resource types of the tls package.
func tlsTypes() map[string]Type {
	return map[string]Type{
		"tls:index/privateKey:PrivateKey":               typ(tls.PrivateKeyArgs{}, tls.PrivateKeyState{}),
		"tls:index/selfSignedCert:SelfSignedCert":       typ(tls.SelfSignedCertArgs{}, tls.SelfSignedCertState{}, "allowedUses"),
		"tls:index/certRequest:CertRequest":             typ(tls.CertRequestArgs{}, tls.CertRequestState{}),
		"tls:index/locallySignedCert:LocallySignedCert": typ(tls.LocallySignedCertArgs{}, tls.LocallySignedCertState{}, "allowedUses"),
	}
}
