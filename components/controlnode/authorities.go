package controlnode

import (
	"fmt"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"

	"github.com/emr-observatory/emr-observatory/components/internal/certificate"
	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
)

// bootWindow is for how long an instance may read the keys of K3s' authorities after its
// volume was attached: it needs both before K3s first starts, which takes minutes. Its pods
// have the same role, and would become administrators of the cluster with a key.
const bootWindow = time.Hour

const roleBoot = "boot"

// allowBoot lets the instance read the authorities' keys until its boot window ends. The
// policy follows the instance, whose boot script waits for the volume and retries. A node
// that needs more time gets another window with the certificate that this issues
// (docs/guides/control-node.md).
//
// aws:CurrentTime is a global condition key (IAM User Guide, "AWS global condition context
// keys").
func (b *builder) allowBoot(role *iam.Role, m machine, p pki) (*iam.RolePolicy, error) {
	created, err := certificate.Created(b.Builder, roleBoot, m.instance.ID().ToStringOutput(), m.attachment.ID().ToStringOutput())
	if err != nil {
		return nil, err
	}
	policy, err := iam.NewRolePolicy(b.Ctx, b.Name(roleBoot+"-access"), &iam.RolePolicyArgs{
		Role: role.Name,
		Policy: output.Join(append(p.parameterARNs(keyFile), created), func(v []string) (string, error) {
			last := len(v) - 1
			return bootPolicy(v[:last], v[last])
		}),
	}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create policy %s: %w", b.Name(roleBoot+"-access"), err)
	}
	return policy, nil
}

// bootPolicy grants the keys during the boot window of an instance. created is in RFC 3339.
func bootPolicy(keyARNs []string, created string) (string, error) {
	begin, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return "", fmt.Errorf("begin of the boot window: %w", err)
	}
	return iampolicy.New(iampolicy.Statement{
		Sid: "OwnAuthorities", Effect: iampolicy.Allow,
		Action: []string{"ssm:GetParameter"}, Resource: keyARNs,
		Condition: iampolicy.Condition{"DateLessThan": {"aws:CurrentTime": {begin.UTC().Add(bootWindow).Format(time.RFC3339)}}},
	}).JSON()
}
