package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

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
		"must be at most %d tags (an S3 object carries %d, %d are the platform's), with keys of 1 to %d and values of at most %d characters: "+
			"letters, digits, spaces or _.:/=+-@, without the prefix %s",
		maxTags, s3ObjectTags, ownTags, maxTagKey, maxTagValue, awsPrefix))}
}

// checkTags adds the violations of user-defined tags to l.
func checkTags(l *violation.List, path string, tags map[string]string) {
	text := rules["tags"].Text
	l.Require(len(tags) <= maxTags, path, len(tags), text, "remove some")
	checkEachTag(l, path, tags, text)
}

// checkEachTag checks tags one by one by the rule text. Keys that differ in case only are
// one key to IAM, which refuses a role that has both (IAM User Guide, "Tags for IAM
// resources": "Duplicate tag keys found").
func checkEachTag(l *violation.List, path string, tags map[string]string, text string) {
	keys := slices.Sorted(maps.Keys(tags))
	for i, k := range keys {
		at, v := path+"."+k, tags[k]
		sized := inRange(utf8.RuneCountInString(k), 1, maxTagKey) && utf8.RuneCountInString(v) <= maxTagValue
		wellFormed := tagText.MatchString(k) && tagText.MatchString(v) && !strings.HasPrefix(strings.ToLower(k), awsPrefix)
		l.Require(sized && wellFormed, at, v, text, "rename or shorten it")
		own, isOwn := sameKey(reservedTags, k)
		l.Require(!isOwn, at, v, "is set by the platform itself, as "+own+caseless(own, k), "remove it")
		other, doubled := sameKey(keys[:i], k)
		l.Require(!doubled, at, v, "must differ from "+other+" in more than case"+caseless(other, k), "remove one of the two, or rename it")
	}
}

// checkTagsBeside refuses tags of a cluster whose keys differ from the stack's in case only.
// A key that is the same replaces the stack's.
func checkTagsBeside(l *violation.List, path string, tags, stack map[string]string) {
	keys := slices.Sorted(maps.Keys(stack))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		other, found := sameKey(keys, k)
		_, same := stack[k]
		l.Require(!found || same, path+"."+k, tags[k], "must be the key "+other+" of the stack's tags, or differ from it in more than case: "+
			"a resource would have both", "write "+other+", or rename one")
	}
}

// sameKey returns the key among some that AWS may take for the same as key.
func sameKey(keys []string, key string) (string, bool) {
	i := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, key) })
	if i < 0 {
		return "", false
	}
	return keys[i], true
}

// caseless is the reason why two different spellings are one key.
func caseless(a, b string) string {
	if a == b {
		return ""
	}
	return ": IAM compares the keys of tags without case"
}
