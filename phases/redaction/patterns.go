package redaction

import (
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// sparkNames is Spark's default of spark.redaction.regex.
const sparkNames = `(?i)secret|password|token|access[.]?key`

// names are names of secrets: Spark's, and ours.
const names = `(?i:secret|passw(?:or)?d|passphrase|pwd|token|credential|signature|cookie|authorization|` +
	`(?:access|api|auth|account|private|encryption|master|signing|shared)[._-]?key)`

var (
	secretName = regexp.MustCompile(names)
	// keyName is of properties; in prose a key is mostly no secret.
	keyName = regexp.MustCompile(`(?i)(?:^|[._-])key$`)
)

// known are the rules for all applications.
var known = slices.Concat(named(names), []rule{
	{regexp.MustCompile(platform.PEMPrivateKey + `[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`), Hidden},
	{regexp.MustCompile(platform.AWSAccessKeyID), Hidden},
	{regexp.MustCompile(platform.JSONWebToken), Hidden},
	{regexp.MustCompile(`(?i)\b(bearer)\s+[\w+/.~=-]{16,}`), `$1 ` + Hidden},
	{regexp.MustCompile(`(\w://[^/\s:@"']*:)[^\s"']+@`), `${1}` + Hidden + `@`}, // user:password of a URL
	{regexp.MustCompile(`(\w://)[^/\s:@"']{20,}@`), `${1}` + Hidden + `@`},      // token of a URL
	{regexp.MustCompile(`(?i)([?&](?:key|sig|code)=)[^&\s"']+`), `${1}` + Hidden},
})

// cutUserinfo is the user:password of a URL that ends before its host.
var cutUserinfo = rule{regexp.MustCompile(`(\w://[^/\s:@"']*:)[^/\s@"']*[^/\s@"'0-9][^/\s@"']*$`), `${1}` + Hidden}

// cutUserinfoTrace is part of every text that cutUserinfo changes. Most long texts are
// stack traces, which have none, and the pattern takes longer than all else about them.
const cutUserinfoTrace = "://"

// assigned is the one way of Spark's: in prose a name is followed by = or :, and then by
// its value.
func assigned(keys string) []rule {
	return []rule{{
		regexp.MustCompile(`([\w.\-]*(?:` + keys + `)[\w.\-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;)]+)`), `${1}` + Hidden,
	}}
}

// named are the ways in which a text says the name of a secret, and then the secret.
func named(keys string) (rules []rule) {
	name := `[\w.\-]*(?:` + keys + `)[\w.\-]*["']?`
	const (
		quoted = `"[^"]*(?:"|$)|'[^']*(?:'|$)`
		bare   = `\*+\(redacted\)|[^\s"',;)&][^\s,;)&]*`
	)
	for _, pattern := range []string{
		`(` + name + `\s*(?:=>|[=:])\s*(?:(?i:bearer|basic)\s+)?)(?:` + quoted + `|` + bare + `)`, // password=x, "password": "x"
		`(--?` + name + `\s+)(?:` + quoted + `|` + bare + `)`,                                     // --password x
		`(` + name + `(?i:\s*[,(]|\s+by|\s+)\s*)(?:` + quoted + `)`,                               // ("password", "x"), PASSWORD 'x'
		`((?i:identified\s+by)\s+)(?:` + quoted + `)`,
	} {
		rules = append(rules, rule{regexp.MustCompile(pattern), `${1}` + Hidden})
	}
	return rules
}

// traces are parts of every text that a known rule changes. Most texts have none.
var traces = []string{
	"secret", "passw", "passphrase", "pwd", "token", "credential", "signature", "cookie", "authorization", "key", "identified",
	"akia", "asia", "eyj", "bearer", "://", "sig=", "code=",
}

func suspicious(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(traces, func(trace string) bool { return strings.Contains(lower, trace) })
}
