package controlnode

import (
	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// profiler allows the profiler's pod to keep the history in the data bucket, and to read
// it from EMR.
func (b *builder) profiler(a iampolicy.Account, bucketARN string) []iampolicy.Statement {
	if !b.args.Profiler {
		return nil
	}
	return []iampolicy.Statement{
		{
			Sid: "WriteHistory", Effect: iampolicy.Allow,
			Action:   []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"},
			Resource: []string{bucketARN + "/" + string(platform.PrefixHistory) + "*"},
		},
		{
			Sid: "ListHistory", Effect: iampolicy.Allow, Action: []string{"s3:ListBucket"}, Resource: []string{bucketARN},
			Condition: iampolicy.Condition{"StringLike": {"s3:prefix": listablePrefixes(platform.PrefixHistory)}},
		},
	}
}
