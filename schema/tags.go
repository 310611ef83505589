package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits of tags (AWS Tagging User Guide, "Tag naming and usage limits"). An S3
// object carries only s3ObjectTags (S3 User Guide, "Object tagging"), of which
// the platform sets two: platform.TagProject and platform.TagStack.
const (
	s3ObjectTags = 10
	ownTags      = 2
	maxTags      = s3ObjectTags - ownTags
	maxTagKey    = 128
	maxTagValue  = 256
	awsPrefix    = "aws:"
)

var tagText = regexp.MustCompile(`^[\p{L}\p{N}\p{Z}_.:/=+\-@]*$`)

// reservedTags are set by the platform itself.
var reservedTags = []string{platform.EMRManagedPolicyTag, platform.TagProject, platform.TagStack, platform.TagCluster, "Name"}

func tagRules() map[string]Rule {
	return map[string]Rule{"tags": textOnly(fmt.Sprintf(
		"must be at most %d tags (an S3 object carries %d, %d are the platform's), with keys of 1 to %d and values of at most %d bytes: "+
			"letters, digits, spaces or _.:/=+-@, without the prefix %s",
		maxTags, s3ObjectTags, ownTags, maxTagKey, maxTagValue, awsPrefix))}
}

// checkTags adds the violations of user-defined tags to l.
func checkTags(l *violation.List, path string, tags map[string]string) {
	text := rules["tags"].Text
	l.Require(len(tags) <= maxTags, path, len(tags), text, "remove some")
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		checkTag(l, path, k, tags[k], text)
	}
}

// checkTag checks one tag by the rule text.
func checkTag(l *violation.List, path, key, value, text string) {
	at := path + "." + key
	sized := inRange(len(key), 1, maxTagKey) && len(value) <= maxTagValue
	wellFormed := tagText.MatchString(key) && tagText.MatchString(value) && !strings.HasPrefix(strings.ToLower(key), awsPrefix)
	l.Require(sized && wellFormed, at, value, text, "rename or shorten it")
	l.Require(!slices.Contains(reservedTags, key), at, value, "is set by the platform itself", "remove it")
}
