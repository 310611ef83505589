package certificate

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
)

// Created returns when resources were created, as RFC 3339, by the clock of the machine that
// runs Pulumi; not all resources say so themselves. It is the start of a certificate's
// validity. The certificate has their ids as its name (64 characters at most), and is issued
// again for others. Nobody uses it.
func Created(b child.Builder, role string, ids ...pulumi.StringInput) (pulumi.StringOutput, error) {
	key, err := privateKey(b, role+keySuffix)
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	name := output.Join(ids, func(v []string) (string, error) { return strings.Join(v, " "), nil })
	cert, err := tls.NewSelfSignedCert(b.Ctx, b.Name(role), &tls.SelfSignedCertArgs{
		PrivateKeyPem:       key.PrivateKeyPem,
		AllowedUses:         pulumi.ToStringArray([]string{"digital_signature"}),
		Subject:             tls.SelfSignedCertSubjectArgs{CommonName: name.ToStringPtrOutput()},
		ValidityPeriodHours: pulumi.Int(caHours), // an update would issue an expired one again
	}, b.Options()...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("create certificate %s: %w", b.Name(role), err)
	}
	return cert.ValidityStartTime, nil
}
