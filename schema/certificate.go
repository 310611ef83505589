package schema

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// CertificateKeyPath is the only key that must be a secret of Pulumi. The domain beside it
// is public: it is in the certificate.
const (
	CertificateKeyPath    = "controlNode.certificate.key"
	CertificateDomainPath = "controlNode.certificate.domain"
)

// Certificate is a certificate of the user's own for Grafana and the status page.
type Certificate struct {
	Domain string `json:"domain" rule:"domain"`
	Chain  string `json:"chain" rule:"chain"`
	Key    Secret `json:"key" rule:"privateKey"`
}

// Help describes the keys, for documents.
func (Certificate) Help() map[string]string {
	return map[string]string{
		"domain": "Host name of grafanaUrl and statusUrl. You make its DNS record, for the address of controlNode.access.",
		"chain":  "The certificate and its intermediates, PEM.",
		"key":    "Its private key, PEM. Set it with `--secret`.",
	}
}

const (
	chainRule = "must be certificates in PEM form: the server's first, each signed by the next, all valid today"
	keyRule   = "must be the unencrypted private key of the first certificate, in PEM form and as a secret"
)

func certificateRules() map[string]Rule {
	// RFC 1123 2.1, RFC 1035 2.3.4.
	domain := pattern(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`,
		"a host name in lower case such as observatory.example.com")
	return map[string]Rule{"domain": domain, "chain": textOnly(chainRule), "privateKey": textOnly(keyRule)}
}

// Validate adds the violations of a certificate that is given to l. It shows no key.
func (c *Certificate) Validate(l *violation.List, path string, now time.Time) {
	if c == nil {
		return
	}
	checkFields(l, path, *c)
	chain, err := parseChain(c.Chain)
	l.Require(err == nil, path+".chain", c.Chain, fmt.Sprintf("%s, but %v", chainRule, err),
		setRemedy(path+".chain", "", "fullchain.pem"))
	c.validateKey(l, path+".key", len(chain) > 0)
	if len(chain) == 0 {
		return
	}
	l.Require(!rules["domain"].Holds(c.Domain) || chain[0].VerifyHostname(c.Domain) == nil, path+".domain", c.Domain,
		"must be a name of the certificate, which is for "+orNone(strings.Join(chain[0].DNSNames, ", ")),
		"set it to one of them, or get a certificate for this domain")
	for i, one := range chain {
		valid := !now.Before(one.NotBefore) && !now.After(one.NotAfter)
		l.Require(valid, path+".chain", one.Subject.String(), fmt.Sprintf("%s; certificate %d is valid from %s to %s",
			chainRule, i+1, one.NotBefore.Format(time.DateOnly), one.NotAfter.Format(time.DateOnly)), "renew it, and set chain and key again")
	}
}

// validateKey checks that the key is an unencrypted private key in PEM and, if the chain
// is readable, that it matches the chain's first certificate. A sealed key is not checked.
func (c *Certificate) validateKey(l *violation.List, path string, chainReadable bool) {
	if c.Key == Sealed {
		return
	}
	remedy := setRemedy(path, "--secret ", "privkey.pem")
	block, _ := pem.Decode([]byte(c.Key))
	isKey := block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY") && block.Type != "ENCRYPTED PRIVATE KEY"
	l.Require(isKey, path, violation.Hidden, keyRule, remedy)
	if !isKey || !chainReadable {
		return
	}
	_, err := tls.X509KeyPair([]byte(c.Chain), []byte(c.Key))
	l.Require(err == nil, path, violation.Hidden, keyRule, remedy)
}

// setRemedy is the command that sets a key to a file's content.
func setRemedy(path, flags, file string) string {
	return fmt.Sprintf("set it with `pulumi config set %s--path '%s:%s' < %s`", flags, platform.Project, path, file)
}

func orNone(s string) string {
	if s == "" {
		return "no host name"
	}
	return s
}

// parseChain reads certificates of which each is signed by the next.
func parseChain(text string) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	rest := []byte(strings.TrimSpace(text))
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("there is text that is not PEM")
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("block %d is a %s", len(chain)+1, block.Type)
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d cannot be read: %w", len(chain)+1, err)
		}
		if n := len(chain); n > 0 && chain[n-1].CheckSignatureFrom(one) != nil {
			return nil, fmt.Errorf("certificate %d is not signed by the next", n)
		}
		chain = append(chain, one)
	}
	if len(chain) == 0 {
		return nil, errors.New("there is none")
	}
	return chain, nil
}

// Expires returns the earliest expiry in the chain; zero if the chain cannot be read.
func (c *Certificate) Expires() time.Time {
	chain, err := parseChain(c.Chain)
	if err != nil {
		return time.Time{}
	}
	first := chain[0].NotAfter
	for _, one := range chain {
		if one.NotAfter.Before(first) {
			first = one.NotAfter
		}
	}
	return first
}

// isFor reports whether the certificate is for a host.
func (c *Certificate) isFor(host string) bool {
	chain, err := parseChain(c.Chain)
	return err == nil && chain[0].VerifyHostname(host) == nil
}

// checkCertificate checks a certificate against the way to the control node.
func (c Config) checkCertificate(l *violation.List) {
	own := c.ControlNode.Certificate
	if own == nil {
		return
	}
	l.Require(c.ControlNode.Access != AccessTunnel, "controlNode.certificate", own.Domain,
		"must not be given with controlNode.access tunnel: the tunnel ends at 127.0.0.1, not at a domain",
		"remove it, or set controlNode.access to public or vpc")
	u, ok := Origin(c.Grafana.URL)
	l.Require(!ok || c.ControlNode.Access != AccessVPC || own.isFor(u.Hostname()), "grafana.url", c.Grafana.URL,
		"must be at a name of controlNode.certificate: the program verifies Grafana's certificate",
		"remove it, or use https://"+own.Domain+" and the port")
}

// CheckSecretsAreOpen adds what is wrong with secrets only where they are used, which
// they are not in a rehearsal.
func (c Config) CheckSecretsAreOpen(l *violation.List) {
	own := c.ControlNode.Certificate
	l.Require(own == nil || own.Key != Sealed, CertificateKeyPath, violation.Hidden, keyRule,
		setRemedy(CertificateKeyPath, "--secret ", "privkey.pem"))
}
