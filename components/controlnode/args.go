package controlnode

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Args describes the control node. Validate checks it.
type Args struct {
	Region string // required, us-east-1
	schema.ControlNode
	Ephemeral bool // true = the data volume is deleted with the stack

	SubnetID        pulumi.StringInput // required; with a route to an internet gateway if Access is public
	VPCID           pulumi.StringInput // required; recorded with the component
	SecurityGroupID pulumi.StringInput // required
	Bucket          pulumi.StringInput // required, name of the data bucket
	BucketARN       pulumi.StringInput // required
	KMSKeyARN       pulumi.StringInput // required; disks, parameters and the bucket's objects

	Identity schema.Identity // of the role and the instance profile

	// TraceHeadersParameter is the name of an SSM parameter that a pod reads; "" = none.
	TraceHeadersParameter string

	// Profiler is what a pod reads of the history of EMR clusters, which it writes to
	// platform.PrefixHistory; the zero value: there is none.
	Profiler schema.Profiler

	// AvailabilityZone is the subnet's zone. nil = looked up. Set it if it is
	// known: while the subnet is unknown in a preview, a zone that is looked up
	// is unknown too, and would be planned as a replacement of the data volume.
	AvailabilityZone pulumi.StringInput
}

// Validate reports every violation of the arguments at once, without calling
// AWS.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("controlNode: arguments are nil; pass *controlnode.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, "controlNode.region", a.Region)
	a.ControlNode.Validate(&l, "controlNode")
	l.Require((a.Access == schema.AccessTunnel) == (a.APIURL != ""), "controlNode.apiUrl", a.APIURL,
		"must be set for access tunnel, and for no other", "name the local end of the tunnel, or leave it empty")
	if a.Profiler.Enabled {
		a.Profiler.Validate(&l, "controlNode.profiler")
	}
	for _, in := range []struct {
		path  string
		value pulumi.StringInput
	}{
		{"subnetId", a.SubnetID}, {"vpcId", a.VPCID}, {"securityGroupId", a.SecurityGroupID},
		{"bucket", a.Bucket}, {"bucketArn", a.BucketARN}, {"kmsKeyArn", a.KMSKeyARN},
	} {
		l.Require(in.value != nil, "controlNode."+in.path, nil, "must be given", "pass the output of the network or storage component")
	}
	return l.Err()
}
