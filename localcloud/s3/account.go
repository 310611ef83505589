package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

// account is what IAM knows beside VersityGW, which has neither instance profiles nor
// managed policies. Documents of AWS's own policies are not there.
type account struct {
	Profiles map[string]string   // role by instance profile; "" before one is added
	Policies map[string]string   // document by ARN
	Attached map[string][]string // ARNs by role
	Trust    map[string]string   // trust policy by role
	Grants   map[string]string   // inline policies that let roles assume others, by role/name
}

func accountFile(dir string) string { return filepath.Join(dir, "account.json") }

func readAccount(dir string) (account, error) {
	a := account{
		Profiles: map[string]string{}, Policies: map[string]string{}, Attached: map[string][]string{},
		Trust: map[string]string{}, Grants: map[string]string{},
	}
	raw, err := os.ReadFile(accountFile(dir))
	if errors.Is(err, os.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return a, fmt.Errorf("read the account's policies: %w", err)
	}
	return a, nil
}

// change changes the account, and writes it if do succeeds.
func (r *Roles) change(do func(*account) error) error {
	r.accountMu.Lock()
	defer r.accountMu.Unlock()
	if err := do(&r.account); err != nil {
		return err
	}
	raw, err := json.Marshal(r.account)
	if err != nil {
		return fmt.Errorf("write the account's policies: %w", err)
	}
	file := accountFile(r.options.Dir)
	if err := os.WriteFile(file+".partial", raw, 0o600); err != nil {
		return fmt.Errorf("write the account's policies: %w", err)
	}
	if err := os.Rename(file+".partial", file); err != nil {
		return fmt.Errorf("write the account's policies: %w", err)
	}
	return nil
}

// Reasons why IAM refuses a change.
var (
	ErrNoProfile = errors.New("does not exist")
	ErrAttached  = errors.New("cannot delete a policy attached to entities")
)

// PutProfile creates or changes an instance profile. role may be "".
func (r *Roles) PutProfile(ctx context.Context, profile, role string) error {
	if role != "" {
		exists, err := r.Exists(ctx, role)
		if err == nil && !exists {
			err = errors.New("the role does not exist")
		}
		if err != nil {
			return fmt.Errorf("create instance profile %s of role %s: %w", profile, role, err)
		}
	}
	return r.change(func(a *account) error {
		if a.Profiles[profile] != role {
			r.changed[profile] = r.options.Clock.Now()
		}
		a.Profiles[profile] = role
		return nil
	})
}

// DeleteProfile deletes an instance profile, if it exists.
func (r *Roles) DeleteProfile(profile string) error {
	return r.change(func(a *account) error {
		delete(a.Profiles, profile)
		return nil
	})
}

// OfProfile returns the role of an instance profile, "" if it has none, or
// ErrNoProfile.
func (r *Roles) OfProfile(profile string) (string, error) {
	r.accountMu.Lock()
	defer r.accountMu.Unlock()
	role, exists := r.account.Profiles[profile]
	if !exists {
		return "", fmt.Errorf("instance profile %s %w", profile, ErrNoProfile)
	}
	return role, nil
}

// ProfilesOf returns the instance profiles of a role.
func (r *Roles) ProfilesOf(role string) []string {
	r.accountMu.Lock()
	defer r.accountMu.Unlock()
	var out []string
	for profile, of := range r.account.Profiles {
		if of == role {
			out = append(out, profile)
		}
	}
	slices.Sort(out)
	return out
}

// attachedName is the name under which VersityGW has a role's attached policy: as one
// of its own.
func attachedName(arn string) string { return attachedPrefix + arn[strings.LastIndex(arn, "/")+1:] }

const attachedPrefix = "attached."

// PutManaged creates or changes a managed policy, which holds at once for the roles
// that it is attached to.
func (r *Roles) PutManaged(ctx context.Context, arn, document string) error {
	if _, err := s3Statements(document); err != nil {
		return fmt.Errorf("put policy %s: %w", arn, err)
	}
	return r.change(func(a *account) error {
		a.Policies[arn] = document
		for role, attached := range a.Attached {
			if slices.Contains(attached, arn) {
				if err := r.PutPolicy(ctx, role, attachedName(arn), document); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// HasManaged reports whether a policy exists. All of AWS's own do.
func (r *Roles) HasManaged(arn string) bool {
	r.accountMu.Lock()
	defer r.accountMu.Unlock()
	_, exists := r.account.Policies[arn]
	return exists || strings.HasPrefix(arn, "arn:aws:iam::aws:policy/")
}

// DeleteManaged deletes a managed policy, if it exists. It refuses one that is attached
// (ErrAttached).
func (r *Roles) DeleteManaged(arn string) error {
	return r.change(func(a *account) error {
		for role, attached := range a.Attached {
			if slices.Contains(attached, arn) {
				return fmt.Errorf("delete policy %s: role %s: %w", arn, role, ErrAttached)
			}
		}
		delete(a.Policies, arn)
		return nil
	})
}

// Attach attaches a managed policy to a role. What the policy says counts once it is
// put.
func (r *Roles) Attach(ctx context.Context, role, arn string) error {
	return r.change(func(a *account) error {
		if document, known := a.Policies[arn]; known {
			if err := r.PutPolicy(ctx, role, attachedName(arn), document); err != nil {
				return err
			}
		}
		if !slices.Contains(a.Attached[role], arn) {
			a.Attached[role] = append(a.Attached[role], arn)
		}
		return nil
	})
}

// Detach detaches a managed policy from a role, if it is attached.
func (r *Roles) Detach(ctx context.Context, role, arn string) error {
	return r.change(func(a *account) error {
		if err := r.DeletePolicy(ctx, role, attachedName(arn)); err != nil {
			return err
		}
		a.Attached[role] = slices.DeleteFunc(a.Attached[role], func(other string) bool { return other == arn })
		return nil
	})
}

// AttachedTo returns the managed policies of a role.
func (r *Roles) AttachedTo(role string) []string {
	r.accountMu.Lock()
	defer r.accountMu.Unlock()
	return slices.Clone(r.account.Attached[role])
}

// forget removes a role from profiles and policies.
func (r *Roles) forget(role string) error {
	return r.change(func(a *account) error {
		delete(a.Attached, role)
		delete(a.Trust, role)
		maps.DeleteFunc(a.Grants, func(key, _ string) bool { return strings.HasPrefix(key, grantKey(role, "")) })
		for profile, of := range a.Profiles {
			if of == role {
				a.Profiles[profile] = ""
			}
		}
		return nil
	})
}

// Exists reports whether a role exists.
func (r *Roles) Exists(ctx context.Context, role string) (bool, error) {
	_, err := r.client.GetUser(ctx, &iam.GetUserInput{UserName: aws.String(role)})
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up role %s: %w", role, err)
	}
	return true, nil
}

// Inline returns the names of a role's inline policies that are about S3.
func (r *Roles) Inline(ctx context.Context, role string) ([]string, error) {
	found, err := r.client.ListUserPolicies(ctx, &iam.ListUserPoliciesInput{UserName: &role})
	if err != nil {
		return nil, fmt.Errorf("list policies of role %s: %w", role, err)
	}
	return slices.DeleteFunc(found.PolicyNames, func(name string) bool { return strings.HasPrefix(name, attachedPrefix) }), nil
}
