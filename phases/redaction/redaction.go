// Package redaction hides secrets in what users and their programs wrote: properties,
// descriptions, SQL, errors, URLs. SparkRules hides what Spark would hide, by Spark's
// patterns or the application's; New also hides what is known to carry secrets besides.
//
// It finds secrets by the names and the shapes around them. It does not find a bare
// password in prose.
package redaction

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Hidden replaces what is hidden: Spark's own replacement
// (org.apache.spark.util.Utils.REDACTION_REPLACEMENT_TEXT).
const Hidden = "*********(redacted)"

// Spark's properties of redaction (org.apache.spark.internal.config).
const (
	keysProperty  = "spark.redaction.regex"
	textsProperty = "spark.redaction.string.regex"
)

// Rules are the rules of one application. They are safe for concurrent use.
type Rules struct {
	keys []*regexp.Regexp // names of secrets
	own  []rule           // the application's
	all  bool             // a pattern of the application is not one of Go's: texts are hidden whole
	more bool             // what is known of secrets besides
}

type rule struct {
	pattern *regexp.Regexp
	replace string
}

// New returns the rules of an application with these Spark properties, and what is known
// of secrets besides.
func New(properties map[string]string) *Rules {
	r := &Rules{keys: []*regexp.Regexp{secretName, keyName}, more: true}
	r.hideTexts(properties)
	if keys := properties[keysProperty]; keys != "" {
		r.hideNamed(keys, named)
	}
	return r
}

// SparkRules returns the rules by which the driver's own spans hide secrets
// (observatory.spark.Redaction): what imports the same application makes the same texts.
func SparkRules(properties map[string]string) *Rules {
	r := &Rules{}
	r.hideTexts(properties)
	r.hideNamed(cmp.Or(properties[keysProperty], sparkNames), assigned)
	return r
}

func (r *Rules) hideTexts(properties map[string]string) {
	texts := properties[textsProperty]
	if texts == "" {
		return
	}
	pattern, err := regexp.Compile(texts)
	if err != nil {
		r.all = true
		return
	}
	r.own = append(r.own, rule{pattern, Hidden})
}

func (r *Rules) hideNamed(keys string, rules func(keys string) []rule) {
	pattern, err := regexp.Compile(keys)
	if err != nil {
		r.all = true
		return
	}
	r.keys = append(r.keys, pattern)
	r.own = append(r.own, rules(keys)...)
}

// Text returns at most limit characters of a text, its secrets hidden.
func (r *Rules) Text(text string, limit int) string {
	if text == "" {
		return ""
	}
	if r.all {
		return Hidden
	}
	piece := r.hide(Cut(text, 4*limit)) // a secret may cross the cut
	if r.more && len(text) >= long && strings.Contains(piece, cutUserinfoTrace) {
		piece = cutUserinfo.pattern.ReplaceAllString(piece, cutUserinfo.replace)
	}
	return Cut(piece, limit)
}

// long is the length of texts that may have been cut in a URL.
const long = 1024

// Property returns the value of a property: hidden whole if its name is a secret's, else
// with the secrets in it hidden. It reports whether any of it is hidden, by Spark or here.
func (r *Rules) Property(name, value string) (text string, hidden bool) {
	if value == "" {
		return "", false
	}
	if slices.ContainsFunc(r.keys, func(key *regexp.Regexp) bool { return key.MatchString(name) }) {
		return Hidden, true
	}
	text = r.hide(value)
	return text, text != value || strings.Contains(text, Hidden)
}

func (r *Rules) hide(text string) string {
	for _, rule := range r.own {
		text = rule.pattern.ReplaceAllString(text, rule.replace)
	}
	if !r.more || !suspicious(text) {
		return text
	}
	for _, rule := range known {
		text = rule.pattern.ReplaceAllString(text, rule.replace)
	}
	return text
}

// Cut returns the first characters of a text.
func Cut(text string, characters int) string {
	if len(text) <= characters {
		return text
	}
	at := 0
	for range characters {
		_, size := utf8.DecodeRuneInString(text[at:])
		if at += size; at >= len(text) {
			return text
		}
	}
	return text[:at]
}

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

// assigned are Spark's way, in which a name is followed by = or :, and then by its value; and
// that of its SQL: OPTIONS (password 'x').
func assigned(keys string) []rule {
	name := `([\w.\-]*(?:` + keys + `)[\w.\-]*["']?`
	return []rule{
		{regexp.MustCompile(name + `\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;)]+)`), `${1}` + Hidden},
		{regexp.MustCompile(name + `\s+)("[^"]*"|'[^']*')`), `${1}` + Hidden},
	}
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
