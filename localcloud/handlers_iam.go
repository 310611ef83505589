package localcloud

import (
	"context"
	"fmt"
	"path"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/simulator"
)

// roleCredentials returns what machines with an instance profile (its name or ARN)
// get from instance metadata.
func (c *cloud) roleCredentials(ctx context.Context, profile string) (machine.RoleCredentials, error) {
	roles := c.objects.Roles
	role, err := roles.OfProfile(path.Base(profile))
	if err == nil && role == "" {
		err = fmt.Errorf("instance profile %s has no role", path.Base(profile))
	}
	if err != nil {
		return machine.RoleCredentials{}, err
	}
	key, err := roles.Key(ctx, role)
	return machine.RoleCredentials{RoleName: role, AccessKeyID: key.ID, SecretAccessKey: key.Secret}, err
}

// seesProfile reports whether EMR sees an instance profile (its name or ARN).
func (c *cloud) seesProfile(profile string) bool {
	return c.objects.Roles.Propagated(path.Base(profile))
}

// ofRole returns what puts a resource that names a role. It puts the role too, which
// Read may read later.
func (c *cloud) ofRole(put func(ctx context.Context, role string, r simulator.Result) error) func(context.Context, simulator.Result) error {
	return func(ctx context.Context, r simulator.Result) error {
		role := text(r.Outputs, "role")
		if err := c.objects.Roles.Put(ctx, role); err != nil {
			return err
		}
		return put(ctx, role, r)
	}
}

// iamParts returns the resources of IAM, which are of S3's roles too.
func (c *cloud) iamParts() map[string]part {
	return map[string]part{
		"aws:iam/role:Role": {
			restores: true,
			put: func(ctx context.Context, r simulator.Result) error {
				if err := c.objects.Roles.Put(ctx, r.ID); err != nil {
					return err
				}
				return c.objects.Roles.PutTrust(r.ID, text(r.Outputs, "assumeRolePolicy"))
			},
			remove: func(ctx context.Context, r simulator.Request) error { return c.objects.Roles.Delete(ctx, r.ID) },
		},
		"aws:iam/rolePolicy:RolePolicy": {
			restores: true,
			put: c.ofRole(func(ctx context.Context, role string, r simulator.Result) error {
				return c.objects.Roles.PutInline(ctx, role, text(r.Outputs, "name"), text(r.Outputs, "policy"))
			}),
			remove: func(ctx context.Context, r simulator.Request) error {
				return c.objects.Roles.DeleteInline(ctx, text(r.Outputs, "role"), text(r.Outputs, "name"))
			},
		},
		"aws:iam/instanceProfile:InstanceProfile": {
			restores: true,
			put: c.ofRole(func(ctx context.Context, role string, r simulator.Result) error {
				return c.objects.Roles.PutProfile(ctx, r.ID, role)
			}),
			remove: func(_ context.Context, r simulator.Request) error { return c.objects.Roles.DeleteProfile(r.ID) },
		},
		"aws:iam/policy:Policy": {
			restores: true,
			put: func(ctx context.Context, r simulator.Result) error {
				return c.objects.Roles.PutManaged(ctx, r.ID, text(r.Outputs, "policy"))
			},
			// IAM deletes no policy that is attached.
			remove: func(_ context.Context, r simulator.Request) error { return c.objects.Roles.DeleteManaged(r.ID) },
		},
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment": {
			restores: true, once: true,
			put: c.ofRole(func(ctx context.Context, role string, r simulator.Result) error {
				return c.objects.Roles.Attach(ctx, role, text(r.Outputs, "policyArn"))
			}),
			remove: func(ctx context.Context, r simulator.Request) error {
				return c.objects.Roles.Detach(ctx, text(r.Outputs, "role"), text(r.Outputs, "policyArn"))
			},
		},
	}
}
