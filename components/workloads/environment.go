package workloads

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// environment is the ConfigMap that every container takes its environment from.
type environment struct {
	name pulumi.StringInput
	hash pulumi.StringInput
}

func (o objects) createClusterConfig(args *Args) (environment, error) {
	data, err := environmentData(args)
	if err != nil {
		return environment{}, err
	}
	cm, err := corev1.NewConfigMap(o.Ctx, o.Name(platform.ClusterConfigMap), &corev1.ConfigMapArgs{
		Metadata: o.meta(platform.ClusterConfigMap), Data: data,
	}, o.Options()...)
	if err != nil {
		return environment{}, fmt.Errorf("create ConfigMap %s: %w", platform.ClusterConfigMap, err)
	}
	return environment{name: cm.Metadata.Name().Elem(), hash: hashOf(data)}, nil
}

// environmentData returns the variables that all workloads get from the ConfigMap.
func environmentData(args *Args) (pulumi.StringMap, error) {
	data := pulumi.StringMap{
		platform.ConfigBucket:      args.Bucket,
		platform.ConfigRegion:      args.Region,
		platform.ConfigS3Endpoint:  output.Map(args.Region, awsS3Host),
		platform.ConfigS3Insecure:  pulumi.String("false"),
		platform.ConfigS3PathStyle: pulumi.String("false"),
	}
	if args.S3Endpoint == "" {
		return data, nil
	}
	u, err := parseEndpoint(args.S3Endpoint)
	if err != nil {
		return nil, fmt.Errorf("read S3 endpoint: %w", err)
	}
	data[platform.ConfigS3Endpoint] = pulumi.String(u.Host)
	data[platform.ConfigS3Insecure] = pulumi.String(strconv.FormatBool(u.Scheme == "http"))
	data[platform.ConfigS3PathStyle] = pulumi.String("true")
	data[platform.ConfigS3EndpointURL] = pulumi.String(args.S3Endpoint)
	return data, nil
}

// awsS3Host returns the regional endpoint (AWS General Reference, "Amazon S3
// endpoints"); only the China partition has a different suffix.
func awsS3Host(region string) (string, error) {
	host := "s3." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		host += ".cn"
	}
	return host, nil
}
