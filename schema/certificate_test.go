package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const domain = "observatory.example.com"

// nextYear is when certificates of tests expire.
func nextYear() time.Time { return time.Now().AddDate(1, 0, 0) }

// certified is a valid configuration with a certificate.
func certified(t *testing.T) schema.Config {
	t.Helper()
	issued := issuer.Issue(t, nextYear(), domain)
	c := validConfig()
	c.ControlNode.Certificate = &schema.Certificate{Domain: domain, Chain: issued.Chain(), Key: schema.Secret(issued.Key)}
	return c
}

// own edits the certificate of a configuration.
func own(edit func(*schema.Certificate)) func(*schema.Config) {
	return func(c *schema.Config) { edit(c.ControlNode.Certificate) }
}

func TestCertificates(t *testing.T) {
	other, ended := issuer.Issue(t, nextYear(), "other.example.com"), issuer.Issue(t, time.Now().Add(-time.Hour), domain)
	wildcard := issuer.Issue(t, nextYear(), "*.example.com")
	const (
		at        = "controlNode.certificate"
		noKey     = at + ".key: must be the unencrypted private key of the first certificate"
		noDomain  = at + ".domain: must be a host name"
		notSigned = at + ".chain: certificate 1 is not signed by the next"
		expired   = at + ".chain: certificate 1 is valid from"
	)
	for name, c := range map[string]struct {
		edit func(*schema.Config)
		want []string // path: part of the rule
	}{
		"valid":           {func(*schema.Config) {}, nil},
		"of one alone":    {own(func(c *schema.Certificate) { c.Chain = firstOf(c.Chain) }), nil},
		"Windows' breaks": {own(func(c *schema.Certificate) { c.Chain = strings.ReplaceAll(c.Chain, "\n", "\r\n") }), nil},
		"sealed key":      {own(func(c *schema.Certificate) { c.Key = schema.Sealed }), nil},
		"wildcard":        {own(func(c *schema.Certificate) { c.Chain, c.Key = wildcard.Chain(), schema.Secret(wildcard.Key) }), nil},
		"empty": {own(func(c *schema.Certificate) { *c = schema.Certificate{} }),
			[]string{at + ".chain: there is none", noDomain, noKey}},
		"no domain":      {own(func(c *schema.Certificate) { c.Domain = "Observatory" }), []string{noDomain}},
		"another domain": {own(func(c *schema.Certificate) { c.Domain = "example.com" }), []string{at + ".domain: which is for " + domain}},
		"text":           {own(func(c *schema.Certificate) { c.Chain = "observatory.pem" }), []string{at + ".chain: not PEM"}},
		"text after it":  {own(func(c *schema.Certificate) { c.Chain += "and so on" }), []string{at + ".chain: not PEM"}},
		"key in chain":   {own(func(c *schema.Certificate) { c.Chain += string(c.Key) }), []string{at + ".chain: block 3 is a PRIVATE KEY"}},
		"broken": {own(func(c *schema.Certificate) {
			c.Chain = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"
		}), []string{at + ".chain: certificate 1 cannot be read"}},
		"wrong order":    {own(func(c *schema.Certificate) { c.Chain = secondOf(c.Chain) + firstOf(c.Chain) }), []string{notSigned}},
		"of two servers": {own(func(c *schema.Certificate) { c.Chain = firstOf(c.Chain) + other.Intermediate }), []string{notSigned}},
		"another's key":  {own(func(c *schema.Certificate) { c.Key = schema.Secret(other.Key) }), []string{noKey}},
		"no key":         {own(func(c *schema.Certificate) { c.Key = "" }), []string{noKey}},
		"no private key": {own(func(c *schema.Certificate) { c.Key = schema.Secret(c.Chain) }), []string{noKey}},
		"encrypted key": {own(func(c *schema.Certificate) {
			c.Key = schema.Secret(strings.ReplaceAll(string(c.Key), "PRIVATE", "ENCRYPTED PRIVATE"))
		}), []string{noKey}},
		"expired": {own(func(c *schema.Certificate) { c.Chain, c.Key = ended.Chain(), schema.Secret(ended.Key) }), []string{expired}},
		"all at once": {func(c *schema.Config) {
			c.ControlNode.AMI, c.ControlNode.Certificate.Domain, c.ControlNode.Certificate.Chain = "x", "x", ended.Chain()
		}, []string{"controlNode.ami: must be", expired, noDomain, noKey}},
		"tunnel": {func(c *schema.Config) {
			c.ControlNode.Access, c.ControlNode.APIURL, c.Grafana.URL = schema.AccessTunnel, "https://127.0.0.1:6443", "https://127.0.0.1:3000"
		}, []string{at + ": must not be given with controlNode.access tunnel"}},
		"program at an address": {func(c *schema.Config) { c.Grafana.URL = "https://10.0.0.5:3000" },
			[]string{"grafana.url: must be at a name of controlNode.certificate"}},
		"program at the domain": {func(c *schema.Config) { c.Grafana.URL = "https://" + domain + ":13000" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := certified(t)
			c.edit(&cfg)
			err := cfg.Validate()
			found := violation.All(err)
			require.Len(t, found, len(c.want), "%v", err)
			for i, v := range found { // they are sorted
				path, rule, _ := strings.Cut(c.want[i], ": ")
				require.Equal(t, path, v.Path)
				require.Contains(t, v.Rule, rule)
				require.NotEmpty(t, v.Remedy)
			}
			if err != nil {
				require.NotContains(t, err.Error(), "PRIVATE KEY-----")
			}
		})
	}
}

func firstOf(chain string) string  { return chain[:strings.Index(chain[1:], "-----BEGIN")+1] }
func secondOf(chain string) string { return chain[len(firstOf(chain)):] }

func TestCertificateExpiry(t *testing.T) {
	until := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	own := schema.Certificate{Chain: issuer.Issue(t, until, domain).Chain()}
	require.Equal(t, until, own.Expires())
	require.Zero(t, (&schema.Certificate{Chain: "x"}).Expires())
}

func TestSecretsAreNotShown(t *testing.T) {
	cfg := certified(t)
	key := cfg.ControlNode.Certificate.Key
	line := strings.Split(string(key), "\n")[1]
	for _, shown := range []string{
		fmt.Sprint(key), fmt.Sprintf("%+v", *cfg.ControlNode.Certificate), fmt.Sprintf("%#v", key), violation.JSON(cfg),
	} {
		require.NotContains(t, shown, line)
		require.Contains(t, shown, "[secret]")
	}
	text, err := json.Marshal(schema.Secret(""))
	require.NoError(t, err)
	require.JSONEq(t, `""`, string(text))
}

// A program that would deploy a sealed key stops; a rehearsal does not.
func TestSealedKeyIsOnlyForRehearsals(t *testing.T) {
	cfg := certified(t)
	cfg.ControlNode.Certificate.Key = schema.Sealed
	require.NoError(t, cfg.Validate())
	var l violation.List
	cfg.CheckSecretsAreOpen(&l)
	require.ErrorContains(t, l.Err(), "controlNode.certificate.key: [hidden] must be the unencrypted private key")
	var none violation.List
	certifiedConfig := certified(t)
	certifiedConfig.CheckSecretsAreOpen(&none)
	require.NoError(t, none.Err())
}
