package record

import (
	"crypto/md5" //nolint:gosec // S3's ETag is MD5
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/asset"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// secret sets an output that is a secret.
func (d *draft) secret(key, value string) {
	k := resource.PropertyKey(key)
	if v, set := d.out[k]; !set || v.IsNull() {
		d.out[k] = resource.MakeSecret(resource.NewStringProperty(value))
	}
}

// conceal marks an output that came in clear as the secret it is.
func (d *draft) conceal(key string) {
	k := resource.PropertyKey(key)
	if v, set := d.out[k]; set && !v.ContainsSecrets() && !v.ContainsUnknowns() {
		d.out[k] = resource.MakeSecret(v)
	}
}

func storageFillers() map[string]filler {
	out := map[string]filler{
		"aws:s3/bucketV2:BucketV2":             bucket,
		"aws:s3/bucketObjectv2:BucketObjectv2": object,
		"aws:s3/bucketMetric:BucketMetric":     plainID("bucket", "name"),
		"aws:s3/inventory:Inventory":           plainID("bucket", "name"),
		"aws:s3/bucketIntelligentTieringConfiguration:BucketIntelligentTieringConfiguration": plainID("bucket", "name"),
		"aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock": func(d *draft) error {
			d.otherwise("accountId", d.account.ID)
			d.identify(d.account.ID)
			return nil
		},
		"aws:ssm/parameter:Parameter": parameter,
	}
	for _, side := range []string{"bucketVersioningV2:BucketVersioningV2", "bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2", "bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2", "bucketLoggingV2:BucketLoggingV2", "bucketOwnershipControls:BucketOwnershipControls", "bucketPublicAccessBlock:BucketPublicAccessBlock", "bucketPolicy:BucketPolicy", "bucketNotification:BucketNotification", "bucketCorsConfigurationV2:BucketCorsConfigurationV2", "bucketAclV2:BucketAclV2", "bucketRequestPaymentConfigurationV2:BucketRequestPaymentConfigurationV2", "bucketObjectLockConfigurationV2:BucketObjectLockConfigurationV2"} {
		out["aws:s3/"+side] = plainID("bucket")
	}
	return out
}

func bucket(d *draft) error {
	d.identify(d.text("bucket"))
	region := d.account.Region()
	d.otherwise("arn", "arn:aws:s3:::"+d.id)
	d.otherwise("bucketDomainName", d.id+".s3.amazonaws.com")
	d.otherwise("bucketRegionalDomainName", d.id+".s3."+region+".amazonaws.com")
	d.otherwise("hostedZoneId", "Z3AQBSTGFYJSTF")
	d.otherwise("region", region)
	d.otherwise("requestPayer", "BucketOwner")
	d.otherwise("objectLockEnabled", false)
	d.otherwise("forceDestroy", false)
	for _, none := range []string{"accelerationStatus", "acl", "policy", "bucketPrefix", "websiteDomain", "websiteEndpoint"} {
		d.otherwise(none, "")
	}
	return nil
}

func object(d *draft) error {
	d.identify(d.text("key"))
	d.otherwise("arn", "arn:aws:s3:::"+d.text("bucket")+"/"+d.text("key"))
	d.otherwise("storageClass", "STANDARD")
	d.otherwise("versionId", random(upperDigits, 32))
	d.otherwise("contentType", "application/octet-stream")
	for _, none := range []string{"checksumCrc32", "checksumCrc32c", "checksumCrc64nvme", "checksumSha1", "checksumSha256"} {
		d.otherwise(none, "") // S3 gives only those that the request asked for
	}
	body, err := Body(d.in)
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	sum := md5.Sum(body) //nolint:gosec // S3's ETag is MD5
	d.always("etag", hex.EncodeToString(sum[:]))
	return nil
}

// Body is the content that a BucketObjectv2's plain inputs ask for.
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
	case nil, catalog.Unknown:
		return nil, nil
	default:
		return nil, fmt.Errorf("source must be a file or string asset, is %T", source)
	}
}

func parameter(d *draft) error {
	d.identify(d.text("name"))
	name := d.id
	if name != "" && name[0] != '/' {
		name = "/" + name
	}
	d.otherwise("arn", d.arn("ssm", "parameter"+name))
	d.otherwise("dataType", "text")
	d.otherwise("tier", "Standard")
	if d.text("type") == "SecureString" {
		d.otherwise("keyId", "alias/aws/ssm")
	}
	version := 1.0
	if v, ok := catalog.Plain(d.r.Outputs)["version"].(float64); ok {
		version = v + 1
	}
	d.always("version", version)
	d.conceal("value")
	return nil
}
