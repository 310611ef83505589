package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// secretValue matches values that are secrets whatever their name: ids of AWS's access
// keys (IAM User Guide, "Unique identifiers") and private keys in PEM.
var secretValue = regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----`)

const noSecret = "must not be a secret: DescribeCluster shows it to anyone who may read the cluster"

// checkSecretProperties refuses properties that hold a secret. EMR shows their values,
// and gives back masked ones, which replace the cluster at each update.
func checkSecretProperties(l *violation.List, s settings) {
	s.each(func(_, property string, v setting) {
		l.Require(!secretKey.MatchString(property) && !secretValue.MatchString(v.value), v.path, violation.Hidden, noSecret,
			"read it from Secrets Manager in the job")
	})
}

// checkSecretArguments refuses arguments of a step or of a bootstrap action that hold a
// secret, as one word (--password=x) or as two.
func checkSecretArguments(l *violation.List, path string, arguments []string) {
	for i, a := range arguments {
		name, value, assigned := strings.Cut(a, "=")
		secret := secretValue.MatchString(a) || assigned && value != "" && secretKey.MatchString(name)
		if i > 0 && strings.HasPrefix(arguments[i-1], "-") && !strings.HasPrefix(a, "-") {
			secret = secret || secretKey.MatchString(arguments[i-1])
		}
		l.Require(!secret, fmt.Sprintf("%s[%d]", path, i), violation.Hidden, noSecret,
			"name the secret's ARN instead, and read it from Secrets Manager")
	}
}
