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
	schema.CheckRegion(&l, "emr.region", a.Region)
	a.EMR.Validate(&l, "emr", a.Ephemeral)
	a.checkInputs(&l)
	return l.Err()
}

// checkInputs requires the outputs of other components.
func (a *Args) checkInputs(l *violation.List) {
	for _, in := range []struct {
		path  string
		given bool
	}{
		{"subnetId", a.SubnetID != nil}, {"masterSecurityGroupId", a.MasterSecurityGroupID != nil},
		{"coreSecurityGroupId", a.CoreSecurityGroupID != nil}, {"serviceAccessSecurityGroupId", a.ServiceAccessSecurityGroupID != nil},
		{"bucket", a.Bucket != nil}, {"bucketArn", a.BucketARN != nil}, {"kmsKeyArn", a.KMSKeyARN != nil},
		{"bootstrapPath", a.BootstrapPath != nil}, {"bootstrapArgs", a.BootstrapArgs != nil},
	} {
		l.Require(in.given, "emr."+in.path, nil, "must be given", "pass the other component's output")
	}
}
