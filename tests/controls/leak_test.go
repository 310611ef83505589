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
	"github.com/emr-observatory/emr-observatory/tests/canary"
)

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

// leakingProgram exports a password in an output and puts a private key into a
// ConfigMap, encoded in base64 as in user data.
func leakingProgram(ctx *pulumi.Context) error {
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

// generatedSecrets lists the secrets that recorderOption generated.
type generatedSecrets struct{ list []canary.Secret }

// recorderOption makes the recorder return random secrets instead of its constant
// placeholders, which a search could not tell from other text.
func (s *generatedSecrets) recorderOption(t *testing.T) recorder.Option {
	return recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
		out := trial.Computed(r)
		keys := secretOutputs()[r.Type]
		for _, key := range keys {
			value := rand.Text()
			if r.Type == "tls:index/privateKey:PrivateKey" {
				value = newKey(t)
			}
			s.list = append(s.list, canary.Secret{Name: r.Name + " " + key, Value: value})
			out[resource.PropertyKey(key)] = resource.MakeSecret(resource.NewStringProperty(value))
		}
		return out
	})
}

// newKey generates a private key in PEM.
func newKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// plaintextOf returns the part of a value that the engine would not encrypt.
func plaintextOf(v resource.PropertyValue) any {
	switch {
	case v.IsSecret(), v.IsOutput() && v.OutputValue().Secret:
		return nil
	case v.IsOutput():
		return plaintextOf(v.OutputValue().Element)
	case v.IsObject():
		out := map[string]any{}
		for k, e := range v.ObjectValue() {
			out[string(k)] = plaintextOf(e)
		}
		return out
	case v.IsArray():
		var out []any
		for _, e := range v.ArrayValue() {
			out = append(out, plaintextOf(e))
		}
		return out
	case v.IsAsset():
		return v.AssetValue().Text
	}
	return v.V
}

// inputLeaks searches the recorded inputs, without values marked as secret.
func inputLeaks(t *testing.T, rec *recorder.Recording, search *canary.Searcher) []canary.Leak {
	t.Helper()
	var out []canary.Leak
	for _, r := range rec.Resources {
		content, err := json.Marshal(plaintextOf(resource.NewObjectProperty(r.Inputs)))
		require.NoError(t, err)
		out = append(out, search.Search(r.Type+" "+r.Name, content)...)
	}
	return out
}

// TestInputsMarkEverySecret requires every input that contains a secret to be marked
// as secret, such as user data, bootstrap arguments, pods and ConfigMaps.
func TestInputsMarkEverySecret(t *testing.T) {
	for _, stack := range []string{"dev", "local", "pr"} {
		var secrets generatedSecrets
		rec := trial.Record(t, stack, secrets.recorderOption(t))
		search, err := canary.New(nil, secrets.list...)
		require.NoError(t, err)
		require.Empty(t, inputLeaks(t, rec, search), stack)
		marked := slices.DeleteFunc(slices.Clone(rec.Resources), func(r recorder.Resource) bool {
			return !resource.NewObjectProperty(r.Inputs).ContainsSecrets()
		})
		require.Greater(t, len(marked), 10, "certificates, parameters, the gate, two providers, a Secret")
	}
}

func TestFindsUnmarkedSecretInInput(t *testing.T) {
	var secrets generatedSecrets
	rec, err := recorder.Run(leakingProgram, secrets.recorderOption(t))
	require.NoError(t, err)
	search, err := canary.New(nil, secrets.list...)
	require.NoError(t, err)
	leaks := inputLeaks(t, rec, search)
	require.NotEmpty(t, leaks)
	for _, l := range leaks {
		require.Equal(t, "kubernetes:core/v1:ConfigMap config", l.Source)
		require.Equal(t, "key privateKeyPem", l.Secret)
	}
}
