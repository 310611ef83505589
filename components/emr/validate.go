package emr

import (
	"errors"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Validate reports every violation of the arguments at once, without calling
// AWS: only EMR knows whether the zone offers an instance type.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("emr: arguments are nil; pass *emr.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, a.path("region"), a.Region)
	schema.CheckClusterKey(&l, a.Key)
	a.Cluster.Validate(&l, schema.ClusterPath(a.Key), a.Ephemeral)
	l.Require(a.Name != "", a.path("name"), a.Name, "must be given", "pass the name that EMR shows")
	a.checkInputs(&l)
	a.checkPolicySize(&l)
	a.checkLaunchSize(&l)
	return l.Err()
}

// path returns the path of an argument in violations.
func (a *Args) path(argument string) string { return schema.ClusterPath(a.Key) + "." + argument }

// checkInputs requires the outputs of other components.
func (a *Args) checkInputs(l *violation.List) {
	for _, in := range []struct {
		path  string
		given bool
	}{
		{"vpcId", a.VPCID != nil}, {"subnetIds", a.SubnetIDs != nil}, {"s3PrefixListId", a.S3PrefixListID != nil},
		{"observedSecurityGroupId", a.ObservedSecurityGroupID != nil},
		{"bucket", a.Bucket != nil}, {"bucketArn", a.BucketARN != nil}, {"kmsKeyArn", a.KMSKeyARN != nil},
		{"bootstrapPath", a.BootstrapPath != nil}, {"bootstrapArgs", a.BootstrapArgs != nil},
	} {
		l.Require(in.given, a.path(in.path), nil, "must be given", "pass the other component's output")
	}
}
