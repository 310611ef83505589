package schedules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Args are what the schedules need. Validate checks them.
type Args struct {
	Region    string                     // required, us-east-1
	Schedules map[string]schema.Schedule // required, by key; of a valid configuration
	Clusters  map[string]Cluster         // required, by the keys that schedules name
	Identity  schema.Identity            // of the role
	// ControlRoleName is that of the control node's role, which reads the queue; required.
	ControlRoleName pulumi.StringInput
	Now             func() time.Time // required, time.Now: dates that have passed are left out of schedules
}

// Cluster is what the schedules of a cluster call: it runs already, or each run starts one.
type Cluster struct {
	ID     pulumi.StringInput // of one that runs
	Launch *Launch            // of one that each run starts
}

// Launch is what starts a cluster. EMR gets its roles from whoever starts it.
type Launch struct {
	Input                       func(schedule string, steps []schema.Step) pulumi.StringOutput // of RunJobFlow, in JSON
	ServiceRoleARN, NodeRoleARN pulumi.StringInput
	ScalingRoleARN              pulumi.StringInput // nil without rules of scaling
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
		c := a.Clusters[s.Cluster]
		l.Require((c.ID != nil) != (c.Launch != nil), "schedules.clusters."+s.Cluster, nil,
			"must have either an id or a launch: the schedule "+key+" names it", "pass the outputs of the cluster's component")
	}
	a.checkPolicySize(&l)
	return l.Err()
}

// checkPolicySize requires that IAM takes the policy of the calls, measured with roles of the longest name.
func (a *Args) checkPolicySize(l *violation.List) {
	const account, longestName, longestID = "123456789012", 64, "j-0123456789ABCDEFGH"
	role := "arn:" + schema.Partition(a.Region) + ":iam::" + account + ":role" + a.Identity.Path + "/" + strings.Repeat("n", longestName)
	g := granted{queueARN: "arn:" + schema.Partition(a.Region) + ":sqs:" + a.Region + ":" + account + ":" + strings.Repeat("q", longestName)}
	for _, key := range a.clusterKeys() {
		launch := a.Clusters[key].Launch
		if launch == nil {
			g.clusterIDs = append(g.clusterIDs, longestID)
			continue
		}
		g.launched = append(g.launched, key)
		for _, p := range launch.passed() {
			g.passed = append(g.passed, passed{role, p.service})
		}
	}
	size := allow(iampolicy.Account{ID: account, Partition: schema.Partition(a.Region), DNSSuffix: "amazonaws.com"}, a.Region, g).Size()
	l.Require(size <= platform.MaxRolePolicies, "schedules", len(a.Schedules), fmt.Sprintf(
		"must name so few clusters that IAM takes the policy of the role that starts their runs: it has up to %d characters, of %d", size,
		platform.MaxRolePolicies), "declare others in another stack")
}

// clusterKeys returns the clusters that schedules name, each once.
func (a *Args) clusterKeys() []string {
	named := map[string]bool{}
	for _, s := range a.Schedules {
		named[s.Cluster] = true
	}
	return slices.Sorted(maps.Keys(named))
}

// passedRole is a role that EMR gets, and the service that assumes it.
type passedRole struct {
	arn     pulumi.StringInput
	service string
}

func (l *Launch) passed() []passedRole {
	out := []passedRole{{l.ServiceRoleARN, "elasticmapreduce"}, {l.NodeRoleARN, "ec2"}}
	if l.ScalingRoleARN != nil {
		out = append(out, passedRole{l.ScalingRoleARN, "application-autoscaling"})
	}
	return out
}
