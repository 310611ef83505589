package localcloud

import (
	"context"
	"fmt"
	"path"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

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

// The resources of IAM are of S3's roles too. A Read puts them there
// again, in case that they were recorded by an earlier version.
type role struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (h role) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error { return h.objects.Roles.Put(ctx, recorded.ID) })
}

// Read implements simulator.Handler.
func (h role) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), true, h.objects.Roles.Put(ctx, r.ID)
}

// Delete implements simulator.Handler.
func (h role) Delete(ctx context.Context, r simulator.Request) error {
	return h.objects.Roles.Delete(ctx, r.ID)
}

type rolePolicy struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (h rolePolicy) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error { return h.put(ctx, recorded.Outputs) })
}

// Update implements simulator.Handler.
func (h rolePolicy) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return h.Create(ctx, r)
}

// Read implements simulator.Handler.
func (h rolePolicy) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), true, h.put(ctx, r.Outputs)
}

// put creates the role too, which Read may read later.
func (h rolePolicy) put(ctx context.Context, policy resource.PropertyMap) error {
	role := text(policy, "role")
	if err := h.objects.Roles.Put(ctx, role); err != nil {
		return err
	}
	return h.objects.Roles.PutPolicy(ctx, role, text(policy, "name"), text(policy, "policy"))
}

// Delete implements simulator.Handler.
func (h rolePolicy) Delete(ctx context.Context, r simulator.Request) error {
	return h.objects.Roles.DeletePolicy(ctx, text(r.Outputs, "role"), text(r.Outputs, "name"))
}

type instanceProfile struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (h instanceProfile) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error { return h.put(ctx, recorded.ID, r.Inputs) })
}

// Update implements simulator.Handler.
func (h instanceProfile) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error { return h.put(ctx, r.ID, r.Inputs) })
}

// Read implements simulator.Handler.
func (h instanceProfile) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), true, h.put(ctx, r.ID, r.Outputs)
}

// put makes the profile and its role known to the local S3.
func (h instanceProfile) put(ctx context.Context, profile string, values resource.PropertyMap) error {
	role := text(values, "role")
	if err := h.objects.Roles.Put(ctx, role); err != nil {
		return err
	}
	return h.objects.Roles.PutProfile(ctx, profile, role)
}

// Delete implements simulator.Handler.
func (h instanceProfile) Delete(_ context.Context, r simulator.Request) error {
	return h.objects.Roles.DeleteProfile(r.ID)
}

// managedPolicy is a policy for roles of this stack or of others.
type managedPolicy struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (h managedPolicy) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(recorded simulator.Result) error {
		return h.objects.Roles.PutManaged(ctx, recorded.ID, text(r.Inputs, "policy"))
	})
}

// Update implements simulator.Handler.
func (h managedPolicy) Update(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error { return h.objects.Roles.PutManaged(ctx, r.ID, text(r.Inputs, "policy")) })
}

// Read implements simulator.Handler.
func (h managedPolicy) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), true, h.objects.Roles.PutManaged(ctx, r.ID, text(r.Outputs, "policy"))
}

// Delete implements simulator.Handler. IAM deletes no policy that is attached.
func (h managedPolicy) Delete(_ context.Context, r simulator.Request) error {
	return h.objects.Roles.DeleteManaged(r.ID)
}

type policyAttachment struct {
	simulator.Recording
	*cloud
}

// Create implements simulator.Handler.
func (h policyAttachment) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	return apply(r, func(simulator.Result) error { return h.attach(ctx, r.Inputs) })
}

// Read implements simulator.Handler.
func (h policyAttachment) Read(ctx context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return unchangedResult(r), true, h.attach(ctx, r.Outputs)
}

func (h policyAttachment) attach(ctx context.Context, values resource.PropertyMap) error {
	role := text(values, "role")
	if err := h.objects.Roles.Put(ctx, role); err != nil {
		return err
	}
	return h.objects.Roles.Attach(ctx, role, text(values, "policyArn"))
}

// Delete implements simulator.Handler.
func (h policyAttachment) Delete(ctx context.Context, r simulator.Request) error {
	return h.objects.Roles.Detach(ctx, text(r.Outputs, "role"), text(r.Outputs, "policyArn"))
}
