package schedules

import (
	"errors"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Args are what the schedules need. Validate checks them.
type Args struct {
	Region     string                        // required, us-east-1
	Schedules  map[string]schema.Schedule    // required, by key; of a valid configuration
	ClusterIDs map[string]pulumi.StringInput // required, by the keys that schedules name
	Identity   schema.Identity               // of the role
	// ControlRoleName is that of the control node's role, which reads the queue; required.
	ControlRoleName pulumi.StringInput
	Now             func() time.Time // required, time.Now: dates that have passed are left out of schedules
}

// Validate reports every violation at once.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("schedules: arguments are nil; pass *schedules.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, "schedules.region", a.Region)
	l.Require(len(a.Schedules) > 0, "schedules.schedules", len(a.Schedules), "must not be empty", "create no component without schedules")
	l.Require(a.Now != nil, "schedules.now", nil, "must be given", "pass time.Now")
	l.Require(a.ControlRoleName != nil, "schedules.controlRoleName", nil, "must be given", "pass the output of the control node's component")
	for key, s := range a.Schedules {
		l.Require(a.ClusterIDs[s.Cluster] != nil, "schedules.clusterIds."+s.Cluster, nil, "must be given: the schedule "+key+" names it",
			"pass the output of the cluster's component")
	}
	return l.Err()
}
