package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// secretValue matches values that are secrets whatever their name: also the tokens of
// GitHub, GitLab, Slack and Databricks, an Authorization header, and what Oracle's driver
// has in its URLs.
var secretValue = regexp.MustCompile(strings.Join([]string{
	platform.AWSAccessKeyID, platform.PEMPrivateKey, platform.JSONWebToken, platform.URLPassword, platform.URLToken,
	`\bgh[pousr]_\w{10,}`, `\bgithub_pat_\w{20,}`, `\bglpat-[\w-]{10,}`, `\bxox[abeprs]-[\w-]{10,}`, `\bdapi[0-9a-f]{32}`,
	`(?i)\b(?:bearer|basic)\s+[\w+/.~=-]{16,}`, `jdbc:oracle:\w+:[^\s/@:]+/[^\s/@$<{*][^\s@]*@`,
}, "|"))

// assignment matches the name of what a text sets, as in --name=value, -Dname=value, the
// parameters of a URL and JSON.
var assignment = regexp.MustCompile(`([A-Za-z][\w.-]*)(?:=|["']\s*:\s*)["']?[^\s&;,="']`)

// assigned matches what an assignment sets, from its first character on.
var assigned = regexp.MustCompile(`^[^\s&;,"']*`)

// holdsSecret reports whether a text contains a secret, by its form or as the value of a
// name.
func holdsSecret(text string) bool {
	return secretValue.MatchString(text) || slices.ContainsFunc(assignment.FindAllStringSubmatchIndex(text, -1), func(at []int) bool {
		return isSecret(text[at[2]:at[3]], assigned.FindString(text[lastRune(text, at[1]):]))
	})
}

// lastRune returns where the rune before an index begins.
func lastRune(text string, end int) int {
	return strings.LastIndexFunc(text[:end], func(rune) bool { return true })
}

const noSecret = "must not be a secret: DescribeCluster shows it to anyone who may read the cluster"

// checkSecretProperties refuses properties that hold a secret. EMR shows their values,
// and gives back masked ones, which replace the cluster at each update.
func checkSecretProperties(l *violation.List, s settings) {
	s.each(func(_, property string, v setting) {
		secret := isSecret(property, v.value) || holdsSecret(v.value)
		l.Require(!secret, v.path, violation.Hidden, noSecret, "read it from Secrets Manager in the job")
		if secret {
			l.Hide(v.path)
		}
	})
}

// checkSecretArguments refuses arguments of a step or of a bootstrap action that hold a
// secret, within one word (--password=x) or as two.
func checkSecretArguments(l *violation.List, path string, arguments []string) {
	for i, a := range arguments {
		secret := holdsSecret(a)
		if i > 0 && strings.HasPrefix(arguments[i-1], "-") && !strings.HasPrefix(a, "-") {
			secret = secret || isSecret(strings.TrimLeft(arguments[i-1], "-"), a)
		}
		requireNoSecret(l, !secret, fmt.Sprintf("%s[%d]", path, i))
	}
}

// requireNoSecret refuses a secret at a path, and hides its value from then on.
func requireNoSecret(l *violation.List, ok bool, path string) {
	l.Require(ok, path, violation.Hidden, noSecret, "name the secret's ARN instead, and read it from Secrets Manager")
	if !ok {
		l.Hide(path)
	}
}
