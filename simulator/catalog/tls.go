package catalog

import (
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
)

// tlsTypes lists the resource types of the tls package.
func tlsTypes() []Type {
	return []Type{
		typ(tls.PrivateKeyArgs{}, tls.PrivateKeyState{}),
		typ(tls.SelfSignedCertArgs{}, tls.SelfSignedCertState{}, "allowedUses"),
		typ(tls.CertRequestArgs{}, tls.CertRequestState{}),
		typ(tls.LocallySignedCertArgs{}, tls.LocallySignedCertState{}, "allowedUses"),
	}
}
