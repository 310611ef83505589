package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ErrDenied is the error of a caller who may not assume a role.
var ErrDenied = errors.New("AccessDenied")

const assumeRole = "sts:AssumeRole"

// PutTrust keeps the trust policy of a role.
func (r *Roles) PutTrust(role, document string) error {
	return r.change(func(a *account) error {
		a.Trust[role] = document
		return nil
	})
}

// decided are the actions that Assume and AssumeForService decide, besides those of S3.
func decided() []string {
	return []string{assumeRole, PassRole, "elasticmapreduce:AddJobFlowSteps", "elasticmapreduce:RunJobFlow", "elasticmapreduce:AddTags"}
}

// PassRole is the action of whoever gives a role to a service.
const PassRole = "iam:PassRole"

// Access is an action on a resource: an ARN, "*" of an action that knows none, or the name of a role.
type Access struct {
	Action, Resource string
	Context          map[string]string // condition keys with their values
}

// PutInline sets an inline policy of a role: PutPolicy for what it says of S3, and kept if it grants an
// action that is decided here.
func (r *Roles) PutInline(ctx context.Context, role, name, document string) error {
	if err := r.PutPolicy(ctx, role, name, document); err != nil {
		return err
	}
	return r.change(func(a *account) error {
		if slices.ContainsFunc(decided(), func(action string) bool { return strings.Contains(document, action) }) {
			a.Grants[grantKey(role, name)] = document
		} else {
			delete(a.Grants, grantKey(role, name))
		}
		return nil
	})
}

// DeleteInline deletes an inline policy of a role, if it exists.
func (r *Roles) DeleteInline(ctx context.Context, role, name string) error {
	if err := r.DeletePolicy(ctx, role, name); err != nil {
		return err
	}
	return r.change(func(a *account) error {
		delete(a.Grants, grantKey(role, name))
		return nil
	})
}

// grantKey is the key of an inline policy in account.Grants.
func grantKey(role, name string) string { return role + "/" + name }

// Assume returns the key of a role for the holder of the access key keyID, if the role's trust
// policy and an inline policy of the holder's role allow it. Of conditions it knows ArnEquals
// of aws:PrincipalArn; it refuses what has others. A refusal is an ErrDenied, as of a role that
// does not exist.
func (r *Roles) Assume(ctx context.Context, keyID, role string) (Key, error) {
	caller := r.holder(keyID)
	if caller == "" {
		return Key{}, fmt.Errorf("%w: the access key is of no role", ErrDenied)
	}
	r.accountMu.Lock()
	trusted := allows(r.account.Trust[role], assumeRole, func(s assumption) bool { return s.trusts(caller) })
	granted := false
	for key, document := range r.account.Grants {
		granted = granted || strings.HasPrefix(key, grantKey(caller, "")) &&
			allows(document, assumeRole, func(s assumption) bool { return s.covers(role) })
	}
	r.accountMu.Unlock()
	if !trusted || !granted {
		return Key{}, fmt.Errorf("%w: role %s is not authorized to perform: %s on resource: role %s", ErrDenied, caller, assumeRole, role)
	}
	return r.Key(ctx, role)
}

// AssumeForService returns the key of a role for a service that makes a call, which needs every one of the accesses, for a
// resource of the service's own, source. Trust and inline policies are compared with ARNs as they are. Of conditions of
// accesses it knows StringEquals.
func (r *Roles) AssumeForService(ctx context.Context, role, service, source string, needs ...Access) (Key, error) {
	r.accountMu.Lock()
	trusted := allows(r.account.Trust[role], assumeRole, func(s assumption) bool { return s.trustsService(service, source) })
	var missing []Access
	for _, need := range needs {
		if !r.grants(role, need) {
			missing = append(missing, need)
		}
	}
	r.accountMu.Unlock()
	if !trusted {
		return Key{}, fmt.Errorf("%w: the trust policy of role %s does not admit %s for %s", ErrDenied, role, service, source)
	}
	if len(missing) > 0 {
		return Key{}, fmt.Errorf("%w: role %s is not authorized to perform: %s on resource: %s", ErrDenied, role, missing[0].Action,
			missing[0].Resource)
	}
	return r.Key(ctx, role)
}

// grants reports whether an inline policy of a role grants an access. The caller holds accountMu.
func (r *Roles) grants(role string, need Access) bool {
	for key, document := range r.account.Grants {
		if strings.HasPrefix(key, grantKey(role, "")) && allows(document, need.Action, need.matches) {
			return true
		}
	}
	return false
}

// matches reports whether a statement is about the access.
func (a Access) matches(s assumption) bool {
	for operator, keys := range s.Condition {
		for key, values := range keys {
			if value, known := a.Context[key]; operator != "StringEquals" || !known || !slices.Contains(values, value) {
				return false
			}
		}
	}
	return slices.ContainsFunc(s.Resource, func(arn string) bool { return arn == "*" || arn == a.Resource || path.Base(arn) == a.Resource })
}

// holder returns the role whose access key has an id, or "".
func (r *Roles) holder(keyID string) string {
	role, _ := r.find(keyID)
	return role
}

// Secret returns the secret of a role's access key, false if no role has the key.
func (r *Roles) Secret(keyID string) (string, bool) {
	role, key := r.find(keyID)
	return key.Secret, role != ""
}

// find returns the role of an access key, "" if there is none.
func (r *Roles) find(keyID string) (string, Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for role, key := range r.keys {
		if key.ID == keyID {
			return role, key
		}
	}
	return "", Key{}
}

// assumption is a statement about who may assume what.
type assumption struct {
	Effect    string
	Action    listed[string]
	Resource  listed[string]
	Principal struct{ AWS, Service listed[string] }
	Condition map[string]map[string]listed[string]
}

// allows reports whether a statement of a document that allows an action matches.
func allows(document, action string, matches func(assumption) bool) bool {
	var policy struct{ Statement listed[assumption] }
	if json.Unmarshal([]byte(document), &policy) != nil {
		return false
	}
	return slices.ContainsFunc(policy.Statement, func(s assumption) bool {
		return s.Effect == "Allow" && slices.Contains(s.Action, action) && matches(s)
	})
}

// trusts reports whether the statement of a trust policy names a role, or the account under
// a condition that names it.
func (s assumption) trusts(role string) bool {
	named := func(arn string) bool { return path.Base(arn) == role }
	for operator, keys := range s.Condition {
		for key, values := range keys {
			if operator != "ArnEquals" || key != "aws:PrincipalArn" || !slices.ContainsFunc(values, named) {
				return false
			}
		}
	}
	return slices.ContainsFunc(s.Principal.AWS, func(arn string) bool { return named(arn) || strings.HasSuffix(arn, ":root") })
}

// trustsService reports whether the statement of a trust policy admits a service for a resource.
func (s assumption) trustsService(service, source string) bool {
	for operator, keys := range s.Condition {
		for key, values := range keys {
			account := key == "aws:SourceAccount" &&
				slices.ContainsFunc(values, func(id string) bool { return strings.Contains(source, ":"+id+":") })
			if operator != "StringEquals" || !account && (key != "aws:SourceArn" || !slices.Contains(values, source)) {
				return false
			}
		}
	}
	return slices.Contains(s.Principal.Service, service)
}

// covers reports whether the statement of an identity policy is about a role.
func (s assumption) covers(role string) bool {
	return slices.ContainsFunc(s.Resource, func(arn string) bool { return arn == "*" || path.Base(arn) == role })
}
