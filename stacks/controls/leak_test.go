package controls_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"slices"
	"testing"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/stacks/controls/canary"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

// leaky shows a password in an output and a key in a ConfigMap, as user data
// carries text: in base64.
func leaky(ctx *pulumi.Context) error {
	password, err := random.NewRandomPassword(ctx, "password", &random.RandomPasswordArgs{Length: pulumi.Int(32), Special: pulumi.Bool(false)})
	if err != nil {
		return err
	}
	key, err := tls.NewPrivateKey(ctx, "key", &tls.PrivateKeyArgs{Algorithm: pulumi.String("ECDSA"), EcdsaCurve: pulumi.String("P256")})
	if err != nil {
		return err
	}
	k8s, err := kubernetes.NewProvider(ctx, "kubernetes", &kubernetes.ProviderArgs{
		Kubeconfig: pulumi.String(`{"clusters":[{"cluster":{"server":"https://10.0.0.50:6443"}}]}`),
	})
	if err != nil {
		return err
	}
	encoded := pulumi.Unsecret(key.PrivateKeyPem.ApplyT(func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte("#cloud-config\n" + s))
	})).(pulumi.StringOutput)
	_, err = corev1.NewConfigMap(ctx, "config", &corev1.ConfigMapArgs{Data: pulumi.StringMap{"user-data": encoded}}, pulumi.Provider(k8s))
	ctx.Export("url", pulumi.Unsecret(pulumi.Sprintf("https://admin:%s@grafana", password.Result)))
	return err
}

// realSecrets gives the makers of secrets something worth keeping, where the
// recorder would answer with stand-ins.
type realSecrets struct{ made []canary.Secret }

func (s *realSecrets) computed(t *testing.T) recorder.Option {
	return recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
		out := trial.Computed(r)
		keys := secretOutputs()[r.Type]
		for _, key := range keys {
			value := rand.Text()
			if r.Type == "tls:index/privateKey:PrivateKey" {
				value = newKey(t)
			}
			s.made = append(s.made, canary.Secret{Name: r.Name + " " + key, Value: value})
			out[resource.PropertyKey(key)] = resource.MakeSecret(resource.NewStringProperty(value))
		}
		return out
	})
}

func newKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// unmarked is what of a value the engine would write in clear.
func unmarked(v resource.PropertyValue) any {
	switch {
	case v.IsSecret(), v.IsOutput() && v.OutputValue().Secret:
		return nil
	case v.IsOutput():
		return unmarked(v.OutputValue().Element)
	case v.IsObject():
		out := map[string]any{}
		for k, e := range v.ObjectValue() {
			out[string(k)] = unmarked(e)
		}
		return out
	case v.IsArray():
		var out []any
		for _, e := range v.ArrayValue() {
			out = append(out, unmarked(e))
		}
		return out
	case v.IsAsset():
		return v.AssetValue().Text
	}
	return v.V
}

func inputLeaks(t *testing.T, rec *recorder.Recording, search *canary.Searcher) []canary.Leak {
	t.Helper()
	var out []canary.Leak
	for _, r := range rec.Resources {
		content, err := json.Marshal(unmarked(resource.NewObjectProperty(r.Inputs)))
		require.NoError(t, err)
		out = append(out, search.Search(r.Type+" "+r.Name, content)...)
	}
	return out
}

// TestNoInputHoldsASecretUnmarked looks at every input before any engine does:
// user data, bootstrap arguments, pods and ConfigMaps among them.
func TestNoInputHoldsASecretUnmarked(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		var secrets realSecrets
		rec := trial.Record(t, stack, secrets.computed(t))
		search, err := canary.New(nil, secrets.made...)
		require.NoError(t, err)
		require.Empty(t, inputLeaks(t, rec, search), stack)
		marked := slices.DeleteFunc(slices.Clone(rec.Resources), func(r recorder.Resource) bool { return !resource.NewObjectProperty(r.Inputs).ContainsSecrets() })
		require.Greater(t, len(marked), 10, "certificates, parameters, the gate, two providers, a Secret")
	}
}

func TestAnUnmarkedInputIsFound(t *testing.T) {
	var secrets realSecrets
	rec, err := recorder.Run(leaky, secrets.computed(t))
	require.NoError(t, err)
	search, err := canary.New(nil, secrets.made...)
	require.NoError(t, err)
	leaks := inputLeaks(t, rec, search)
	require.NotEmpty(t, leaks)
	for _, l := range leaks {
		require.Equal(t, "kubernetes:core/v1:ConfigMap config", l.Source)
		require.Equal(t, "key privateKeyPem", l.Secret)
	}
}
