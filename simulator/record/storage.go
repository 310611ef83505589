package record

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/asset"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// markSecret marks an output as secret, also if the program passed it in clear.
func (d *draft) markSecret(key string) {
	k := resource.PropertyKey(key)
	if v, set := d.out[k]; set && !v.ContainsSecrets() && !v.ContainsUnknowns() {
		d.out[k] = resource.MakeSecret(v)
	}
}

// storageFillers covers S3 and SSM.
func storageFillers() map[string]filler {
	out := map[string]filler{
		"aws:s3/bucketV2:BucketV2":             bucket,
		"aws:s3/bucketObjectv2:BucketObjectv2": object,
		"aws:ssm/parameter:Parameter":          parameter,
	}
	for _, side := range []string{
		"bucketVersioningV2:BucketVersioningV2", "bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
		"bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2", "bucketLoggingV2:BucketLoggingV2",
		"bucketOwnershipControls:BucketOwnershipControls", "bucketPublicAccessBlock:BucketPublicAccessBlock",
		"bucketPolicy:BucketPolicy",
	} {
		out["aws:s3/"+side] = joinedID("bucket")
	}
	return out
}

func bucket(d *draft) error {
	d.setID(d.text("bucket"))
	region := d.account.Region()
	d.setDefaults(result{
		"arn": "arn:aws:s3:::" + d.id, "bucketDomainName": d.id + ".s3.amazonaws.com",
		"bucketRegionalDomainName": d.id + ".s3." + region + ".amazonaws.com", "hostedZoneId": "Z3AQBSTGFYJSTF", "region": region,
		"requestPayer": "BucketOwner", "objectLockEnabled": false, "forceDestroy": false,
	})
	d.setEmpty("accelerationStatus", "acl", "policy", "bucketPrefix", "websiteDomain", "websiteEndpoint")
	return nil
}

func object(d *draft) error {
	d.setID(d.text("key"))
	d.setDefaults(result{
		"arn": "arn:aws:s3:::" + d.text("bucket") + "/" + d.text("key"), "storageClass": "STANDARD", "versionId": randomString(upperDigits, 32),
		"contentType": "application/octet-stream",
	})
	// S3 returns only those that the request names.
	d.setEmpty("checksumCrc32", "checksumCrc32c", "checksumCrc64nvme", "checksumSha1", "checksumSha256")
	body, err := Body(d.in)
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	sum := md5.Sum(body)
	d.set("etag", hex.EncodeToString(sum[:]))
	return nil
}

// Body returns the content of a BucketObjectv2 from its plain inputs.
func Body(inputs map[string]any) ([]byte, error) {
	if s, ok := inputs["content"].(string); ok {
		return []byte(s), nil
	}
	if s, ok := inputs["contentBase64"].(string); ok {
		return base64.StdEncoding.DecodeString(s)
	}
	switch source := inputs["source"].(type) {
	case *asset.Asset:
		if source.IsPath() {
			return os.ReadFile(source.Path)
		}
		return []byte(source.Text), nil
	case nil, property.Unknown:
		return nil, nil
	default:
		return nil, fmt.Errorf("source must be a file or string asset, is %T", source)
	}
}

func parameter(d *draft) error {
	d.setID(d.text("name"))
	name := d.id
	if name != "" && name[0] != '/' {
		name = "/" + name
	}
	d.setDefaults(result{"arn": d.regionalARN("ssm", "parameter"+name), "dataType": "text", "tier": "Standard"})
	if d.text("type") == "SecureString" {
		d.setDefault("keyId", "alias/aws/ssm")
	}
	version := 1.0
	if v, ok := property.Plain(d.r.Outputs)["version"].(float64); ok {
		version = v + 1
	}
	d.set("version", version)
	d.markSecret("value")
	return nil
}
