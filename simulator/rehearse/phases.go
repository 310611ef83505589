package rehearse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// preview runs the engine's preview as a phase.
func (r *rehearsal) preview(ctx context.Context) error {
	return r.phase("preview", func() error { return r.previewStack(ctx) })
}

// create previews the stack and brings it up.
func (r *rehearsal) create(ctx context.Context) error {
	err := r.preview(ctx)
	if err == nil {
		err = r.phase("up", func() error { _, err := r.up(ctx); return err })
	}
	r.report.Problems = append(r.report.Problems, r.servers.Violations()...) // also if the engine failed
	if err != nil {
		return err
	}
	resources, err := r.resources(ctx)
	r.report.Resources = len(resources)
	return err
}

// updateUnchanged runs up with the same program again: nothing may change.
func (r *rehearsal) updateUnchanged(ctx context.Context) error {
	return r.phase("up again", func() error {
		changes, err := r.up(ctx)
		if err == nil && len(changes) > 0 {
			err = fmt.Errorf("%d changes without an edit:\n%s", len(changes), strings.Join(changes, "\n"))
		}
		return err
	})
}

// tearDown destroys the stack. If it has protected resources, a first destroy
// must be refused.
func (r *rehearsal) tearDown(ctx context.Context) error {
	if err := r.updateUnprotected(ctx); err != nil {
		return err
	}
	resources, err := r.resources(ctx)
	if err != nil {
		return err
	}
	for _, res := range resources {
		if res.Protect {
			r.report.Protected = append(r.report.Protected, string(res.URN))
		}
	}
	slices.Sort(r.report.Protected)
	if len(r.report.Protected) > 0 {
		if err := r.phase("destroy, refused", func() error { return r.destroyProtected(ctx) }); err != nil {
			return err
		}
		if err := r.unprotectAll(ctx); err != nil {
			return err
		}
	}
	if err := r.phase("destroy", func() error { return r.destroy(ctx) }); err != nil {
		return err
	}
	r.report.Kept = r.keptOf(resources)
	left, err := r.resources(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("destroy: %d resources remain, the first is %s", len(left), left[0].URN)
	}
	return err
}

// keptOf returns the URNs of those of a destroyed stack's resources that are still
// in the account. What goes with another resource is not deleted by itself.
func (r *rehearsal) keptOf(resources []apitype.ResourceV3) []string {
	kept := []string{}
	for _, res := range resources {
		if res.DeletedWith == "" && r.servers.Account.Exists(string(res.Type), string(res.ID)) {
			kept = append(kept, string(res.URN))
		}
	}
	slices.Sort(kept)
	return kept
}

// updateUnprotected runs up with Options.Unprotect, if that is set.
func (r *rehearsal) updateUnprotected(ctx context.Context) error {
	if len(r.options.Unprotect) == 0 {
		return nil
	}
	return r.phase("up, released", func() error {
		if err := r.stack.SetAllConfig(ctx, r.options.Unprotect); err != nil {
			return err
		}
		_, err := r.up(ctx)
		return err
	})
}

// destroyProtected requires a destroy to fail because of the protection and to
// leave every protected resource.
func (r *rehearsal) destroyProtected(ctx context.Context) error {
	err := r.destroy(ctx)
	if err == nil {
		return fmt.Errorf("%d protected resources were destroyed", len(r.report.Protected))
	}
	if !strings.Contains(err.Error(), "protect") {
		return fmt.Errorf("failed for another reason than the protection: %w", err)
	}
	left, err := r.resources(ctx)
	if err != nil {
		return err
	}
	exists := map[string]bool{}
	for _, res := range left {
		exists[string(res.URN)] = true
	}
	for _, urn := range r.report.Protected {
		if !exists[urn] {
			return fmt.Errorf("protected resource was destroyed: %s", urn)
		}
	}
	return nil
}
