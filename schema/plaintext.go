package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// secretValue matches values that are secrets whatever their name.
var secretValue = regexp.MustCompile(platform.AWSAccessKeyID + `|` + platform.PEMPrivateKey)

// assignment matches the name of what a text sets, as in --name=value, -Dname=value and
// the parameters of a URL.
var assignment = regexp.MustCompile(`([A-Za-z][\w.-]*)=[^\s&;,=]`)

// holdsSecret reports whether a text contains a secret, by its form or as the value of a
// name.
func holdsSecret(text string) bool {
	return secretValue.MatchString(text) || slices.ContainsFunc(assignment.FindAllStringSubmatch(text, -1), func(set []string) bool {
		return secretKey.MatchString(set[1])
	})
}

const noSecret = "must not be a secret: DescribeCluster shows it to anyone who may read the cluster"

// checkSecretProperties refuses properties that hold a secret. EMR shows their values,
// and gives back masked ones, which replace the cluster at each update.
func checkSecretProperties(l *violation.List, s settings) {
	s.each(func(_, property string, v setting) {
		l.Require(!secretKey.MatchString(property) && !holdsSecret(v.value), v.path, violation.Hidden, noSecret,
			"read it from Secrets Manager in the job")
	})
}

// checkSecretArguments refuses arguments of a step or of a bootstrap action that hold a
// secret, within one word (--password=x) or as two.
func checkSecretArguments(l *violation.List, path string, arguments []string) {
	for i, a := range arguments {
		secret := holdsSecret(a)
		if i > 0 && strings.HasPrefix(arguments[i-1], "-") && !strings.HasPrefix(a, "-") {
			secret = secret || secretKey.MatchString(arguments[i-1])
		}
		l.Require(!secret, fmt.Sprintf("%s[%d]", path, i), violation.Hidden, noSecret,
			"name the secret's ARN instead, and read it from Secrets Manager")
	}
}
