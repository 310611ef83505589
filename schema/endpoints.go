package schema

import (
	"net/url"
	"reflect"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// AWSEndpoints replaces AWS's own endpoints. Each is empty on AWS.
type AWSEndpoints struct {
	EC2 string `json:"ec2" rule:"origin"`
	EMR string `json:"emr" rule:"origin"`
	IAM string `json:"iam" rule:"origin"`
	KMS string `json:"kms" rule:"origin"`
	S3  string `json:"s3" rule:"origin"`
	SSM string `json:"ssm" rule:"origin"`
	STS string `json:"sts" rule:"origin"`
}

// Help describes the keys, for documents.
func (AWSEndpoints) Help() map[string]string {
	return map[string]string{
		"ec2": "Endpoint of EC2.",
		"emr": "Endpoint of EMR.",
		"iam": "Endpoint of IAM.",
		"kms": "Endpoint of KMS.",
		"s3":  "Endpoint of an S3-compatible store: of the provider, Tempo and Pyroscope. Implies path-style addresses.",
		"ssm": "Endpoint of Systems Manager.",
		"sts": "Endpoint of STS.",
	}
}

// Grafana is how the program reaches Grafana's API.
type Grafana struct {
	URL string `json:"url" rule:"origin"`
}

// Help describes the keys, for documents.
func (Grafana) Help() map[string]string {
	return map[string]string{
		"url": "Address of Grafana as seen by the machine that runs the program, e.g. a tunnel's. Empty: the control" +
			" node's own.",
	}
}

func endpointRules() map[string]Rule {
	r := predicate(isOrigin, "http(s)://host[:port]").optional().with("", "leave path, query and credentials out")
	r.Holds = nil // checkOrigins checks it, because it hides credentials
	return map[string]Rule{"origin": r}
}

// checkOrigins checks a section whose fields are all origins. A value with
// credentials is not shown.
func checkOrigins(l *violation.List, path string, section any) {
	v, r := reflect.ValueOf(section), rules["origin"]
	for i := range v.NumField() {
		s := v.Field(i).String()
		var shown any = s
		if strings.Contains(s, "@") {
			shown = violation.Hidden
		}
		l.Require(s == "" || isOrigin(s), join(path, decode.Key(v.Type().Field(i))), shown, r.Text, r.Remedy)
	}
}

// Origin parses http(s)://host[:port].
func Origin(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, false
	}
	return u, u.Path == "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
}

func isOrigin(s string) bool {
	_, ok := Origin(s)
	return ok
}
