package emr

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
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
		HttpPutResponseHopLimit               int
	}
)

// securityDocumentFor encrypts what is written to S3 and every disk with one
// key, and asks for IMDSv2 with one hop: nothing on an EMR node runs behind a
// network of its own, so no answer has to travel farther.
func securityDocumentFor(keyARN string) securityDocument {
	return securityDocument{
		EncryptionConfiguration: encryptionConfiguration{
			EnableAtRestEncryption: true,
			AtRestEncryptionConfiguration: atRestConfiguration{
				S3EncryptionConfiguration:        s3Encryption{EncryptionMode: "SSE-KMS", AwsKmsKey: keyARN},
				LocalDiskEncryptionConfiguration: diskEncryption{EncryptionKeyProviderType: "AwsKms", AwsKmsKey: keyARN, EnableEbsEncryption: true},
			},
		},
		InstanceMetadataServiceConfiguration: metadataConfiguration{MinimumInstanceMetadataServiceVersion: 2, HttpPutResponseHopLimit: 1},
	}
}

// securityConfiguration cannot be changed once made; an edit makes a new one,
// under a new name, and then a new cluster.
func (b *builder) securityConfiguration() (*emr.SecurityConfiguration, error) {
	document := b.args.KMSKeyARN.ToStringOutput().ApplyT(func(arn string) (string, error) {
		j, err := json.Marshal(securityDocumentFor(arn))
		if err != nil {
			return "", fmt.Errorf("render security configuration: %w", err)
		}
		return string(j), nil
	}).(pulumi.StringOutput)
	s, err := emr.NewSecurityConfiguration(b.ctx, b.name("security"), &emr.SecurityConfigurationArgs{Configuration: document}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create security configuration: %w", err)
	}
	return s, nil
}

// sshPort is the only port that AWS's own default leaves open to the world.
const sshPort = 22

// blockPublicAccess makes EMR refuse, in the whole account and region, any
// cluster whose security groups admit the world. The value is AWS's own
// default (EMR Management Guide, "Block public access"), which destroying this
// resource restores: it changes an account only where somebody switched the
// protection off.
func (b *builder) blockPublicAccess() (*emr.BlockPublicAccessConfiguration, error) {
	guard, err := emr.NewBlockPublicAccessConfiguration(b.ctx, b.name("block-public-access"), &emr.BlockPublicAccessConfigurationArgs{
		BlockPublicSecurityGroupRules: pulumi.Bool(true),
		PermittedPublicSecurityGroupRuleRanges: emr.BlockPublicAccessConfigurationPermittedPublicSecurityGroupRuleRangeArray{
			emr.BlockPublicAccessConfigurationPermittedPublicSecurityGroupRuleRangeArgs{MinRange: pulumi.Int(sshPort), MaxRange: pulumi.Int(sshPort)},
		},
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("block public access: %w", err)
	}
	return guard, nil
}
