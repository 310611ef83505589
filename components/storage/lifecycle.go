package storage

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const (
	// incompleteUploadDays: the parts of an incomplete upload are invisible and
	// cost money; no upload takes a day.
	incompleteUploadDays = 1
	// noncurrentDays is how long a wrong deletion or overwrite can be undone.
	noncurrentDays = 30
	// resultDays: clients read a query's results within minutes, and can run it again.
	resultDays = 7
	// noncurrentBlockDays: Tempo, Pyroscope and compaction rewrite their objects all
	// day and never read an earlier version; nobody reads that of a query's results.
	noncurrentBlockDays = 1
)

// lifecycleRule is one rule on the objects under prefix ("" = all). With 0 days
// the rule does not delete objects of that kind.
type lifecycleRule struct {
	id                   string
	prefix               string
	expirationDays       int
	noncurrentDays       int // of noncurrent versions
	incompleteUploadDays int
	deleteMarkers        bool // delete markers without noncurrent versions
}

// dataLifecycle are the data bucket's rules, in a fixed order. Noncurrent versions
// have a rule for each prefix and none for the whole bucket: of two rules that
// apply, S3 follows the shorter one (S3 User Guide, "How Amazon S3 handles
// conflicts in lifecycle configurations"), as for compacted tables within the
// lake, and artifacts have days of their own.
func dataLifecycle(a *Args) []lifecycleRule {
	rules := []lifecycleRule{{id: "whole-bucket", incompleteUploadDays: incompleteUploadDays, deleteMarkers: true}}
	for _, p := range append(platform.Prefixes(), platform.PrefixNotebooks) {
		r := lifecycleRule{id: p.Name() + "-superseded", prefix: string(p), noncurrentDays: noncurrentDays}
		switch p {
		case platform.PrefixEMRLogs:
			r.id, r.expirationDays = p.Name(), a.Retention.LogDays
		case platform.PrefixTempo, platform.PrefixPyroscope:
			r.noncurrentDays = noncurrentBlockDays
		case platform.PrefixArtifacts:
			// Current artifacts have no end: nodes and pods fetch them at each start.
			r.noncurrentDays = a.Retention.ArtifactDays
		}
		if r.expirationDays > 0 || r.noncurrentDays > 0 {
			rules = append(rules, r)
		}
	}
	// Each run of the profiler replaces those of the days that it changed. It can write them again from the tables.
	rules = append(rules, lifecycleRule{
		id: tables.Compacted + "-superseded", prefix: string(platform.PrefixHistory) + tables.Compacted + "/",
		noncurrentDays: noncurrentBlockDays,
	})
	if a.Athena {
		rules = append(rules, lifecycleRule{
			id: platform.PrefixAthena.Name(), prefix: string(platform.PrefixAthena), expirationDays: resultDays, noncurrentDays: noncurrentBlockDays,
		})
	}
	return rules
}

// logLifecycle returns the log bucket's rules.
func logLifecycle(a *Args) []lifecycleRule {
	return []lifecycleRule{
		{id: "logs", expirationDays: a.Retention.LogDays, noncurrentDays: noncurrentBlockDays, incompleteUploadDays: incompleteUploadDays},
	}
}

func renderLifecycle(rules []lifecycleRule) s3.BucketLifecycleConfigurationV2RuleArray {
	out := make(s3.BucketLifecycleConfigurationV2RuleArray, len(rules))
	for i, r := range rules {
		a := s3.BucketLifecycleConfigurationV2RuleArgs{
			Id: pulumi.String(r.id), Status: pulumi.String("Enabled"),
			Filter: s3.BucketLifecycleConfigurationV2RuleFilterArgs{Prefix: pulumi.String(r.prefix)},
		}
		switch {
		case r.expirationDays > 0:
			a.Expiration = s3.BucketLifecycleConfigurationV2RuleExpirationArgs{Days: pulumi.Int(r.expirationDays)}
		case r.deleteMarkers:
			a.Expiration = s3.BucketLifecycleConfigurationV2RuleExpirationArgs{ExpiredObjectDeleteMarker: pulumi.Bool(true)}
		}
		if r.noncurrentDays > 0 {
			a.NoncurrentVersionExpiration = s3.BucketLifecycleConfigurationV2RuleNoncurrentVersionExpirationArgs{
				NoncurrentDays: pulumi.Int(r.noncurrentDays),
			}
		}
		if r.incompleteUploadDays > 0 {
			a.AbortIncompleteMultipartUpload = s3.BucketLifecycleConfigurationV2RuleAbortIncompleteMultipartUploadArgs{
				DaysAfterInitiation: pulumi.Int(r.incompleteUploadDays),
			}
		}
		out[i] = a
	}
	return out
}
