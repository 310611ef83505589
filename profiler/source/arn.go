package source

import (
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

var clusterResource = regexp.MustCompile(`^cluster/(j-[0-9A-Z]+)$`)

// ClusterARN is the ARN of an EMR cluster, in any partition.
type ClusterARN struct {
	Account, Region, ID string
}

// ParseClusterARN parses the ARN of an EMR cluster.
func ParseClusterARN(s string) (ClusterARN, error) {
	parsed, err := arn.Parse(s)
	if err != nil {
		return ClusterARN{}, fmt.Errorf("parse the cluster ARN %q: %w", s, err)
	}
	resource := clusterResource.FindStringSubmatch(parsed.Resource)
	if parsed.Service != "elasticmapreduce" || resource == nil || parsed.Region == "" || parsed.AccountID == "" {
		return ClusterARN{}, fmt.Errorf("the ARN %q is not that of an EMR cluster", s)
	}
	return ClusterARN{Account: parsed.AccountID, Region: parsed.Region, ID: resource[1]}, nil
}

// clusterKey returns the key of a cluster. EMR's API has the account only in the ARN.
func clusterKey(clusterARN, id, name, region string) tables.Cluster {
	key := tables.Cluster{Region: region, ClusterID: id, ClusterName: name}
	if parsed, err := ParseClusterARN(clusterARN); err == nil {
		key.Account, key.Region = parsed.Account, parsed.Region
	}
	return key
}
