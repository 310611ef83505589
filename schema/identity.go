package schema

import (
	"regexp"
	"strings"
)

// Identity is what an organisation asks of every IAM role, instance profile and policy
// that is created in its account.
type Identity struct {
	Boundary string // ARN of the policy that bounds each role; "" = none
	Path     string // of roles, instance profiles and policies; "" = IAM's default, /
}

// Identity returns the part of the configuration that every IAM resource takes.
func (c Config) Identity() Identity {
	return Identity{Boundary: c.PermissionsBoundary, Path: c.IAMPath}
}

// maxIAMPath is IAM's limit (IAM API, CreateRole, "Path").
const maxIAMPath = 512

// iamPath is narrower than IAM's rule, which also takes quotes, wildcards and the like:
// the path is part of ARNs in policies.
var iamPath = regexp.MustCompile(`^/([\w+=,.@-]+/)+$`)

func identityRules() map[string]Rule {
	// IAM API, PutRolePermissionsBoundary: a customer's or an AWS managed policy.
	return map[string]Rule{
		"boundary": pattern(`^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/([\w+=,.@-]+/)*[\w+=,.@-]{1,128}$`,
			"the ARN of a managed policy").optional().with("", "run `aws iam list-policies --scope Local`, and give the ARN of the boundary"),
		"iamPath": predicate(isIAMPath, "a path of at most 512 characters such as /team/, which begins and ends with a slash; not AWS's own "+
			"/aws-service-role/").optional().with("", "write /team/; leave it empty for IAM's default, /"),
	}
}

func isIAMPath(s string) bool {
	return len(s) <= maxIAMPath && iamPath.MatchString(s) && !strings.HasPrefix(s, "/aws-service-role/")
}
