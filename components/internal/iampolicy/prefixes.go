package iampolicy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Objects returns the ARNs of all objects under prefixes in S3: s3:// URIs that end with
// a slash.
func Objects(a Account, uris []string) []string {
	var out []string
	for _, uri := range uris {
		out = append(out, s3ARN(a, strings.TrimPrefix(uri, "s3://"))+"*")
	}
	return out
}

// UnderPrefixes is the condition that a request lists one of these prefixes. Clients send a
// prefix with and without its slash: file systems look up the directory itself first.
func UnderPrefixes(prefixes ...platform.Prefix) Condition {
	var values []string
	for _, p := range prefixes {
		values = append(values, p.Name(), string(p)+"*")
	}
	return Condition{"StringLike": {"s3:prefix": values}}
}

// ListPrefixes returns one statement for each bucket, which allows to list such prefixes
// in it, and the directories themselves. Their Sids begin with sid.
func ListPrefixes(a Account, sid string, uris []string) []Statement {
	prefixes := map[string][]string{}
	for _, uri := range uris {
		bucket, prefix, _ := strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
		for _, p := range []string{strings.TrimSuffix(prefix, "/"), prefix + "*"} {
			if !slices.Contains(prefixes[bucket], p) {
				prefixes[bucket] = append(prefixes[bucket], p)
			}
		}
	}
	var out []Statement
	for i, bucket := range slices.Sorted(maps.Keys(prefixes)) {
		out = append(out, Statement{
			Sid: fmt.Sprintf("%s%d", sid, i), Effect: Allow, Action: []string{"s3:ListBucket"}, Resource: []string{s3ARN(a, bucket)},
			Condition: Condition{"StringLike": {"s3:prefix": prefixes[bucket]}},
		})
	}
	return out
}

// s3ARN returns the ARN of a bucket, or of objects in it.
func s3ARN(a Account, path string) string { return "arn:" + a.Partition + ":s3:::" + path }
