package controls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// document is a policy as the program writes them: every action, resource and
// condition value in a list, no negated element. Anything else is refused, for
// it would be overlooked here.
type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Sid, Effect string
	Principal   struct{ AWS, Service []string }
	Action      []string
	Resource    []string
	Condition   map[string]map[string][]string
}

const (
	allow = "Allow"
	deny  = "Deny"
)

func parsePolicy(text string) (document, error) {
	var d document
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("read policy: %w; write every element as a list, and no NotAction, NotResource or NotPrincipal", err)
	}
	return d, nil
}

// policyAt names the input that holds a policy, by resource type.
//
//nolint:gochecknoglobals // one table, read-only
var policyAt = map[string]string{
	typeRolePolicy: "policy", typeRole: "assumeRolePolicy", typeBucketPolicy: "policy", typeKey: "policy",
}

// eachStatement judges every statement of the resource's policy; the first
// fault is the judgement.
func eachStatement(fault func(s statement) string) Check {
	return func(r Resource, _ Resources) Judgement {
		d, err := parsePolicy(r.Text(policyAt[r.Type]))
		if err != nil {
			return unmet("%v", err)
		}
		for _, s := range d.Statement {
			if f := fault(s); f != "" {
				return unmet("statement %s: %s", s.Sid, f)
			}
		}
		return met()
	}
}

func (s statement) everyone() bool {
	return slices.Contains(s.Principal.AWS, "*") || slices.Contains(s.Principal.Service, "*")
}

func refusesPlaintext(r Resource, _ Resources) Judgement {
	d, err := parsePolicy(r.Text(policyAt[typeBucketPolicy]))
	if err != nil {
		return unmet("%v", err)
	}
	for _, s := range d.Statement {
		whole := slices.ContainsFunc(s.Resource, func(a string) bool { return strings.HasSuffix(a, "/*") }) &&
			slices.ContainsFunc(s.Resource, func(a string) bool { return !strings.Contains(a, "/") })
		if s.Effect == deny && s.everyone() && whole && slices.Contains(s.Action, "s3:*") &&
			len(s.Condition) == 1 && slices.Equal(s.Condition["Bool"]["aws:SecureTransport"], []string{"false"}) {
			return met()
		}
	}
	return unmet("no statement denies everyone what comes without TLS")
}

func allowsNobodyElse(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		switch {
		case s.Effect != allow:
			return ""
		case s.everyone():
			return "allows everyone"
		case len(s.Principal.AWS) > 0:
			return fmt.Sprintf("allows %v, which the account's own policies should do", s.Principal.AWS)
		}
		return ""
	})(r, all)
}

func locksNobodyOut(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if s.Effect == deny && s.everyone() && slices.Contains(s.Action, "s3:*") && len(s.Condition) == 0 {
			return "denies everyone everything"
		}
		return ""
	})(r, all)
}
