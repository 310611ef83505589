package localcloud

import "fmt"

// The region's network. The VPC of a stack on the local cloud must be networkCIDR.
const (
	networkCIDR    = "10.0.0.0/16"
	networkPrefix  = 16
	networkGateway = "10.0.0.1"
	servicesHost   = "10.0.0.2" // S3's, EMR's and Systems Manager's endpoints

	podsPrefix    = "10.42.0" // the node's share of platform.KubernetesPodCIDR
	podsPrefixLen = 24
	podsGateway   = podsPrefix + ".1"
	podsHost      = podsPrefix + ".2" // the control node's address in the pods' network
)

// The local AWS account.
const (
	AWSRegion = "us-east-1"
	AccountID = "123456789012"
)

// cidr writes a network in CIDR notation.
func cidr(address string, prefixLen int) string { return fmt.Sprintf("%s/%d", address, prefixLen) }
