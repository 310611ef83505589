package workloads

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// clusterConfig creates the ConfigMap that every container takes as its
// environment.
func (b *builder) clusterConfig() error {
	data, err := b.environ()
	if err != nil {
		return err
	}
	cm, err := corev1.NewConfigMap(b.ctx, b.name(platform.ClusterConfigMap), &corev1.ConfigMapArgs{
		Metadata: b.meta(platform.ClusterConfigMap), Data: data,
	}, b.child()...)
	if err != nil {
		return fmt.Errorf("create ConfigMap %s: %w", platform.ClusterConfigMap, err)
	}
	b.environment, b.environHash = cm.Metadata.Name().Elem(), hashOf(data)
	return nil
}

func (b *builder) environ() (pulumi.StringMap, error) {
	data := pulumi.StringMap{
		platform.ConfigBucket:      b.args.Bucket,
		platform.ConfigRegion:      b.args.Region,
		platform.ConfigS3Endpoint:  b.args.Region.ToStringOutput().ApplyT(awsS3Host).(pulumi.StringOutput),
		platform.ConfigS3Insecure:  pulumi.String("false"),
		platform.ConfigS3PathStyle: pulumi.String("false"),
	}
	if b.args.S3Endpoint == "" {
		return data, nil
	}
	u, err := parseEndpoint(b.args.S3Endpoint)
	if err != nil {
		return nil, fmt.Errorf("read S3 endpoint: %w", err)
	}
	data[platform.ConfigS3Endpoint] = pulumi.String(u.Host)
	data[platform.ConfigS3Insecure] = pulumi.String(strconv.FormatBool(u.Scheme == "http"))
	data[platform.ConfigS3PathStyle] = pulumi.String("true")
	data[platform.ConfigS3EndpointURL] = pulumi.String(b.args.S3Endpoint)
	return data, nil
}

// awsS3Host is the regional endpoint (AWS General Reference, "Amazon S3
// endpoints"); only China's partition has another suffix.
func awsS3Host(region string) string {
	host := "s3." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		host += ".cn"
	}
	return host
}

// hashOf is a digest of a configuration's content.
func hashOf(data pulumi.StringMapInput) pulumi.StringOutput {
	return data.ToStringMapOutput().ApplyT(func(m map[string]string) (string, error) {
		b, err := json.Marshal(m) // keys in order
		if err != nil {
			return "", fmt.Errorf("hash configuration: %w", err)
		}
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:]), nil
	}).(pulumi.StringOutput)
}
