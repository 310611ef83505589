// Package check examines a cluster that others have started: whether it has what
// package observe says that an observed cluster needs. It only reads, from EMR, IAM
// and EC2, and changes nothing. Whether telemetry arrives is the status page's to say.
package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"golang.org/x/mod/semver"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// Part is what of a cluster was examined.
type Part string

// The parts, in the order of a report.
const (
	PartRelease         Part = "release"
	PartSpark           Part = "application Spark"
	PartPrimaryGroup    Part = "security group of the primary node"
	PartCoreGroup       Part = "security group of core and task nodes"
	PartRole            Part = "role of the nodes"
	PartBootstrap       Part = "bootstrap action"
	PartBootstrapPath   Part = "path of the bootstrap action"
	PartBootstrapHash   Part = "hash of the bootstrap action"
	PartClassifications Part = "configurations"
	PartRoute           Part = "route to the control node"
	PartTags            Part = "tags"
)

// Platform is what a cluster is compared with.
type Platform struct {
	Observe          observe.Settings
	KMSKeyARN        string // encrypts what the bootstrap action installs
	VPCID            string
	SubnetIDs        []string // of the platform, from which the control node is reached
	ControlPrivateIP string
}

// Clients are the APIs that are read. The local cloud has no EC2, and its IAM
// simulates nothing: what they would say is then not examined, and the report says so.
type Clients struct {
	EMR *emr.Client
	IAM *iam.Client // nil = not examined
	EC2 *ec2.Client // nil = not examined
}

// Miss is one thing that the cluster lacks.
type Miss struct {
	Part   Part   `json:"part"`
	Found  string `json:"found"`
	Rule   string `json:"rule"`
	Remedy string `json:"remedy"`
}

// Error formats all fields on one line.
func (m Miss) Error() string { return fmt.Sprintf("%s: %s: %s; %s", m.Part, m.Found, m.Rule, m.Remedy) }

// Report is what an examination found.
type Report struct {
	Cluster    string `json:"cluster"`
	Name       string `json:"name"`
	State      string `json:"state"`
	Release    string `json:"release"`
	Misses     []Miss `json:"misses"`
	Unexamined []Part `json:"unexamined"`
}

// StartsAgain reports whether the cluster has to be started again after the remedies. A running
// one takes tags.
func (r Report) StartsAgain() bool {
	return slices.ContainsFunc(r.Misses, func(m Miss) bool { return m.Part != PartTags })
}

// StartAgain is what to do after the remedies then.
const StartAgain = "A running cluster takes no bootstrap action, and EMR keeps its groups and roles: after the remedies, start it again."

// examination is one cluster with the answers of EMR.
type examination struct {
	Platform
	Clients
	cluster    *types.Cluster
	attributes types.Ec2InstanceAttributes
	actions    []types.Command
	actionsErr error
	parts      []partConfiguration
	partsErr   error
}

// Run examines a cluster. The error is that of EMR: the cluster could not be read at
// all. What else could not be read is a miss.
func Run(ctx context.Context, c Clients, id string, p Platform) (Report, error) {
	if !platform.IsClusterID(id) {
		return Report{}, fmt.Errorf("check cluster: %q: must be the id of an EMR cluster on EC2, j-…: EMR Serverless and EMR on EKS have "+
			"no nodes that the platform could observe; list the clusters with `aws emr list-clusters --active`", id)
	}
	described, err := c.EMR.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &id})
	if err != nil {
		return Report{}, fmt.Errorf("check cluster %s: describe it: %w", id, err)
	}
	e := examination{Platform: p, Clients: c, cluster: described.Cluster}
	if described.Cluster.Ec2InstanceAttributes != nil {
		e.attributes = *described.Cluster.Ec2InstanceAttributes
	}
	e.actions, e.actionsErr = e.listActions(ctx)
	e.parts, e.partsErr = e.listParts(ctx)
	r := Report{
		Cluster: id, Name: aws.ToString(e.cluster.Name), Release: aws.ToString(e.cluster.ReleaseLabel),
		Misses: e.examineCluster(), Unexamined: []Part{},
	}
	if e.cluster.Status != nil {
		r.State = string(e.cluster.Status.State)
	}
	for _, examine := range []struct {
		part   Part
		run    func(context.Context) ([]Miss, error)
		absent bool
		rights string
	}{
		{PartRole, e.role, c.IAM == nil, "iam:GetInstanceProfile and iam:SimulatePrincipalPolicy"},
		{PartBootstrap, e.bootstrap, false, "elasticmapreduce:ListBootstrapActions"},
		{PartClassifications, e.configurations, false, "elasticmapreduce:ListInstanceGroups and elasticmapreduce:ListInstanceFleets"},
		{PartRoute, e.route, c.EC2 == nil && !slices.Contains(p.SubnetIDs, e.subnet()), "ec2:DescribeSubnets and ec2:DescribeRouteTables"},
	} {
		if examine.absent {
			r.Unexamined = append(r.Unexamined, examine.part)
			continue
		}
		misses, err := examine.run(ctx)
		if err != nil {
			misses = []Miss{{examine.part, err.Error(), "must be readable", "allow yourself " + examine.rights + ", and check again"}}
		}
		r.Misses = append(r.Misses, misses...)
	}
	return r, nil
}

// examineCluster examines what DescribeCluster says itself. Core and task nodes have their
// security groups only where there are such nodes.
func (e *examination) examineCluster() []Miss {
	misses := []Miss{}
	oldest := facts.ReleaseFile().Releases[0].Label
	if release := aws.ToString(e.cluster.ReleaseLabel); !isSince(release, oldest) {
		misses = append(misses, Miss{PartRelease, release, "must be " + oldest + " or later, and not emr-spark", "choose such a release"})
	}
	if !e.hasSpark() && !e.hostsOnly() {
		misses = append(misses, Miss{PartSpark, "not installed", "must be among the applications",
			"add Spark; without it only metrics and logs of the hosts arrive: if that is wanted, add " + platform.BootstrapHostsOnly +
				" to the arguments of the bootstrap action"})
	}
	for _, group := range []struct {
		part   Part
		ids    []string
		key    string
		absent bool // such nodes
	}{
		{PartPrimaryGroup, e.attributes.AdditionalMasterSecurityGroups, "AdditionalMasterSecurityGroups", false},
		{PartCoreGroup, e.attributes.AdditionalSlaveSecurityGroups, "AdditionalSlaveSecurityGroups", e.primaryAlone()},
	} {
		if wanted := e.Observe.SecurityGroupID; !group.absent && !slices.Contains(group.ids, wanted) {
			misses = append(misses, Miss{group.part, fmt.Sprintf("additional groups: %q", group.ids), "must be among them: " + wanted,
				"add " + wanted + " to " + group.key + ": it opens the way to the control node"})
		}
	}
	if missing := platform.MissingTags(e.tags(), e.Observe.Tags); len(missing) > 0 {
		misses = append(misses, Miss{PartTags, fmt.Sprintf("%q", platform.TagPairs(e.tags())),
			fmt.Sprintf("must have %q, or the profiler does not read its history", platform.TagPairs(missing)), e.tagRemedy(missing)})
	}
	return misses
}

// tags returns those of the cluster.
func (e *examination) tags() map[string]string {
	out := map[string]string{}
	for _, tag := range e.cluster.Tags {
		out[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return out
}

func (e *examination) tagRemedy(missing map[string]string) string {
	if s := e.cluster.Status; s != nil && (s.State == types.ClusterStateTerminated || s.State == types.ClusterStateTerminatedWithErrors) {
		return "give them to the cluster that replaces it: EMR changes no tags of one that has ended"
	}
	return "run `" + platform.AddTagsCommand(aws.ToString(e.cluster.Id), missing) + "`, which a running cluster takes"
}

// isSince compares releases. The platform's own clusters have one that the file of
// releases names; of others a newer one may be observed too.
func isSince(release, oldest string) bool {
	version := func(label string) string { return "v" + strings.TrimPrefix(label, "emr-") }
	return semver.IsValid(version(release)) && semver.Compare(version(release), version(oldest)) >= 0
}

func (e *examination) hasSpark() bool {
	return slices.ContainsFunc(e.cluster.Applications, func(a types.Application) bool { return aws.ToString(a.Name) == "Spark" })
}

func (e *examination) subnet() string { return aws.ToString(e.attributes.Ec2SubnetId) }
