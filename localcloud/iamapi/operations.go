package iamapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
)

// Names are limited to 64 characters for roles and 128 for the rest (IAM User Guide,
// "IAM and AWS STS quotas"). Paths other than / are not served.
var (
	roleName  = regexp.MustCompile(`^[\w+=,.@-]{1,64}$`)
	otherName = regexp.MustCompile(`^[\w+=,.@-]{1,128}$`)
)

func requireName(in url.Values, field string, pattern *regexp.Regexp) (string, error) {
	name := in.Get(field)
	if !pattern.MatchString(name) {
		return "", refuse(http.StatusBadRequest, "ValidationError",
			"1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: must match %s", name, field, pattern)
	}
	if path := in.Get("Path"); path != "" && path != "/" {
		return "", refuse(http.StatusBadRequest, "ValidationError", "Path %s: the local cloud has the path / only", path)
	}
	return name, nil
}

func requireDocument(in url.Values, field string) (string, error) {
	document := in.Get(field)
	var policy struct{ Statement json.RawMessage }
	if err := json.Unmarshal([]byte(document), &policy); err != nil || policy.Statement == nil {
		return "", refuse(http.StatusBadRequest, "MalformedPolicyDocument", "Syntax errors in policy.")
	}
	return document, nil
}

// existingRole returns the role that a request names.
func (s *Server) existingRole(ctx context.Context, in url.Values) (string, error) {
	name, err := requireName(in, "RoleName", roleName)
	if err != nil {
		return "", err
	}
	exists, err := s.Roles.Exists(ctx, name)
	if err == nil && !exists {
		err = refuse(http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found.", name)
	}
	return name, err
}

func (s *Server) createRole(ctx context.Context, in url.Values) (result, error) {
	name, err := requireName(in, "RoleName", roleName)
	if err != nil {
		return result{}, err
	}
	trust, err := requireDocument(in, "AssumeRolePolicyDocument")
	if err != nil {
		return result{}, err
	}
	exists, err := s.Roles.Exists(ctx, name)
	if err == nil && exists {
		err = refuse(http.StatusConflict, "EntityAlreadyExists", "Role with name %s already exists.", name)
	}
	if err == nil {
		err = s.Roles.Put(ctx, name)
	}
	if err == nil {
		err = s.Roles.PutTrust(name, trust)
	}
	created := s.roleOf(name)
	created.CreateDate, created.AssumeRolePolicyDocument = now(), url.PathEscape(trust)
	return result{Role: &created}, err
}

func (s *Server) deleteRole(ctx context.Context, in url.Values) (result, error) {
	name, err := s.existingRole(ctx, in)
	if err != nil {
		return result{}, err
	}
	inline, err := s.Roles.Inline(ctx, name)
	switch {
	case err != nil:
	case len(s.Roles.AttachedTo(name)) > 0:
		err = refuse(http.StatusConflict, "DeleteConflict", "Cannot delete entity, must detach all policies first.")
	case len(inline) > 0:
		err = refuse(http.StatusConflict, "DeleteConflict", "Cannot delete entity, must delete policies first.")
	case len(s.Roles.ProfilesOf(name)) > 0:
		err = refuse(http.StatusConflict, "DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	default:
		err = s.Roles.Delete(ctx, name)
	}
	return result{}, err
}

func (s *Server) putRolePolicy(ctx context.Context, in url.Values) (result, error) {
	name, err := s.existingRole(ctx, in)
	if err != nil {
		return result{}, err
	}
	policy, err := requireName(in, "PolicyName", otherName)
	if err != nil {
		return result{}, err
	}
	document, err := requireDocument(in, "PolicyDocument")
	if err == nil {
		err = s.Roles.PutInline(ctx, name, policy, document)
	}
	return result{}, err
}

func (s *Server) deleteRolePolicy(ctx context.Context, in url.Values) (result, error) {
	name, err := s.existingRole(ctx, in)
	if err == nil {
		err = s.Roles.DeleteInline(ctx, name, in.Get("PolicyName"))
	}
	return result{}, err
}

func (s *Server) createPolicy(ctx context.Context, in url.Values) (result, error) {
	name, err := requireName(in, "PolicyName", otherName)
	if err != nil {
		return result{}, err
	}
	document, err := requireDocument(in, "PolicyDocument")
	if err != nil {
		return result{}, err
	}
	arn := s.arn("policy", name)
	if s.Roles.HasManaged(arn) {
		return result{}, refuse(http.StatusConflict, "EntityAlreadyExists",
			"A policy called %s already exists. Duplicate names are not allowed.", name)
	}
	date := now()
	return result{Policy: &managedPolicy{
		PolicyName: name, PolicyId: idOf("ANPA", arn), Arn: arn, Path: "/", DefaultVersionId: "v1", IsAttachable: true,
		CreateDate: date, UpdateDate: date,
	}}, s.Roles.PutManaged(ctx, arn, document)
}

// existingPolicy returns the ARN that a request names.
func (s *Server) existingPolicy(in url.Values) (string, error) {
	arn := in.Get("PolicyArn")
	if !s.Roles.HasManaged(arn) {
		return "", refuse(http.StatusNotFound, "NoSuchEntity", "Policy %s does not exist or is not attachable.", arn)
	}
	return arn, nil
}

func (s *Server) deletePolicy(_ context.Context, in url.Values) (result, error) {
	arn, err := s.existingPolicy(in)
	if err != nil {
		return result{}, err
	}
	if err = s.Roles.DeleteManaged(arn); errors.Is(err, s3.ErrAttached) {
		err = refuse(http.StatusConflict, "DeleteConflict", "Cannot delete a policy attached to entities.")
	}
	return result{}, err
}

func (s *Server) attachRolePolicy(ctx context.Context, in url.Values) (result, error) {
	name, err := s.existingRole(ctx, in)
	if err != nil {
		return result{}, err
	}
	arn, err := s.existingPolicy(in)
	if err == nil {
		err = s.Roles.Attach(ctx, name, arn)
	}
	return result{}, err
}

func (s *Server) detachRolePolicy(ctx context.Context, in url.Values) (result, error) {
	name, err := s.existingRole(ctx, in)
	if err == nil {
		err = s.Roles.Detach(ctx, name, in.Get("PolicyArn"))
	}
	return result{}, err
}

// existingProfile returns the instance profile that a request names, with its role.
func (s *Server) existingProfile(in url.Values) (name, of string, err error) {
	if name, err = requireName(in, "InstanceProfileName", otherName); err != nil {
		return "", "", err
	}
	if of, err = s.Roles.OfProfile(name); errors.Is(err, s3.ErrNoProfile) {
		err = refuse(http.StatusNotFound, "NoSuchEntity", "Instance Profile %s cannot be found.", name)
	}
	return name, of, err
}

func (s *Server) createInstanceProfile(ctx context.Context, in url.Values) (result, error) {
	name, err := requireName(in, "InstanceProfileName", otherName)
	if err != nil {
		return result{}, err
	}
	if _, err := s.Roles.OfProfile(name); err == nil {
		return result{}, refuse(http.StatusConflict, "EntityAlreadyExists", "Instance Profile %s already exists.", name)
	}
	created := s.profileOf(name, "")
	created.CreateDate = now()
	return result{InstanceProfile: created}, s.Roles.PutProfile(ctx, name, "")
}

func (s *Server) getInstanceProfile(_ context.Context, in url.Values) (result, error) {
	name, of, err := s.existingProfile(in)
	return result{InstanceProfile: s.profileOf(name, of)}, err
}

func (s *Server) deleteInstanceProfile(_ context.Context, in url.Values) (result, error) {
	name, of, err := s.existingProfile(in)
	switch {
	case err != nil:
	case of != "":
		err = refuse(http.StatusConflict, "DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	default:
		err = s.Roles.DeleteProfile(name)
	}
	return result{}, err
}

func (s *Server) addRoleToInstanceProfile(ctx context.Context, in url.Values) (result, error) {
	name, of, err := s.existingProfile(in)
	if err != nil {
		return result{}, err
	}
	if of != "" {
		return result{}, refuse(http.StatusConflict, "LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	added, err := s.existingRole(ctx, in)
	if err == nil {
		err = s.Roles.PutProfile(ctx, name, added)
	}
	return result{}, err
}

func (s *Server) removeRoleFromInstanceProfile(ctx context.Context, in url.Values) (result, error) {
	name, of, err := s.existingProfile(in)
	if err == nil && of != in.Get("RoleName") {
		err = refuse(http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found.", in.Get("RoleName"))
	}
	if err == nil {
		err = s.Roles.PutProfile(ctx, name, "")
	}
	return result{}, err
}
