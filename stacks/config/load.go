package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/cost"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// namespace goes before each key in stack files and errors.
const namespace = platform.Project + ":"

// Load reads and validates the stack's configuration. A key that is marked secret is
// refused, except where it holds the private key of a certificate: the state has
// everything else in clear. more are checks beyond those of a rehearsal; their
// violations come in the same error. What is allowed and yet likely wrong is logged as
// a warning.
func Load(ctx *pulumi.Context, more ...Check) (schema.Config, error) {
	values := map[string]string{}
	l := violation.List{Prefix: namespace}
	sealed := false
	for _, name := range names(ctx) {
		value, present := ctx.GetConfig(namespace + name)
		secret := ctx.IsConfigSecret(namespace + name)
		switch {
		case !present:
		case secret && name != secretSection:
			refuseSecret(&l, name)
		default:
			values[name] = value
			sealed = sealed || secret
		}
	}
	if sealed { // the engine tells the section alone, not which of its values is a secret
		l.Hide(secretSection)
		l.Show(schema.CertificateDomainPath)
	}
	cfg, err := parse(values, &l, append(more, keepSecrets(sealed))...)
	for _, w := range l.Warnings() {
		if logErr := ctx.Log.Warn(w.Error(), nil); logErr != nil {
			return cfg, errors.Join(err, fmt.Errorf("warn of the configuration: %w", logErr))
		}
	}
	return cfg, err
}

// secretSection is the key that Pulumi marks secret if schema.CertificateKeyPath
// below it is one.
const secretSection = "controlNode"

// keepSecrets returns the check that the private key is a secret and nothing else is.
// secret says whether its section is marked as one.
func keepSecrets(secret bool) Check {
	return func(cfg schema.Config, l *violation.List) {
		own := cfg.ControlNode.Certificate
		hasKey := own != nil && own.Key != ""
		if secret && !hasKey {
			refuseSecret(l, secretSection)
		}
		l.Require(secret || !hasKey || own.Key == schema.Sealed, schema.CertificateKeyPath, violation.Hidden,
			"must be a secret: the stack's file has it in clear",
			"make another key, and set it with `pulumi config set --secret --path '"+namespace+schema.CertificateKeyPath+"' < privkey.pem`")
	}
}

// Check adds violations of a configuration to a list.
type Check = func(schema.Config, *violation.List)

// names lists the known keys and, where the engine passes the configuration
// in the environment, unknown ones of the namespace too, so that a misspelt key
// is a violation and not a silent default.
func names(ctx *pulumi.Context) []string {
	set := map[string]bool{}
	for _, k := range rootKeys() {
		set[k] = true
	}
	var given map[string]string
	if err := json.Unmarshal([]byte(os.Getenv(pulumi.EnvConfig)), &given); err == nil {
		for k := range given {
			name, ours := strings.CutPrefix(k, namespace)
			if _, present := ctx.GetConfig(k); ours && present {
				set[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func rootKeys() []string { return decode.Keys(reflect.TypeFor[schema.Config]()) }

// CheckKeys reports each unknown key of the namespace; keys are full, such as
// "emr-observatory:clusters". It is for callers that run the program inline, where the
// engine gives a program only the keys that it requests.
func CheckKeys(keys []string) error {
	l := violation.List{Prefix: namespace}
	values := map[string]string{}
	for _, k := range keys {
		values[k] = ""
	}
	rejectUnknownKeys(&l, values)
	return l.Err()
}

// rejectUnknownKeys takes values by full key.
func rejectUnknownKeys(l *violation.List, values map[string]string) {
	known := rootKeys()
	for _, k := range slices.Sorted(maps.Keys(values)) {
		switch name, ours := strings.CutPrefix(k, namespace); {
		case !ours || slices.Contains(known, name):
		case name == formerCluster:
			refuseFormerCluster(l, values[k])
		default:
			decode.UnknownKey(l, name, known)
		}
	}
}

// Parse decodes the values of the namespace's keys over the defaults and
// validates the result. Strings are bare, everything else is JSON, as Pulumi
// passes them. All violations come in one error.
func Parse(values map[string]string) (schema.Config, error) {
	return parse(values, &violation.List{Prefix: namespace})
}

func parse(values map[string]string, l *violation.List, more ...Check) (schema.Config, error) {
	cfg := schema.Defaults()
	if value, given := values[formerCluster]; given {
		refuseFormerCluster(l, value)
		values = maps.Clone(values)
		delete(values, formerCluster)
	}
	decode.Into(values, &cfg, l)
	cfg.Check(l)
	for _, check := range more {
		check(cfg, l)
	}
	if l.Err() == nil { // the cost of what is wrong is nobody's
		cost.CheckBudget(cfg, l)
	}
	return cfg, l.Err()
}

// refuseSecret records that a key is marked secret, see Load.
func refuseSecret(l *violation.List, name string) {
	l.Unreadable(name, violation.Secret, "must not be a secret: it is stored in clear", "set it again without --secret")
}

// Fields lists every key, with its rule in words.
func Fields() []decode.Field {
	fields := decode.Fields(schema.Defaults())
	for i, f := range fields {
		fields[i].Rule = schema.RuleText(f)
	}
	return fields
}
