package controls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// document is a policy in the form that the program writes: every action, resource and
// condition value in a list, and no negated element. Parsing rejects any other form,
// which the checks would overlook.
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

// policyInput maps resource types to the input that holds a policy.
var policyInput = map[string]string{
	typeRolePolicy: "policy", typeRole: "assumeRolePolicy", typeBucketPolicy: "policy", typeKey: "policy",
}

// eachStatement checks every statement of a resource's policy and reports the first
// violation. The function returns "" for a statement without one.
func eachStatement(violation func(s statement) string) Check {
	return func(r Resource, _ Resources) Judgement {
		d, err := parsePolicy(r.Text(policyInput[r.Type]))
		if err != nil {
			return unmet("%v", err)
		}
		for _, s := range d.Statement {
			if v := violation(s); v != "" {
				return unmet("statement %s: %s", s.Sid, v)
			}
		}
		return met()
	}
}

func (s statement) namesEveryone() bool {
	return slices.Contains(s.Principal.AWS, "*") || slices.Contains(s.Principal.Service, "*")
}

func deniesRequestsWithoutTLS(r Resource, _ Resources) Judgement {
	d, err := parsePolicy(r.Text(policyInput[typeBucketPolicy]))
	if err != nil {
		return unmet("%v", err)
	}
	for _, s := range d.Statement {
		wholeBucket := slices.ContainsFunc(s.Resource, func(a string) bool { return strings.HasSuffix(a, "/*") }) &&
			slices.ContainsFunc(s.Resource, func(a string) bool { return !strings.Contains(a, "/") })
		if s.Effect == deny && s.namesEveryone() && wholeBucket && slices.Contains(s.Action, "s3:*") &&
			len(s.Condition) == 1 && slices.Equal(s.Condition["Bool"]["aws:SecureTransport"], []string{"false"}) {
			return met()
		}
	}
	return unmet("no statement denies everyone requests without TLS")
}

func allowsServicesOnly(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		switch {
		case s.Effect != allow:
			return ""
		case s.namesEveryone():
			return "allows everyone"
		case len(s.Principal.AWS) > 0:
			return fmt.Sprintf("allows %v, which belongs in the account's own policies", s.Principal.AWS)
		}
		return ""
	})(r, all)
}

func locksNobodyOut(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if s.Effect == deny && s.namesEveryone() && slices.Contains(s.Action, "s3:*") && len(s.Condition) == 0 {
			return "denies everyone everything"
		}
		return ""
	})(r, all)
}
