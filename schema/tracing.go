package schema

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Protocols of a copy of the traces: values of tracing.protocol.
const (
	ProtocolGRPC = "grpc"
	ProtocolHTTP = "http"
)

const exporterOTLP = "otlp"

// Tracing says which jobs and steps have spans, and where a copy of all spans goes.
type Tracing struct {
	Enabled          bool    `json:"enabled"`
	SamplingRatio    float64 `json:"samplingRatio" rule:"samplingRatio"`
	Endpoint         string  `json:"endpoint" rule:"traceEndpoint"`
	Protocol         string  `json:"protocol" rule:"traceProtocol"`
	HeadersParameter string  `json:"headersParameter" rule:"parameterName"`
	CACertificate    string  `json:"caCertificate" rule:"caCertificates"`
	ServiceName      string  `json:"serviceName" rule:"serviceName"`
	ExporterType     string  `json:"exporterType" rule:"exporterType"`

	AirflowSecurityGroups []string `json:"airflowSecurityGroups" rule:"senderGroup"`
}

// Help describes the keys, for documents.
func (Tracing) Help() map[string]string {
	return map[string]string{
		"enabled": "Spans of jobs and steps, in Tempo. Metrics, logs and profiles do not depend on it. Changing it or samplingRatio " +
			"replaces the cluster.",
		"samplingRatio": "Share of the traces that are kept, decided where a trace begins. Whoever starts a job or step with a " +
			"traceparent has decided already.",
		"endpoint": "Server outside the platform that gets a copy of all spans, by OTLP over TLS. Empty: none.",
		"protocol": "OTLP's transport to endpoint.",
		"headersParameter": "Name of an SSM parameter of type SecureString with the headers for endpoint, one a line: `name: value`. " +
			"The control node reads it. Empty: none.",
		"caCertificate": "Certificate authorities of endpoint, PEM. Empty: the public ones.",
		"serviceName":   "service.name of every span of the copy. Empty: as in Tempo.",
		"exporterType":  "How the copy is sent. Jaeger takes OTLP too.",
		"airflowSecurityGroups": "Security groups of Airflow's schedulers and workers, which may then send their spans to the control node: " +
			"OTLP has no password. They are in the control node's VPC, or in a peered one of the same account and region.",
	}
}

// SetDefaults keeps every trace, in Tempo alone.
func (t *Tracing) SetDefaults() {
	*t = Tracing{Enabled: true, SamplingRatio: 1, Protocol: ProtocolGRPC, ExporterType: exporterOTLP, AirflowSecurityGroups: []string{}}
}

const (
	endpointRule = "must be host:port with protocol grpc and https://host[:port][/path] with http, without credentials; " +
		"the host is a name or an IPv4 address"
	caRule = "must be one or more certificates in PEM form"
)

var (
	hostName     = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	endpointPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*/?$`)
	// Systems Manager User Guide, "Creating Parameter Store parameters": at most 15
	// levels, and no names of AWS's own.
	ownParameter = regexp.MustCompile(`^(/[A-Za-z0-9_.-]+){1,15}$`)
	awsParameter = regexp.MustCompile(`(?i)^/(aws|ssm)`)
)

func tracingRules() map[string]Rule {
	parameter := textOnly("must be the name of an SSM parameter with its path, such as /observatory/trace-headers")
	parameter.Pattern, parameter.Optional = ownParameter, true
	return map[string]Rule{
		"samplingRatio": Rule{Text: "must be 0 to 1", Holds: func(v any) bool {
			ratio, ok := v.(float64)
			return ok && ratio >= 0 && ratio <= 1
		}}.with("", violation.SetDecimalRemedy("tracing.samplingRatio")),
		"traceEndpoint":  textOnly(endpointRule),
		"traceProtocol":  oneOf(ProtocolGRPC, ProtocolHTTP),
		"parameterName":  parameter,
		"caCertificates": textOnly(caRule),
		"serviceName": pattern(`^[A-Za-z0-9]([A-Za-z0-9 ._/-]{0,126}[A-Za-z0-9])?$`,
			"1 to 128 letters, digits and -._/ or spaces between them").optional(),
		"exporterType": oneOf(exporterOTLP).with("", "set it to otlp; Jaeger takes OTLP itself, on its ports 4317 (grpc) and 4318 (http)"),
	}
}

// Ratio is the share of the traces that are kept, as Spark and `observatory serve`
// read it; "" = there are no traces.
func (t Tracing) Ratio() string {
	if !t.Enabled {
		return ""
	}
	return strconv.FormatFloat(t.SamplingRatio, 'f', -1, 64)
}

// Senders returns the security groups that may send spans besides the nodes of clusters.
func (t Tracing) Senders() []string {
	if !t.Enabled {
		return nil
	}
	return t.AirflowSecurityGroups
}

// Copied reports whether spans are sent to Endpoint.
func (t Tracing) Copied() bool { return t.Enabled && t.Endpoint != "" }

// Validate adds the section's violations to l.
func (t Tracing) Validate(l *violation.List, path string) {
	checkFields(l, path, t)
	t.checkEndpoint(l, path)
	l.Warn(t.Enabled || len(t.AirflowSecurityGroups) == 0, path+".airflowSecurityGroups", t.AirflowSecurityGroups,
		"admits nobody while "+path+".enabled is false: no job continues a trace of Airflow's", "set that to true, or remove the groups")
	// Somebody may have put the headers themselves there.
	l.Require(t.HeadersParameter == "" || isOwnParameter(t.HeadersParameter), path+".headersParameter", violation.Hidden,
		rules["parameterName"].Text, "store the headers with `aws ssm put-parameter --type SecureString`, and set its name")
	if t.CACertificate != "" {
		l.Require(isCAs(t.CACertificate), path+".caCertificate", t.CACertificate, caRule, setRemedy(path+".caCertificate", "", "ca.pem"))
	}
}

func (t Tracing) checkEndpoint(l *violation.List, path string) {
	if t.Endpoint == "" {
		for _, key := range []struct{ name, value, empty string }{
			{"protocol", t.Protocol, ProtocolGRPC}, {"headersParameter", t.HeadersParameter, ""},
			{"caCertificate", t.CACertificate, ""}, {"serviceName", t.ServiceName, ""},
		} {
			l.Require(key.value == key.empty || !rules["traceProtocol"].Holds(t.Protocol), path+"."+key.name, key.value,
				fmt.Sprintf("must not be set without %s.endpoint: nothing is sent", path), fmt.Sprintf("remove it, or set %s.endpoint", path))
		}
		return
	}
	var shown any = t.Endpoint
	if strings.ContainsAny(t.Endpoint, "@?#") {
		shown = violation.Hidden
	}
	l.Warn(t.Enabled, path+".endpoint", shown, "gets nothing while "+path+".enabled is false: the jobs of clusters.* send no spans",
		"set that to true, or remove the endpoint")
	if !rules["traceProtocol"].Holds(t.Protocol) {
		return
	}
	_, _, ok := t.HostPort()
	l.Require(ok, path+".endpoint", shown, endpointRule,
		fmt.Sprintf("keep credentials in the parameter that %s.headersParameter names; for another form set %s.protocol", path, path))
}

// HostPort returns the host and the port of Endpoint; ok is false if it has another
// form than Protocol requires.
func (t Tracing) HostPort() (host string, port int, ok bool) {
	address := t.Endpoint
	if t.Protocol == ProtocolHTTP {
		u, err := url.Parse(t.Endpoint)
		if err != nil || u.Scheme != "https" || !endpointPath.MatchString(u.Path) ||
			*u != (url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}) {
			return "", 0, false
		}
		if address = u.Host; u.Port() == "" {
			address = net.JoinHostPort(u.Hostname(), "443")
		}
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, false
	}
	port, err = strconv.Atoi(text)
	return host, port, err == nil && strconv.Itoa(port) == text && inRange(port, 1, 65535) && isHost(host)
}

// isHost accepts names and addresses that pods of the control node can reach: their
// network has no IPv6.
func isHost(s string) bool {
	ip, err := netip.ParseAddr(s)
	return (err == nil && ip.Is4() && ip.IsGlobalUnicast()) || (err != nil && hostName.MatchString(s))
}

func isOwnParameter(s string) bool {
	return ownParameter.MatchString(s) && !awsParameter.MatchString(s)
}

func isCAs(text string) bool {
	rest := bytes.TrimSpace([]byte(text))
	for found := false; ; found = true {
		if len(rest) == 0 {
			return found
		}
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		rest = bytes.TrimSpace(rest)
	}
}
