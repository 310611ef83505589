package workloads

import (
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
)

// account gives the unit's pod a ServiceAccount of its own, without rights and
// without a token: nobody's right is another's by way of "default".
func (b *builder) account(u *unit) error {
	name := string(u.workload)
	account, err := corev1.NewServiceAccount(b.ctx, b.name(name), &corev1.ServiceAccountArgs{
		Metadata: b.meta(name), AutomountServiceAccountToken: pulumi.Bool(false),
	}, b.child()...)
	if err != nil {
		return fmt.Errorf("create ServiceAccount %s: %w", name, err)
	}
	u.account = account.Metadata.Name().Elem()
	return nil
}

// podSecurity makes the API server refuse, in the namespace, pods that could
// take hold of the node (Kubernetes docs, "Pod Security Standards").
func podSecurity() pulumi.StringMap {
	return pulumi.StringMap{"pod-security.kubernetes.io/enforce": pulumi.String("restricted"), "app.kubernetes.io/part-of": pulumi.String(platform.Name)}
}
