package schema

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// RuntimeRoles lets each step choose a role in place of the nodes'. EMR has them from
// 6.7.0 on, before every release that the program takes.
type RuntimeRoles struct {
	ARNs                    []string `json:"arns" rule:"runtimeRole"`
	PropagateSourceIdentity bool     `json:"propagateSourceIdentity"`
}

func runtimeRoleRules() map[string]Rule {
	return map[string]Rule{
		"runtimeRole": pattern(`^arn:aws[a-z-]*:iam::\d{12}:role/([\w+=,.@-]+/)*[\w+=,.@-]{1,64}$`, "the ARN of an IAM role"),
	}
}

// Help describes the keys, for documents.
func (RuntimeRoles) Help() map[string]string {
	return map[string]string{
		"arns": "Roles that a step of Spark or Hive may run with: `aws emr add-steps --execution-role-arn`. The trust policy of each must let " +
			"the node role assume it and tag the session. Empty: every step runs with the node role.",
		"propagateSourceIdentity": "Pass on who submitted a step: CloudTrail then names them. The trust policies must allow " +
			"sts:SetSourceIdentity, too.",
	}
}

// SetDefaults sets no roles.
func (r *RuntimeRoles) SetDefaults() { *r = RuntimeRoles{ARNs: []string{}} }

// Enabled reports whether steps may choose a role.
func (r RuntimeRoles) Enabled() bool { return len(r.ARNs) > 0 }

func (c Cluster) checkRuntimeRoles(l *violation.List, path string) {
	r := c.RuntimeRoles
	checkFields(l, path, r)
	for i, arn := range r.ARNs {
		checkNotOfAWS(l, pathOf(path+".arns", i), arn, "its trust policy would have to admit the node role", "name another role")
	}
	l.Require(r.Enabled() || !r.PropagateSourceIdentity, path+".propagateSourceIdentity", r.PropagateSourceIdentity,
		"must be false without arns: only roles of steps have a source identity", "name the roles in "+path+".arns")
	l.Require(!r.Enabled() || c.hasSpark() || slices.Contains(c.Applications, "Hive"), path+".arns", r.ARNs,
		"must be empty without Spark and without Hive: no other application's steps take a role", "remove it")
	// EMR Management Guide, "Runtime roles for Amazon EMR steps", considerations.
	l.Require(!r.Enabled() || c.Masters() <= 1, path+".arns", r.ARNs, "must be empty with three primary nodes: EMR has no runtime roles there",
		"remove it, or set the number of primary nodes to 1")
}
