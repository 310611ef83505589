package runjobflow

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// SecurityConfiguration renders what creates the security configuration that Input
// names, with the key that encrypts the cluster's data.
func SecurityConfiguration(c schema.Cluster, name, keyARN string) (*emr.CreateSecurityConfigurationInput, error) {
	document, err := observe.SecurityConfigurationOf(c, keyARN)
	if err != nil {
		return nil, fmt.Errorf("security configuration %s: %w", name, err)
	}
	return &emr.CreateSecurityConfigurationInput{Name: aws.String(name), SecurityConfiguration: aws.String(document)}, nil
}
