package emr

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
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

// securityDocumentFor encrypts data in S3 and every disk with one key, and
// requires IMDSv2 with a hop limit of 1, which suffices because nothing on an EMR
// node runs in a network namespace of its own.
func securityDocumentFor(keyARN string) securityDocument {
	return securityDocument{
		EncryptionConfiguration: encryptionConfiguration{
			EnableAtRestEncryption: true,
			AtRestEncryptionConfiguration: atRestConfiguration{
				S3EncryptionConfiguration:        s3Encryption{EncryptionMode: "SSE-KMS", AwsKmsKey: keyARN},
				LocalDiskEncryptionConfiguration: diskEncryption{EncryptionKeyProviderType: "AwsKms", AwsKmsKey: keyARN, EnableEbsEncryption: true},
			},
		},
		InstanceMetadataServiceConfiguration: metadataConfiguration{MinimumInstanceMetadataServiceVersion: 2, HTTPPutResponseHopLimit: 1},
	}
}

// createSecurityConfiguration creates the security configuration. It is
// immutable: an edit creates another under a new name and replaces the cluster.
func (b *builder) createSecurityConfiguration() (*emr.SecurityConfiguration, error) {
	document := output.Map(b.args.KMSKeyARN, func(arn string) (string, error) {
		j, err := json.Marshal(securityDocumentFor(arn))
		if err != nil {
			return "", fmt.Errorf("render security configuration: %w", err)
		}
		return string(j), nil
	})
	s, err := emr.NewSecurityConfiguration(b.Ctx, b.Name("security"), &emr.SecurityConfigurationArgs{Configuration: document}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create security configuration: %w", err)
	}
	return s, nil
}
