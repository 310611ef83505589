package controlnode

import (
	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// profiler allows the profiler's pod the calls that it makes (profiler/source, Calls):
// to read the history of the clusters that its scope has, and to keep tables in the data
// bucket. That it may list and describe clusters is among the status server's rights. Steps
// are listed of every cluster, since the status server shows those of all that report. Logs of
// steps are those of the stack's own clusters; of others the profiler has the applications that
// EMR names itself.
func (b *builder) profiler(a iampolicy.Account, bucketARN string) []iampolicy.Statement {
	if !b.args.Profiler.Enabled {
		return nil
	}
	region := b.args.Region
	under := func(p platform.Prefix) []string { return []string{bucketARN + "/" + string(p) + "*"} }
	clusters, tagged := everyCluster(a, region), withTags(b.args.Profiler.ClusterTags(b.Ctx.Stack()))
	// EMR Management Guide, "View persistent application user interfaces": all are asked for the
	// UI and for its cluster. Without the last, the UI of a cluster with runtime roles hides the
	// applications of all roles but the control node's.
	openUI := []string{
		"elasticmapreduce:DescribePersistentAppUI", "elasticmapreduce:GetPersistentAppUIPresignedURL", "elasticmapreduce:AccessAllEventLogs",
	}
	return append([]iampolicy.Statement{
		{
			Sid: "WriteHistory", Effect: iampolicy.Allow, Action: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject"},
			Resource: under(platform.PrefixHistory),
		},
		{
			// Without it S3 refuses an object that does not exist, in place of saying so.
			Sid: "ListHistory", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.UnderPrefixes(platform.PrefixHistory, platform.PrefixEMRLogs),
		},
		{
			Sid: "ReadStepLogs", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: under(platform.PrefixEMRLogs),
		},
		{
			Sid: "ListEverySteps", Effect: iampolicy.Allow, Action: []string{"elasticmapreduce:ListSteps"}, Resource: clusters,
		},
		{
			Sid: "ReadClusters", Effect: iampolicy.Allow, Resource: clusters, Condition: tagged,
			Action: append([]string{
				"elasticmapreduce:ListInstanceGroups", "elasticmapreduce:ListInstanceFleets", // describeClusters has the instances
				"elasticmapreduce:CreatePersistentAppUI",
				"elasticmapreduce:GetOnClusterAppUIPresignedURL",
			}, openUI...),
		},
		{
			// A UI has no tags that a condition could ask for; its cluster has.
			Sid: "OpenPersistentUIs", Effect: iampolicy.Allow, Action: openUI,
			Resource: []string{"arn:" + a.Partition + ":elasticmapreduce:" + region + ":" + a.ID + ":persistent-app-ui/*"},
		},
	}, eventLogs(a, b.args.Profiler.EventLogs)...)
}

// eventLogs allows to read the event logs of clusters that write them to S3 themselves.
func eventLogs(a iampolicy.Account, prefixes []string) []iampolicy.Statement {
	if len(prefixes) == 0 {
		return nil
	}
	return append(iampolicy.ListPrefixes(a, "ListEventLogs", prefixes), iampolicy.Statement{
		Sid: "ReadEventLogs", Effect: iampolicy.Allow, Action: []string{"s3:GetObject"}, Resource: iampolicy.Objects(a, prefixes),
	})
}
