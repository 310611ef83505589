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
