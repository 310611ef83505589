package catalog

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
)

// kubernetesKinds lists the kinds of Kubernetes objects by token.
func kubernetesKinds() map[string]Type {
	return map[string]Type{
		"kubernetes:core/v1:Namespace":                  typ(corev1.NamespaceArgs{}, nil),
		"kubernetes:core/v1:ConfigMap":                  typ(corev1.ConfigMapArgs{}, nil),
		"kubernetes:core/v1:Secret":                     typ(corev1.SecretArgs{}, nil),
		"kubernetes:core/v1:Service":                    typ(corev1.ServiceArgs{}, nil),
		"kubernetes:core/v1:ServiceAccount":             typ(corev1.ServiceAccountArgs{}, nil),
		"kubernetes:core/v1:PersistentVolumeClaim":      typ(corev1.PersistentVolumeClaimArgs{}, nil),
		"kubernetes:apps/v1:Deployment":                 typ(appsv1.DeploymentArgs{}, nil),
		"kubernetes:apps/v1:DaemonSet":                  typ(appsv1.DaemonSetArgs{}, nil),
		"kubernetes:networking.k8s.io/v1:NetworkPolicy": typ(networkingv1.NetworkPolicyArgs{}, nil),
	}
}
