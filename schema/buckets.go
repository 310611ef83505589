package schema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Names of general purpose buckets (S3 User Guide, "General purpose bucket naming rules").
var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	bucketIPv4 = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)
)

const (
	bucketPattern = `[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]`
	bucketText    = "with a bucket name as S3 has them (3 to 63 of a-z, 0-9, hyphens and single dots; no IP address; nothing reserved)"
)

// reservedPrefixes and reservedSuffixes are S3's own. Those of access points and of other
// kinds of buckets are refused with them: a policy of the node role names neither.
func reservedPrefixes() []string { return []string{"xn--", "sthree-", "amzn-s3-demo-"} }

func reservedSuffixes() []string {
	return append([]string{"--ol-s3", ".mrap", "--x-s3", "--table-s3"}, accessPointSuffix)
}

// accessPointSuffix ends the alias of an access point, which S3 takes in place of a bucket.
const accessPointSuffix = "-s3alias"

// isBucket reports whether S3 can have a general purpose bucket of this name.
func isBucket(name string) bool {
	return bucketName.MatchString(name) && !bucketIPv4.MatchString(name) && !strings.Contains(name, "..") &&
		!slices.ContainsFunc(reservedPrefixes(), func(p string) bool { return strings.HasPrefix(name, p) }) &&
		!slices.ContainsFunc(reservedSuffixes(), func(s string) bool { return strings.HasSuffix(name, s) })
}

// bucketOf returns the bucket of a URI of S3, and what follows the slash after it.
func bucketOf(uri string) (bucket, key string) {
	_, rest, _ := strings.Cut(uri, "://")
	bucket, key, _ = strings.Cut(rest, "/")
	return bucket, key
}

// ofBucket is a rule whose URIs of S3 must also name a bucket that S3 can have.
func (r Rule) ofBucket() Rule {
	holds := r.Holds
	r.Holds = func(v any) bool {
		uri, _ := v.(string)
		bucket, key := bucketOf(uri)
		const longestKey = 1024 // bytes (S3 User Guide, "Naming Amazon S3 objects")
		return holds(v) && (!inS3.MatchString(uri) || isBucket(bucket) && len(key) <= longestKey)
	}
	return r
}

// inS3 matches URIs of S3, by the schemes that Hadoop and EMR know.
var inS3 = regexp.MustCompile(`^s3[an]?://`)

// anyBucket finds the buckets in a text.
var anyBucket = regexp.MustCompile(`\bs3[an]?://([^/\s"',;)]*)`)

// checkBuckets refuses a text with a bucket that S3 cannot have. What contains a variable,
// or is an access point, passes.
func checkBuckets(l *violation.List, at, text string) {
	for _, found := range anyBucket.FindAllStringSubmatch(text, -1) {
		name := found[1]
		if strings.ContainsAny(name, "$<>{}*%") || strings.HasPrefix(name, "arn:") || strings.HasSuffix(name, accessPointSuffix) {
			continue
		}
		ok := isBucket(name)
		l.Require(ok, at, found[0], "must be a URI "+bucketText, "write the bucket's name: s3://bucket/key")
		if !ok {
			return
		}
	}
}
