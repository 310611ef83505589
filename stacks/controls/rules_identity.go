package controls

import (
	"fmt"
	"slices"
	"strings"
)

const (
	typeKey        = "aws:kms/key:Key"
	typeParameter  = "aws:ssm/parameter:Parameter"
	typeRole       = "aws:iam/role:Role"
	typeRolePolicy = "aws:iam/rolePolicy:RolePolicy"
	typeAttachment = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
)

func keyRules() []Rule {
	return []Rule{
		{IDs: []string{"CKV_AWS_7", "AWS-0065", "KMS.4"}, Wants: "A key is rotated", Types: []string{typeKey}, Check: is("enableKeyRotation", true)},
		{IDs: []string{"CKV_AWS_33", "CKV2_AWS_64", "KMS.5"}, Wants: "A key has a policy, and it admits nobody but the account", Types: []string{typeKey}, Check: keyOfAccount},
		{IDs: []string{"CKV_AWS_337", "CKV2_AWS_34"}, Wants: "A parameter is encrypted with the stack's own key", Types: []string{typeParameter}, Check: secureParameter},
	}
}

func identityRules() []Rule {
	roles, policies := []string{typeRole}, []string{typeRolePolicy}
	return []Rule{
		{IDs: []string{"CKV_AWS_60", "CKV_AWS_61"}, Wants: "A role is assumed by named services only", Types: roles, Check: trustsServices},
		{IDs: []string{"observatory/confused-deputy"}, Wants: "A service that names its source is trusted for this account's own only", Types: []string{typeRole, typeBucketPolicy}, Check: boundToAccount},
		{IDs: []string{"CKV_AWS_62", "CKV_AWS_63", "AWS-0057"}, Wants: "A policy names each action", Types: policies, Check: namesActions},
		{IDs: []string{"CKV_AWS_290", "CKV_AWS_355"}, Wants: "A policy names resources wherever the service knows them", Types: policies, Check: namesResources},
		{IDs: []string{"observatory/pass-role"}, Wants: "A role is passed by name and to one service", Types: policies, Check: passesOneRole},
		{IDs: []string{"CKV_AWS_274", "CKV_AWS_275"}, Wants: "Of AWS's policies only those are used that are listed with a reason", Types: []string{typeAttachment}, Check: listedManagedPolicy},
	}
}

// keyOfAccount accepts the account's root with every action: that is how a key
// policy lets the account's IAM policies decide (KMS Developer Guide, "Default
// key policy"); by itself it lets no user or role do anything.
func keyOfAccount(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if s.Effect != allow {
			return ""
		}
		for _, p := range append(slices.Clone(s.Principal.AWS), s.Principal.Service...) {
			if !strings.HasSuffix(p, ":root") || strings.Contains(p, "*") {
				return "admits " + p
			}
		}
		if len(s.Principal.AWS) != 1 {
			return fmt.Sprintf("admits %d accounts", len(s.Principal.AWS))
		}
		return ""
	})(r, all)
}

func secureParameter(r Resource, all Resources) Judgement {
	if r.Text("type") != "SecureString" {
		return unmet("type is %q, not SecureString", r.Text("type"))
	}
	return keyAt("keyId")(r, all)
}

func trustsServices(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if s.Effect == allow && (len(s.Principal.AWS) > 0 || s.everyone() || len(s.Principal.Service) == 0) {
			return fmt.Sprintf("trusts %v", s.Principal.AWS)
		}
		return ""
	})(r, all)
}

// namesSource tells of each service that is trusted whether it says on whose
// behalf it acts, so that the trust can be bound to it. EC2 does not when it
// hands an instance its role (IAM User Guide, "The confused deputy problem").
//
//nolint:gochecknoglobals // one table, read-only
var namesSource = map[string]bool{
	"ec2.amazonaws.com":              false,
	"elasticmapreduce.amazonaws.com": true,
	"logging.s3.amazonaws.com":       true,
	"delivery.logs.amazonaws.com":    true,
}

func boundToAccount(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if s.Effect != allow {
			return ""
		}
		for _, service := range s.Principal.Service {
			names, known := namesSource[service]
			switch {
			case !known:
				return service + " is not in the table of what trusted services say of themselves"
			case !names:
				continue
			case len(s.Condition["StringEquals"]["aws:SourceAccount"]) != 1:
				return service + " is trusted for every account: aws:SourceAccount is missing"
			case len(s.Condition["ArnLike"]["aws:SourceArn"]) != 1:
				return service + " is trusted for every source: aws:SourceArn is missing"
			}
		}
		return ""
	})(r, all)
}

func namesActions(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		for _, a := range s.Action {
			if s.Effect == allow && strings.Contains(a, "*") {
				return "allows " + a
			}
		}
		return ""
	})(r, all)
}

// withoutResources are the actions for which the service knows no resource, so
// that only "*" can stand (Service Authorization Reference: Amazon CloudWatch,
// Amazon Resource Group Tagging API, Amazon Message Gateway Service).
//
//nolint:gochecknoglobals // one table, read-only
var withoutResources = []string{
	"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics",
	"tag:GetResources",
	"ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
	"ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
}

func namesResources(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if s.Effect != allow {
			return ""
		}
		if len(s.Resource) == 0 {
			return "names no resource"
		}
		if !slices.Contains(s.Resource, "*") {
			return ""
		}
		for _, a := range s.Action {
			if !slices.Contains(withoutResources, a) {
				return a + " is allowed on every resource"
			}
		}
		if len(s.Condition["StringEquals"]["aws:RequestedRegion"]) == 0 {
			return "is not bound to the region, which is all that can bind it"
		}
		return ""
	})(r, all)
}

func passesOneRole(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		switch {
		case s.Effect != allow || !slices.Contains(s.Action, "iam:PassRole"):
			return ""
		case len(s.Resource) != 1 || strings.Contains(s.Resource[0], "*"):
			return fmt.Sprintf("passes %v", s.Resource)
		case len(s.Condition["StringEquals"]["iam:PassedToService"]) != 1:
			return "passes the role to any service: iam:PassedToService is missing"
		}
		return ""
	})(r, all)
}

// managedPolicies are AWS's own policies that the program attaches, and why
// none of its own stands in for them.
//
//nolint:gochecknoglobals // one table, read-only
var managedPolicies = map[string]string{
	"service-role/AmazonEMRServicePolicy_v2": "EMR's service role: EMR changes what it calls from release to release. The policy itself is bound to resources tagged for it.",
}

func listedManagedPolicy(r Resource, _ Resources) Judgement {
	_, name, _ := strings.Cut(r.Text("policyArn"), ":policy/")
	if _, listed := managedPolicies[name]; !listed {
		return unmet("%s is not listed with a reason", r.Text("policyArn"))
	}
	return met()
}
