package schema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// secretName matches names that end with a word for a secret. Trino and Presto call the
// password of a keystore its key (Trino, "TLS and HTTPS").
var secretName = regexp.MustCompile(`(?i)(secret|password|passwd|passphrase|token|credentials?|signature|[._-]pwd|` +
	`([._-]|^)(pass|sig)|` +
	`(secret|access|api|auth|account|private|encryption|shared|session|master|signing|storage|(key|trust)[._-]?store)[._-]?key)$|` +
	`[a-z0-9](Pass|Pwd)$`)

// harmlessName matches names of what is said about a secret.
var harmlessName = regexp.MustCompile(`(?i)(file|path|dir|provider|class|type|ur[il]|endpoint|server|address|host|port|id|name|arn|` +
	`parameter|algorithm|enabled?|regex|service|header|format|mode|alias|issuer|audience|scope|length|validity|lifetime|interval|expiry|` +
	`timeout|ttl|mechanism|pattern|mapping|script|count|size|bits|account|email|user|renewer|factory|store|acl|znode|connectstring|keys)s?$`)

// harmlessValue matches what no secret looks like: booleans, numbers, sizes and durations,
// classes with their package, paths and URIs.
var harmlessValue = regexp.MustCompile(`^(true|false|-?[\d.]+[a-zA-Z]{0,3}|(,?([a-z][\w$]*\.)+[A-Z][\w$]*)+|(\w+:/)?/[\w./@:-]*)$`)

// reference matches what stands for a secret: an ARN, which people may read, and
// variables, which are replaced where the secret is.
var reference = regexp.MustCompile(`^(arn:aws[a-z-]*:|\$\{|\$\(|\$[A-Z_][A-Z0-9_]*$|<[\w -]+>$|\{\{|\*+$)`)

// keyOfKMS matches what names a key of KMS (KMS Developer Guide, "Key identifiers").
var keyOfKMS = regexp.MustCompile(`^(alias/\S+|(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}))$`)

// notHidden matches those of Hadoop's sensitive names that hold no secret, and words that
// contain another.
var notHidden = regexp.MustCompile(`(?i)^hadoop\.security\.sensitive-config-keys$|encryption\.algorithm$|secretary|tokeni[sz]\w*|tokens`)

// sensitive matches names whose values Hadoop or Spark does not log.
var sensitive = sync.OnceValue(func() *regexp.Regexp {
	var each []string
	for _, p := range facts.SensitivePatterns() {
		each = append(each, "("+p+")")
	}
	return regexp.MustCompile(strings.Join(each, "|"))
})

// isSecret reports whether a value of a name is a secret: the name ends with a word for
// one, or Hadoop or Spark hides its value, and neither the name nor the value says that it
// is about a secret only.
func isSecret(name, value string) bool {
	_, typed := facts.SparkSettingNamed(name)
	switch {
	case value == "" || typed || reference.MatchString(value):
		return false
	case strings.HasSuffix(strings.ToLower(name), "encryption.key") && keyOfKMS.MatchString(value):
		return false
	case isKnownElsewhere(name) && !endsAsSecret(name):
		return false
	case endsAsSecret(name):
		return true
	}
	// Options of commands are no properties: there the end of the name says it.
	return strings.Contains(name, ".") && sensitive().MatchString(notHidden.ReplaceAllString(name, "")) &&
		!harmlessName.MatchString(name) && !harmlessValue.MatchString(value)
}

// endsAsSecret reports whether a name ends with a word for a secret. One that an
// application knows says itself what it is.
func endsAsSecret(name string) bool {
	return secretName.MatchString(name) && (!isKnownElsewhere(name) || !strings.HasSuffix(name, ".signature"))
}

// isKnownElsewhere reports whether an application has a property of this name. No name of
// theirs holds a secret in its middle.
func isKnownElsewhere(name string) bool {
	name = strings.TrimPrefix(name, "spark.hadoop.")
	files := []string{classCoreSite, "hdfs-site", yarnSite, "mapred-site", classHiveSite, sparkDefaults}
	return slices.ContainsFunc(files, func(c string) bool {
		_, found := slices.BinarySearch(facts.PropertiesOf(c), name)
		return found
	})
}
