package schema

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkPolicyText refuses a text that no policy of IAM can hold: a policy takes tab, line
// feed, carriage return and the characters from U+0020 to U+00FF (IAM API, PutRolePolicy,
// PolicyDocument). Whatever is rendered into a policy and may contain others must pass.
func checkPolicyText(l *violation.List, path, text, remedy string) {
	const first, last = 0x20, 0xFF
	bad := strings.IndexFunc(text, func(r rune) bool { return r < first || r > last })
	l.Require(bad < 0, path, text, "must have no character beyond U+00FF (ÿ) and no control character: it becomes a part of a "+
		"role's policy, in which IAM takes none", remedy)
}

// checkPolicyPrefixes is checkPolicyText for a list of prefixes in S3.
func checkPolicyPrefixes(l *violation.List, path string, prefixes []string) {
	for i, p := range prefixes {
		checkPolicyText(l, pathOf(path, i), p, "name a prefix that ends before that character, such as the bucket")
	}
}
