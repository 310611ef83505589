package storage

import (
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	day = 24 * time.Hour

	// abandonedUploadDays: parts of an upload that nobody finished cost money
	// and are seen by nobody; no upload of ours lasts a day.
	abandonedUploadDays = 1
	// supersededDays is the time to undo a wrong deletion or overwrite.
	supersededDays = 30
	// supersededBlockDays: Tempo and Pyroscope rewrite their blocks all day
	// and never ask for a former version.
	supersededBlockDays = 1
)

// lifecycleRule is one rule on the objects under prefix ("" = all). Zero days
// mean that the rule leaves that kind alone.
type lifecycleRule struct {
	id                            string
	prefix                        string
	expire, superseded, abandoned int
	deleteMarkers                 bool // drop markers that hide nothing any more
}

// dataLifecycle gives the data bucket's rules, in a fixed order.
func dataLifecycle(a *Args) []lifecycleRule {
	rules := []lifecycleRule{
		{id: "whole-bucket", superseded: supersededDays, abandoned: abandonedUploadDays, deleteMarkers: true},
		{id: "emr-logs", prefix: string(platform.PrefixEMRLogs), expire: a.LogRetentionDays},
	}
	if a.ArtifactRetentionDays > 0 {
		rules = append(rules, lifecycleRule{id: "artifacts", prefix: string(platform.PrefixArtifacts), expire: a.ArtifactRetentionDays})
	}
	for _, p := range []platform.Prefix{platform.PrefixTempo, platform.PrefixPyroscope} {
		rules = append(rules, lifecycleRule{id: p.Name() + "-superseded", prefix: string(p), superseded: supersededBlockDays})
	}
	for _, e := range a.Expirations {
		rules = append(rules, lifecycleRule{id: "expire-" + e.Prefix, prefix: e.Prefix, expire: e.Days})
	}
	return rules
}

// logLifecycle gives the log bucket's rules.
func logLifecycle(a *Args) []lifecycleRule {
	return []lifecycleRule{
		{id: "logs", expire: a.LogRetentionDays, superseded: supersededBlockDays, abandoned: abandonedUploadDays},
	}
}

// takesBlocks tells whether the expiration would delete a server's blocks
// before they are due. The server itself deletes a block only some time after
// its retention is over, hence one more day.
func (e Expiration) takesBlocks(prefix platform.Prefix, retention time.Duration) bool {
	touches := strings.HasPrefix(string(prefix), e.Prefix) || strings.HasPrefix(e.Prefix, string(prefix))
	return touches && time.Duration(e.Days)*day < retention+day
}

func renderLifecycle(rules []lifecycleRule) s3.BucketLifecycleConfigurationV2RuleArray {
	out := make(s3.BucketLifecycleConfigurationV2RuleArray, len(rules))
	for i, r := range rules {
		a := s3.BucketLifecycleConfigurationV2RuleArgs{
			Id: pulumi.String(r.id), Status: pulumi.String("Enabled"),
			Filter: s3.BucketLifecycleConfigurationV2RuleFilterArgs{Prefix: pulumi.String(r.prefix)},
		}
		switch {
		case r.expire > 0:
			a.Expiration = s3.BucketLifecycleConfigurationV2RuleExpirationArgs{Days: pulumi.Int(r.expire)}
		case r.deleteMarkers:
			a.Expiration = s3.BucketLifecycleConfigurationV2RuleExpirationArgs{ExpiredObjectDeleteMarker: pulumi.Bool(true)}
		}
		if r.superseded > 0 {
			a.NoncurrentVersionExpiration = s3.BucketLifecycleConfigurationV2RuleNoncurrentVersionExpirationArgs{NoncurrentDays: pulumi.Int(r.superseded)}
		}
		if r.abandoned > 0 {
			a.AbortIncompleteMultipartUpload = s3.BucketLifecycleConfigurationV2RuleAbortIncompleteMultipartUploadArgs{DaysAfterInitiation: pulumi.Int(r.abandoned)}
		}
		out[i] = a
	}
	return out
}

// inDays is for messages.
func inDays(d time.Duration) string { return strconv.FormatFloat(d.Hours()/24, 'f', -1, 64) + " days" }
