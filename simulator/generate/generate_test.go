package generate_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/generate"
)

func TestGeneratesEveryTypeOfItsPackages(t *testing.T) {
	packages := catalog.Packages()
	var want []string
	for _, name := range []string{"random", "tls"} {
		for token := range packages[name].Resources {
			want = append(want, token)
		}
	}
	require.ElementsMatch(t, want, generate.Tokens())
	_, _, err := generate.Create("tls:index/none:None", nil)
	require.ErrorContains(t, err, "unknown resource type")
}

func TestErrorsNameTheInput(t *testing.T) {
	for token, c := range map[string]struct {
		inputs map[string]any
		want   string
	}{
		"tls:index/privateKey:PrivateKey":               {map[string]any{"algorithm": "DSA"}, "algorithm DSA with ecdsaCurve <nil>"},
		"tls:index/certRequest:CertRequest":             {map[string]any{"privateKeyPem": "x"}, "privateKeyPem: no PEM block"},
		"tls:index/locallySignedCert:LocallySignedCert": {map[string]any{"caPrivateKeyPem": "x"}, "caPrivateKeyPem: no PEM block"},
		"random:index/randomPassword:RandomPassword": {
			map[string]any{
				"length": 1.0, "lower": false, "upper": false, "numeric": false, "special": false,
			}, "all character classes are disabled",
		},
	} {
		_, _, err := generate.Create(token, resource.NewPropertyMapFromMap(c.inputs))
		require.ErrorContains(t, err, token)
		require.ErrorContains(t, err, c.want)
	}
}
