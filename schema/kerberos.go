package schema

import (
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// secretReference is the name under which Parameter Store gives a secret of Secrets
// Manager (Systems Manager User Guide, "Referencing AWS Secrets Manager secrets from
// Parameter Store parameters").
var secretReference = regexp.MustCompile(`^/aws/reference/secretsmanager/[A-Za-z0-9/_+=.@-]{1,512}$`)

func kerberosRules() map[string]Rule {
	realm := pattern(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,253}[A-Za-z0-9])?$`,
		"the name of a Kerberos realm, such as EC2.INTERNAL, in upper case by convention")
	server := predicate(isServer, "a host name or an IPv4 address, with or without a port")
	parameter := textOnly("must be the name of an SSM parameter with its path, such as /observatory/kdc-password, or " +
		"/aws/reference/secretsmanager/ and the name of a secret")
	hours := Rule{Text: "must be 1 or more", Holds: func(v any) bool {
		n, ok := v.(int)
		return ok && n >= 1
	}}
	return map[string]Rule{
		"realm": realm, "realmServer": server, "passwordParameter": parameter, "ticketLifetime": hours,
		"realmDomain": predicate(hostName.MatchString, "a DNS domain, such as ad.example.com"),
		"joinUser":    pattern(`^[^\s"'\\<>$|`+"`"+`]{1,256}$`, "the name of a user of the domain").optional(),
	}
}

// isServer accepts host and host:port.
func isServer(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = s, "1"
	}
	n, err := strconv.Atoi(port)
	return err == nil && inRange(n, 1, 65535) && (hostName.MatchString(host) || net.ParseIP(host).To4() != nil)
}

func isPasswordParameter(s string) bool { return isOwnParameter(s) || secretReference.MatchString(s) }

// Kerberos makes EMR run a KDC on the cluster's primary node, and the cluster's services
// ask users for its tickets.
type Kerberos struct {
	Realm               string      `json:"realm" rule:"realm"`
	PasswordParameter   string      `json:"passwordParameter" rule:"passwordParameter"`
	TicketLifetimeHours int         `json:"ticketLifetimeHours" rule:"ticketLifetime"`
	Trust               *RealmTrust `json:"trust"`
}

// RealmTrust lets users of another realm in, such as that of an Active Directory.
type RealmTrust struct {
	Realm                 string `json:"realm" rule:"realm"`
	Domain                string `json:"domain" rule:"realmDomain"`
	AdminServer           string `json:"adminServer" rule:"realmServer"`
	KDCServer             string `json:"kdcServer" rule:"realmServer"`
	PasswordParameter     string `json:"passwordParameter" rule:"passwordParameter"`
	JoinUser              string `json:"joinUser" rule:"joinUser"`
	JoinPasswordParameter string `json:"joinPasswordParameter" rule:"passwordParameter"`
}

// Help describes the keys, for documents.
func (Kerberos) Help() map[string]string {
	return map[string]string{
		"realm": "Realm of the cluster.",
		"passwordParameter": "Name of an SSM parameter of type SecureString with the password of the KDC's administrator. " +
			"`pulumi up` reads it, and its identity needs kms:Decrypt for a key of your own, and secretsmanager:GetSecretValue for a secret. " +
			"Another password is another cluster.",
		"ticketLifetimeHours": "How long a ticket is valid.",
		"trust":               "Realm whose users may use the cluster. Left out: the cluster's own realm alone.",
	}
}

// Help describes the keys, for documents.
func (RealmTrust) Help() map[string]string {
	return map[string]string{
		"realm":             "The other realm.",
		"domain":            "Its DNS domain.",
		"adminServer":       "Host of its administration server; the usual port is 749. masterSecurityGroups must open the way there.",
		"kdcServer":         "Host of its KDC; the usual port is 88.",
		"passwordParameter": "Name of an SSM parameter with the password of the principal that both realms share.",
		"joinUser":          "User that joins the nodes to an Active Directory domain. Empty: another kind of KDC.",
		"joinPasswordParameter": "Name of an SSM parameter with that user's " +
			"password.",
	}
}

// SetDefaults sets the realm of EMR's guide and the lifetime of its examples.
func (k *Kerberos) SetDefaults() { *k = Kerberos{Realm: "EC2.INTERNAL", TicketLifetimeHours: 24} }

// inClear is the refusal of a password in the configuration.
func inClear() decode.Refusal {
	return decode.Refusal{Rule: "is no key: the configuration holds no password in clear", Remedy: "store the password with " +
		"`aws ssm put-parameter --type SecureString`, and name the parameter in passwordParameter"}
}

// Refused says of keys that EMR has why this one has not.
func (Kerberos) Refused() map[string]decode.Refusal {
	external := decode.Refusal{Rule: "is no key: the KDC is on the cluster's primary node, and no other one can take its place",
		Remedy: "remove it, and let the users of another KDC in with trust"}
	return map[string]decode.Refusal{
		"password": inClear(), "kdcAdminPassword": inClear(),
		"provider": external, "externalKdc": external, "externalKdcConfiguration": external, "kdcServer": external, "adminServer": external,
		"crossRealmTrustConfiguration": {Rule: "is no key: it has a section of its own", Remedy: "use trust"},
	}
}

// Refused says of keys that EMR has why this one has not.
func (RealmTrust) Refused() map[string]decode.Refusal {
	return map[string]decode.Refusal{"password": inClear()}
}

func (c Cluster) checkKerberos(l *violation.List, path string) {
	k := c.Kerberos
	if k == nil {
		return
	}
	checkFields(l, path, *k)
	requireParameter(l, path+".passwordParameter", k.PasswordParameter)
	warnOfLowerCase(l, path+".realm", k.Realm)
	l.Require(c.Masters() <= 1, path, c.Masters(), "must not be set with three primary nodes: EMR runs no KDC of its own on them",
		"set the number of primary nodes to 1")
	if k.Trust != nil {
		k.Trust.check(l, path+".trust", k.Realm)
	}
}

func (t RealmTrust) check(l *violation.List, path, own string) {
	checkFields(l, path, t)
	requireParameter(l, path+".passwordParameter", t.PasswordParameter)
	warnOfLowerCase(l, path+".realm", t.Realm)
	l.Require(t.Realm != own, path+".realm", t.Realm, "must be another realm than the cluster's", "remove trust, or name the other realm")
	if t.JoinUser != "" {
		requireParameter(l, path+".joinPasswordParameter", t.JoinPasswordParameter)
	} else {
		l.Require(t.JoinPasswordParameter == "", path+".joinPasswordParameter", violation.Hidden, "must be empty without joinUser",
			"set "+path+".joinUser too, or remove it")
	}
}

// requireParameter hides the value: somebody may have put the password itself there.
func requireParameter(l *violation.List, path, name string) {
	l.Require(isPasswordParameter(name), path, violation.Hidden, rules["passwordParameter"].Text,
		"store the password with `aws ssm put-parameter --type SecureString`, and set its name")
}

func warnOfLowerCase(l *violation.List, path, realm string) {
	l.Warn(realm == strings.ToUpper(realm), path, realm, "should be in upper case, by which Kerberos tells a realm from a domain",
		"write "+strings.ToUpper(realm))
}
