package observe

import (
	"encoding/json"
	"fmt"

	"github.com/emr-observatory/emr-observatory/schema"
)

// The shape of a security configuration (EMR Management Guide, "Specify
// encryption options", "Configure IMDS").
type (
	securityDocument struct {
		EncryptionConfiguration              encryptionConfiguration
		InstanceMetadataServiceConfiguration metadataConfiguration
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
		S3EncryptionConfiguration        s3Encryption
		LocalDiskEncryptionConfiguration diskEncryption
	}
	s3Encryption struct {
		EncryptionMode string
		AwsKmsKey      string
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
// encrypts its data.
func SecurityConfigurationOf(c schema.Cluster, keyARN string) (string, error) {
	j, err := json.Marshal(securityDocumentFor(c, keyARN))
	if err != nil {
		return "", fmt.Errorf("render security configuration: %w", err)
	}
	return string(j), nil
}

// securityDocumentFor encrypts data in S3 and every disk with one key, and
// requires IMDSv2 with a hop limit of 1, which suffices because nothing on an EMR
// node runs in a network namespace of its own. The rest is what the cluster asks for.
func securityDocumentFor(c schema.Cluster, keyARN string) securityDocument {
	d := securityDocument{
		EncryptionConfiguration: encryptionConfiguration{
			EnableAtRestEncryption: true,
			AtRestEncryptionConfiguration: atRestConfiguration{
				S3EncryptionConfiguration:        s3Encryption{EncryptionMode: "SSE-KMS", AwsKmsKey: keyARN},
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
	return d
}
