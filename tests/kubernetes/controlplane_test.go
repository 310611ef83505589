package kubernetes_test

import (
	"crypto/x509"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/emr-observatory/emr-observatory/platform"
)

// TestControlPlane starts the API server with the program's configuration and checks
// all of the program's objects against it.
func TestControlPlane(t *testing.T) {
	p := build(t, loopback())
	startAPI(t, p)
	t.Run("kubeconfig", func(t *testing.T) { testKubeconfig(t, p) })
	c := connect(t, p.kubeconfig)
	c.createPrerequisites(t, p)
	t.Run("objects", func(t *testing.T) { testObjects(t, c, p) })
	t.Run("conflicts", func(t *testing.T) { testConflicts(t, c, p) })
	t.Run("pods", func(t *testing.T) { testPods(t, c, p) })
	t.Run("rights", func(t *testing.T) { testRights(t, c, p) })
}

// cluster is the running API server, accessed with the program's kubeconfig.
type cluster struct {
	config   *rest.Config
	typed    *kubernetes.Clientset
	dynamic  *dynamic.DynamicClient
	mapper   meta.RESTMapper
	warnings *warnings
}

// warnings collects the API server's warnings.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// reset returns and clears the collected warnings.
func (w *warnings) reset() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

func configOf(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	require.NoError(t, err)
	config.QPS = -1 // no rate limit
	return config
}

// connect creates the clients for a kubeconfig.
func connect(t *testing.T, kubeconfig string) *cluster {
	t.Helper()
	c := &cluster{config: configOf(t, kubeconfig), warnings: &warnings{}}
	c.config.WarningHandler = c.warnings
	var err error
	c.typed, err = kubernetes.NewForConfig(c.config)
	require.NoError(t, err)
	c.dynamic, err = dynamic.NewForConfig(c.config)
	require.NoError(t, err)
	groups, err := restmapper.GetAPIGroupResources(c.typed.Discovery())
	require.NoError(t, err)
	c.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return c
}

// client returns a client for objects of o's kind and namespace.
func (c *cluster) client(t *testing.T, o unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	kind := o.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(t, err)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource)
	}
	require.NotEmpty(t, o.GetNamespace(), "%s %s is in no namespace", o.GetKind(), o.GetName())
	return c.dynamic.Resource(mapping.Resource).Namespace(o.GetNamespace())
}

// createPrerequisites creates the namespaces, accounts, roles and bindings, without
// which the API server would reject the other objects, even in a dry run.
func (c *cluster) createPrerequisites(t *testing.T, p program) {
	t.Helper()
	for _, kind := range []string{"Namespace", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"} {
		for _, o := range p.objects {
			if o.GetKind() == kind {
				_, err := c.client(t, o).Create(t.Context(), &o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
				require.NoError(t, err)
			}
		}
	}
}

// testKubeconfig requires client-go, which the Kubernetes provider uses, to be
// authenticated with the program's kubeconfig, but not with another stack's.
func testKubeconfig(t *testing.T, p program) {
	client := func(config *rest.Config) *discovery.DiscoveryClient {
		d, err := discovery.NewDiscoveryClientForConfig(config)
		require.NoError(t, err)
		return d
	}
	version, err := client(configOf(t, p.kubeconfig)).ServerVersion()
	require.NoError(t, err)
	require.Equal(t, semver.MajorMinor(platform.K3sVersion), semver.MajorMinor(version.GitVersion))

	other := build(t, p.k3s.NodeIP)
	_, err = client(configOf(t, other.kubeconfig)).ServerVersion()
	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, err, &unknown, "another stack's client must reject this server's certificate")

	stranger := configOf(t, p.kubeconfig)
	foreign := configOf(t, other.kubeconfig)
	stranger.CertData, stranger.KeyData = foreign.CertData, foreign.KeyData
	_, err = client(stranger).ServerVersion()
	require.True(t, apierrors.IsUnauthorized(err), "another stack's administrator: %v", err)

	anonymous := configOf(t, p.kubeconfig)
	anonymous.CertData, anonymous.KeyData = nil, nil
	_, err = client(anonymous).ServerVersion()
	require.True(t, apierrors.IsUnauthorized(err), "a client without certificate: %v", err)
}
