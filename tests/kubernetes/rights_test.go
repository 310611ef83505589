package kubernetes_test

import (
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// right is a permission of a workload on the Kubernetes API.
type right struct {
	rule    authorizationv1.ResourceRule
	purpose string
}

// rights lists what each workload may do beyond any account's basic rights. It is
// empty, because no workload uses the Kubernetes API.
var rights = map[platform.Workload][]right{}

// dangerous are requests with which a workload could read secrets, run code elsewhere,
// or escalate its privileges. They are checked in several namespaces.
var dangerous = []authorizationv1.ResourceAttributes{
	{Verb: "*", Group: "*", Resource: "*"},
	{Verb: "get", Resource: "secrets"},
	{Verb: "list", Resource: "secrets"},
	{Verb: "watch", Resource: "secrets"},
	{Verb: "get", Resource: "configmaps"},
	{Verb: "update", Resource: "configmaps"},
	{Verb: "list", Resource: "pods"},
	{Verb: "create", Resource: "pods"},
	{Verb: "delete", Resource: "pods"},
	{Verb: "create", Resource: "pods", Subresource: "exec"},
	{Verb: "create", Resource: "pods", Subresource: "attach"},
	{Verb: "create", Resource: "pods", Subresource: "portforward"},
	{Verb: "get", Resource: "pods", Subresource: "log"},
	{Verb: "update", Resource: "pods", Subresource: "ephemeralcontainers"},
	{Verb: "create", Resource: "serviceaccounts", Subresource: "token"},
	{Verb: "impersonate", Resource: "serviceaccounts"},
	{Verb: "impersonate", Resource: "users"},
	{Verb: "impersonate", Resource: "groups"},
	{Verb: "get", Resource: "nodes"},
	{Verb: "list", Resource: "nodes"},
	{Verb: "create", Resource: "nodes", Subresource: "proxy"},
	{Verb: "get", Resource: "nodes", Subresource: "proxy"},
	{Verb: "get", Resource: "nodes", Subresource: "stats"},
	{Verb: "patch", Resource: "nodes"},
	{Verb: "patch", Resource: "namespaces"},
	{Verb: "create", Resource: "persistentvolumes"},
	{Verb: "create", Resource: "services"},
	{Verb: "patch", Group: "apps", Resource: "daemonsets"},
	{Verb: "patch", Group: "apps", Resource: "deployments"},
	{Verb: "create", Group: "batch", Resource: "cronjobs"},
	{Verb: "delete", Group: "networking.k8s.io", Resource: "networkpolicies"},
	{Verb: "create", Group: rbacv1.GroupName, Resource: "rolebindings"},
	{Verb: "create", Group: rbacv1.GroupName, Resource: "clusterrolebindings"},
	{Verb: "bind", Group: rbacv1.GroupName, Resource: "clusterroles"},
	{Verb: "escalate", Group: rbacv1.GroupName, Resource: "clusterroles"},
	{Verb: "create", Group: "certificates.k8s.io", Resource: "certificatesigningrequests"},
	{Verb: "update", Group: "certificates.k8s.io", Resource: "certificatesigningrequests", Subresource: "approval"},
	{Verb: "create", Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"},
	{Verb: "create", Group: "apiregistration.k8s.io", Resource: "apiservices"},
}

// testRights requires each workload's account to have the listed rights only.
func testRights(t *testing.T, c *cluster, p program) {
	all := pods(t, p)
	for name, pod := range all {
		require.Equal(t, name, pod.Spec.ServiceAccountName, "each workload has its own account")
		require.False(t, *pod.Spec.AutomountServiceAccountToken, name)
	}
	basic := c.serviceAccount(t, platform.Name, "nobody").rules(t, platform.Name)
	require.NotEmpty(t, basic, "any account may review its own access")
	for name := range all {
		t.Run(name, func(t *testing.T) {
			account := c.serviceAccount(t, platform.Name, name)
			for _, namespace := range []string{platform.Name, metav1.NamespaceSystem, metav1.NamespaceDefault} {
				want := append([]authorizationv1.ResourceRule{}, basic...)
				for _, r := range rights[platform.Workload(name)] {
					require.NotEmpty(t, r.purpose)
					want = append(want, r.rule)
				}
				require.Equal(t, sorted(want), account.rules(t, namespace), "permissions in %s: add new ones to rights", namespace)
				for _, request := range dangerous {
					request.Namespace = namespace
					require.False(t, account.can(t, request), "%+v", request)
					require.True(t, c.administrator(t).can(t, request), "the administrator may: %+v", request)
				}
			}
			_, err := account.CoreV1().Secrets(platform.Name).List(t.Context(), metav1.ListOptions{})
			require.True(t, apierrors.IsForbidden(err), "%v", err)
		})
	}
	t.Run("a granted right is detected", func(t *testing.T) { testGrant(t, c) })
}

// testGrant grants a right to show that testRights would detect it.
func testGrant(t *testing.T, c *cluster) {
	const name = string(platform.WorkloadCollector)
	account := c.serviceAccount(t, platform.Name, name)
	request := authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods", Namespace: platform.Name}
	require.False(t, account.can(t, request))
	before := account.rules(t, platform.Name)
	_, err := c.typed.RbacV1().Roles(platform.Name).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.typed.RbacV1().RoleBindings(platform.Name).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: platform.Name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	// The authorizer reads bindings from its own cache.
	testenv.Eventually(t, func() bool { return account.can(t, request) }, testenv.Arrival, 20*time.Millisecond)
	require.Len(t, account.rules(t, platform.Name), len(before)+1)
	request.Namespace = metav1.NamespaceSystem
	require.False(t, account.can(t, request), "the right applies to its namespace only")
}

// identity is a client that acts as some user.
type identity struct{ *kubernetes.Clientset }

func (c *cluster) administrator(*testing.T) identity { return identity{c.typed} }

// serviceAccount impersonates a ServiceAccount with its groups.
func (c *cluster) serviceAccount(t *testing.T, namespace, account string) identity {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	set, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return identity{set}
}

// can reports whether the identity is allowed to perform a request.
func (i identity) can(t *testing.T, request authorizationv1.ResourceAttributes) bool {
	t.Helper()
	review, err := i.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &request},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return review.Status.Allowed
}

// rules returns the identity's rights in a namespace, including cluster-wide ones.
func (i identity) rules(t *testing.T, namespace string) []authorizationv1.ResourceRule {
	t.Helper()
	review, err := i.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Empty(t, review.Status.EvaluationError)
	return sorted(review.Status.ResourceRules)
}

// sorted sorts rules in place.
func sorted(rules []authorizationv1.ResourceRule) []authorizationv1.ResourceRule {
	sort.Slice(rules, func(i, j int) bool { return rules[i].String() < rules[j].String() })
	return rules
}
