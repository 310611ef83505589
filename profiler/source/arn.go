package source

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

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
	id, ofCluster := strings.CutPrefix(parsed.Resource, "cluster/")
	if parsed.Service != "elasticmapreduce" || !ofCluster || !platform.IsClusterID(id) || parsed.Region == "" || parsed.AccountID == "" {
		return ClusterARN{}, fmt.Errorf("the ARN %q is not that of an EMR cluster", s)
	}
	return ClusterARN{Account: parsed.AccountID, Region: parsed.Region, ID: id}, nil
}

// clusterKey returns the key of a cluster. EMR's API has the account only in the ARN.
func clusterKey(clusterARN, id, name, region string) tables.Cluster {
	key := tables.Cluster{Region: region, ClusterID: id, ClusterName: shown(name)}
	if parsed, err := ParseClusterARN(clusterARN); err == nil {
		key.Account, key.Region = parsed.Account, parsed.Region
	}
	return key
}
