package observe

import (
	"encoding/json"
	"fmt"

	"github.com/emr-observatory/emr-observatory/schema"
)

// The shape of a security configuration (EMR Management Guide, "Specify
// encryption options", "Configure IMDS", "Specifying Kerberos settings using the AWS CLI",
// "Runtime roles for Amazon EMR steps").
type (
	securityDocument struct {
		EncryptionConfiguration              encryptionConfiguration
		InstanceMetadataServiceConfiguration metadataConfiguration
		AuthenticationConfiguration          *authenticationConfiguration `json:",omitempty"`
		AuthorizationConfiguration           *authorizationConfiguration  `json:",omitempty"`
	}
	authenticationConfiguration struct {
		KerberosConfiguration kerberosConfiguration
	}
	kerberosConfiguration struct {
		Provider                         string
		ClusterDedicatedKdcConfiguration kdcConfiguration
	}
	kdcConfiguration struct {
		TicketLifetimeInHours        int
		CrossRealmTrustConfiguration *trustConfiguration `json:",omitempty"`
	}
	trustConfiguration struct {
		Realm       string
		Domain      string
		AdminServer string
		KDCServer   string `json:"KdcServer"`
	}
	authorizationConfiguration struct {
		IAMConfiguration stepRoles
	}
	stepRoles struct {
		EnableApplicationScopedIAMRole        bool
		ApplicationScopedIAMRoleConfiguration *sourceIdentity `json:",omitempty"`
	}
	sourceIdentity struct {
		PropagateSourceIdentity bool
	}
	encryptionConfiguration struct {
		EnableAtRestEncryption        bool
		EnableInTransitEncryption     bool
		AtRestEncryptionConfiguration atRestConfiguration

		InTransitEncryptionConfiguration *inTransitConfiguration `json:",omitempty"`
	}
	inTransitConfiguration struct {
		TLSCertificateConfiguration certificateConfiguration
	}
	certificateConfiguration struct {
		CertificateProviderType string
		S3Object                string
	}
	atRestConfiguration struct {
		LocalDiskEncryptionConfiguration diskEncryption
	}
	diskEncryption struct {
		EncryptionKeyProviderType string
		AwsKmsKey                 string
		EnableEbsEncryption       bool
	}
	metadataConfiguration struct {
		MinimumInstanceMetadataServiceVersion int
		HTTPPutResponseHopLimit               int `json:"HttpPutResponseHopLimit"`
	}
)

// SecurityConfigurationOf renders the security configuration of a cluster, whose key
// encrypts its disks.
func SecurityConfigurationOf(c schema.Cluster, keyARN string) (string, error) {
	j, err := json.Marshal(securityDocumentFor(c, keyARN))
	if err != nil {
		return "", fmt.Errorf("render security configuration: %w", err)
	}
	return string(j), nil
}

// securityDocumentFor encrypts every disk with the stack's key, and requires IMDSv2 with
// a hop limit of 1, which suffices because nothing on an EMR node runs in a network
// namespace of its own. The rest is what the cluster asks for.
//
// It has no S3EncryptionConfiguration, which AtRestEncryptionConfiguration may lack (EMR
// Management Guide, "Encryption options": "EMRFS data in Amazon S3, data in local disks,
// or both"). Its mode is that of every bucket a job writes to, and its Overrides only
// choose another mode for some: none leaves the choice to the bucket. Objects of other
// teams would have the stack's key, which their readers may not use. So a bucket's own
// default encryption decides, which in the data bucket is the stack's key.
func securityDocumentFor(c schema.Cluster, keyARN string) securityDocument {
	d := securityDocument{
		EncryptionConfiguration: encryptionConfiguration{
			EnableAtRestEncryption: true,
			AtRestEncryptionConfiguration: atRestConfiguration{
				LocalDiskEncryptionConfiguration: diskEncryption{EncryptionKeyProviderType: "AwsKms", AwsKmsKey: keyARN, EnableEbsEncryption: true},
			},
		},
		InstanceMetadataServiceConfiguration: metadataConfiguration{MinimumInstanceMetadataServiceVersion: 2, HTTPPutResponseHopLimit: 1},
	}
	if c.Encryption.InTransit() {
		d.EncryptionConfiguration.EnableInTransitEncryption = true
		d.EncryptionConfiguration.InTransitEncryptionConfiguration = &inTransitConfiguration{certificateConfiguration{
			CertificateProviderType: "PEM", S3Object: c.Encryption.Certificates,
		}}
	}
	d.AuthenticationConfiguration = authentication(c.Kerberos)
	if r := c.RuntimeRoles; r.Enabled() {
		d.AuthorizationConfiguration = &authorizationConfiguration{stepRoles{EnableApplicationScopedIAMRole: true}}
		if r.PropagateSourceIdentity {
			d.AuthorizationConfiguration.IAMConfiguration.ApplicationScopedIAMRoleConfiguration = &sourceIdentity{true}
		}
	}
	return d
}

// authentication renders a KDC on the cluster's own primary node.
func authentication(k *schema.Kerberos) *authenticationConfiguration {
	if k == nil {
		return nil
	}
	kdc := kdcConfiguration{TicketLifetimeInHours: k.TicketLifetimeHours}
	if t := k.Trust; t != nil {
		kdc.CrossRealmTrustConfiguration = &trustConfiguration{
			Realm: t.Realm, Domain: t.Domain, AdminServer: t.AdminServer, KDCServer: t.KDCServer,
		}
	}
	return &authenticationConfiguration{kerberosConfiguration{Provider: "ClusterDedicatedKdc", ClusterDedicatedKdcConfiguration: kdc}}
}
