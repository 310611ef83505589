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
		{IDs: []string{"CKV_AWS_7", "AWS-0065", "KMS.4"}, Requires: "A key is rotated",
			Types: []string{typeKey}, Check: equals("enableKeyRotation", true)},
		{IDs: []string{"CKV_AWS_33", "CKV2_AWS_64", "KMS.5"}, Requires: "A key has a policy that admits only the account",
			Types: []string{typeKey}, Check: admitsAccountOnly},
		{IDs: []string{"CKV_AWS_337", "CKV2_AWS_34"}, Requires: "A parameter is encrypted with the stack's own key",
			Types: []string{typeParameter}, Check: isEncryptedParameter},
	}
}

func identityRules() []Rule {
	roles, policies := []string{typeRole}, []string{typeRolePolicy}
	return []Rule{
		{IDs: []string{"CKV_AWS_60", "CKV_AWS_61"}, Requires: "Only named services, or one role of the program, can assume a role",
			Types: roles, Check: trustsOnlyServices},
		{IDs: []string{"observatory/confused-deputy"}, Requires: "A service that names its source is trusted only for sources of this account",
			Types: []string{typeRole, typeBucketPolicy}, Check: boundToAccount},
		{IDs: []string{"CKV_AWS_62", "CKV_AWS_63", "AWS-0057"}, Requires: "A policy names each action", Types: policies, Check: namesActions},
		{IDs: []string{"CKV_AWS_290", "CKV_AWS_355"}, Requires: "A policy names resources if the service supports it",
			Types: policies, Check: namesResources},
		{IDs: []string{"observatory/pass-role"}, Requires: "A policy passes one named role to one service",
			Types: policies, Check: passesOneRole},
		{IDs: []string{"CKV_AWS_274", "CKV_AWS_275"}, Requires: "AWS managed policies are used only if listed with a reason",
			Types: []string{typeAttachment}, Check: listedManagedPolicy},
	}
}

// admitsAccountOnly accepts the account's root with every action: such a key policy
// grants nothing to users and roles, but lets the account's IAM policies do so (KMS
// Developer Guide, "Default key policy").
func admitsAccountOnly(r Resource, all Resources) Judgement {
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

func isEncryptedParameter(r Resource, all Resources) Judgement {
	if r.Text("type") != "SecureString" {
		return unmet("type is %q, not SecureString", r.Text("type"))
	}
	return isStackKey("keyId")(r, all)
}

func trustsOnlyServices(r Resource, all Resources) Judgement {
	return eachStatement(func(s statement) string {
		if trustsOwnRole(s, all) {
			return ""
		}
		if s.Effect == allow && (len(s.Principal.AWS) > 0 || s.namesEveryone() || len(s.Principal.Service) == 0) {
			return fmt.Sprintf("trusts principals other than AWS services, or no service: AWS %v, services %v", s.Principal.AWS, s.Principal.Service)
		}
		return ""
	})(r, all)
}

// trustsOwnRole reports whether a statement trusts its account on condition that one role of the
// program asks.
func trustsOwnRole(s statement, all Resources) bool {
	asks := s.Condition["ArnEquals"]["aws:PrincipalArn"]
	if len(s.Principal.AWS) != 1 || !strings.HasSuffix(s.Principal.AWS[0], ":root") || len(s.Principal.Service) > 0 || len(asks) != 1 {
		return false
	}
	_, own := all.output(typeRole, "arn", asks[0])
	return own
}

// namesSource lists the trusted services, and whether their requests name the account
// and resource that they act for, so that a condition can require it. EC2's do not
// when it gives an instance its role (IAM User Guide, "The confused deputy problem").
var namesSource = map[string]bool{
	"ec2.amazonaws.com":              false,
	"elasticmapreduce.amazonaws.com": true,
	"logging.s3.amazonaws.com":       true,
	"delivery.logs.amazonaws.com":    true,
	"scheduler.amazonaws.com":        true,
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
				return service + " is not listed in namesSource"
			case !names:
				continue
			case len(s.Condition["StringEquals"]["aws:SourceAccount"]) != 1:
				return service + " is trusted for every account: aws:SourceAccount is missing"
			case len(s.Condition["ArnLike"]["aws:SourceArn"])+len(s.Condition["StringEquals"]["aws:SourceArn"]) != 1:
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

// withoutResources are the actions that allow no resource but "*" (Service
// Authorization Reference: Amazon CloudWatch, Amazon Elastic MapReduce, Amazon Resource
// Group Tagging API, Amazon Message Gateway Service).
var withoutResources = []string{
	"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics",
	"elasticmapreduce:ListClusters", "elasticmapreduce:RunJobFlow", "tag:GetResources",
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
			return "is not limited to the region, the only possible limit"
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

// managedPolicies maps the AWS managed policies that the program attaches to the
// reason why it does not write its own.
var managedPolicies = map[string]string{
	"service-role/AmazonEMRServicePolicy_v2": "EMR's service role: the actions that EMR calls change from release to release. " +
		"The policy is limited to resources with EMR's tag.",
}

func listedManagedPolicy(r Resource, _ Resources) Judgement {
	_, name, _ := strings.Cut(r.Text("policyArn"), ":policy/")
	if _, listed := managedPolicies[name]; !listed {
		return unmet("%s is not listed with a reason", r.Text("policyArn"))
	}
	return met()
}
