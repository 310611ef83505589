package provider_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/provider"
)

// fake is a Handler made of functions.
type fake struct {
	provider.Recording
	create func(provider.Request) (provider.Result, error)
}

func (f fake) Create(_ context.Context, r provider.Request) (provider.Result, error) {
	return f.create(r)
}

func TestHandlerStartsFromTheRecord(t *testing.T) {
	c := dial(t, "aws", provider.Options{Handlers: map[string]provider.Handler{
		"aws:s3/bucketV2:BucketV2": fake{create: func(r provider.Request) (provider.Result, error) {
			out, err := r.Recorded()
			out.Outputs["bucketDomainName"] = resource.NewStringProperty("127.0.0.1")
			return out, err
		}},
	}})
	r := c.create("aws:s3/bucketV2:BucketV2", values{"bucket": "data"})
	out := c.properties(r.GetProperties())
	require.Equal(t, "data", r.GetId())
	require.Equal(t, "arn:aws:s3:::data", out["arn"].StringValue())
	require.Equal(t, "127.0.0.1", out["bucketDomainName"].StringValue())
}

func TestPartialFailureCarriesTheResource(t *testing.T) {
	c := dial(t, "aws", provider.Options{Handlers: map[string]provider.Handler{
		clusterType: fake{create: func(r provider.Request) (provider.Result, error) {
			return provider.Result{}, &provider.PartialError{
				Result:  provider.Result{ID: "j-1", Outputs: r.Inputs},
				Reasons: []string{"TERMINATED_WITH_ERRORS: bootstrap action 1 returned 1"},
			}
		}},
	}})
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(clusterType), Properties: c.wire(goodCluster())})
	require.ErrorContains(t, err, "bootstrap action 1 returned 1")
	rpc, ok := rpcerror.FromError(err)
	require.True(t, ok)
	require.Len(t, rpc.Details(), 1)
	detail := rpc.Details()[0].(*pulumirpc.ErrorResourceInitFailed)
	require.Equal(t, "j-1", detail.GetId())
	require.Equal(t, []string{"TERMINATED_WITH_ERRORS: bootstrap action 1 returned 1"}, detail.GetReasons())
	require.NotEmpty(t, detail.GetInputs().GetFields())
}

func TestHandlerWhoseOutputsTheSDKCannotReadIsToldSo(t *testing.T) {
	c := dial(t, "aws", provider.Options{Handlers: map[string]provider.Handler{
		"aws:kms/key:Key": fake{create: func(provider.Request) (provider.Result, error) {
			return provider.Result{ID: "k", Outputs: resource.PropertyMap{"ARN": resource.NewStringProperty("x")}}, nil
		}},
	}})
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:kms/key:Key"), Properties: c.wire(values{})})
	require.ErrorContains(t, err, "ARN: unknown property (known: arn)")
}

func TestFailedCreateGivesTheNameBack(t *testing.T) {
	fail := true
	c := dial(t, "aws", provider.Options{Handlers: map[string]provider.Handler{
		"aws:iam/role:Role": fake{create: func(r provider.Request) (provider.Result, error) {
			if fail {
				return provider.Result{}, errors.New("throttled")
			}
			return r.Recorded()
		}},
	}})
	v := values{"name": "emr", "assumeRolePolicy": "{}"}
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:iam/role:Role"), Properties: c.wire(v)})
	require.ErrorContains(t, err, "throttled")
	fail = false
	c.create("aws:iam/role:Role", v)
	_, err = c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:iam/role:Role"), Properties: c.wire(v)})
	require.ErrorContains(t, err, `"emr" exists already`)
}

func TestAddressesAreUniqueAndUsable(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/28", "vpcId": "vpc-1"}).GetId()
	const eni = "aws:ec2/networkInterface:NetworkInterface"
	seen := map[string]bool{}
	for i := range 11 { // a /28 has 16 addresses, 5 are AWS's
		name := strings.Repeat("n", i+1)
		r, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: "urn:pulumi:test::p::" + eni + "::" + name, Properties: c.wire(values{"subnetId": subnet})})
		require.NoError(t, err)
		out := c.properties(r.GetProperties())
		ip := netip.MustParseAddr(out["privateIp"].StringValue())
		require.True(t, netip.MustParsePrefix("10.0.0.0/28").Contains(ip))
		last := ip.As4()[3]
		require.True(t, last >= 4 && last <= 14, ip)
		require.False(t, seen[ip.String()], ip)
		seen[ip.String()] = true
		require.Equal(t, "ip-"+strings.ReplaceAll(ip.String(), ".", "-")+".ec2.internal", out["privateDnsName"].StringValue())
	}
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(eni), Properties: c.wire(values{"subnetId": subnet})})
	require.ErrorContains(t, err, "no free address")
	for ip, want := range map[string]string{"10.0.0.3": "not usable", "10.0.0.15": "not usable", "10.0.1.4": "not usable", "10.0.0.4": "is taken"} {
		_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(eni), Properties: c.wire(values{"subnetId": subnet, "privateIps": []any{ip}})})
		require.ErrorContains(t, err, want, ip)
	}
}

func TestInstanceHasItsInterfacesAddress(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/24", "vpcId": "vpc-1"}).GetId()
	eni := c.create("aws:ec2/networkInterface:NetworkInterface", values{"subnetId": subnet, "privateIps": []any{"10.0.0.10"}}).GetId()
	r := c.create("aws:ec2/instance:Instance", values{"networkInterfaces": []any{values{"networkInterfaceId": eni, "deviceIndex": 0.0}}})
	out := c.properties(r.GetProperties())
	require.Regexp(t, `^i-[0-9a-f]{17}$`, r.GetId())
	require.Equal(t, "10.0.0.10", out["privateIp"].StringValue())
	require.Equal(t, eni, out["primaryNetworkInterfaceId"].StringValue())
}

func TestTerminationProtectionRefusesDeletion(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	_, err := c.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: urn(clusterType), Id: "j-1", Properties: c.wire(values{"terminationProtection": true})})
	require.ErrorContains(t, err, "termination protected")
	_, err = c.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: urn(clusterType), Id: "j-1", Properties: c.wire(values{"terminationProtection": false})})
	require.NoError(t, err)
}

func TestBootstrapActionEditIsAcceptedAndNeverApplied(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/24", "vpcId": "vpc-1"}).GetId()
	before := with(goodCluster(), subnet, "ec2Attributes", "subnetId").(values)
	made := c.create(clusterType, before)
	after := with(before, "s3://b/y.sh", "bootstrapActions", 0, "path").(values)
	updated, err := c.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: urn(clusterType), Id: made.GetId(), OldInputs: c.wire(before), Olds: made.GetProperties(), News: c.wire(after)})
	require.NoError(t, err)
	diff, err := c.Diff(t.Context(), &pulumirpc.DiffRequest{Urn: urn(clusterType), Id: made.GetId(), OldInputs: c.wire(after), Olds: updated.GetProperties(), News: c.wire(after)})
	require.NoError(t, err)
	require.Equal(t, pulumirpc.DiffResponse_DIFF_SOME, diff.GetChanges(), "the edit shows for ever")
	require.Empty(t, diff.GetReplaces())
}

func TestKubernetesNeedsAKubeconfig(t *testing.T) {
	c := dial(t, "kubernetes", provider.Options{})
	object := values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": "a", "namespace": "observatory"}}
	const kind = "kubernetes:core/v1:ConfigMap"
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(kind), Properties: c.wire(object)})
	require.ErrorContains(t, err, "configured Kubernetes cluster is unreachable")
	_, err = c.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: c.wire(values{"kubeconfig": "clusters: [{cluster: {server: 'https://10.0.0.10:6443'}}]"}), AcceptSecrets: true})
	require.NoError(t, err)
	r := c.create(kind, object)
	require.Equal(t, "observatory/a", r.GetId())
	require.NotEmpty(t, c.properties(r.GetProperties())["metadata"].ObjectValue()["uid"].StringValue())
	require.Contains(t, c.check(kind, with(object, "Secret", "kind").(values))[0], "kind: must be ConfigMap")
}

func TestCertificatesAreReal(t *testing.T) {
	c := dial(t, "tls", provider.Options{})
	text := func(r *pulumirpc.CreateResponse, key string) string {
		v := c.properties(r.GetProperties())[resource.PropertyKey(key)]
		if v.IsSecret() {
			v = v.SecretValue().Element
		}
		return v.StringValue()
	}
	key := func() *pulumirpc.CreateResponse {
		r := c.create("tls:index/privateKey:PrivateKey", values{"algorithm": "ECDSA", "ecdsaCurve": "P256"})
		require.True(t, c.properties(r.GetProperties())["privateKeyPem"].IsSecret())
		return r
	}
	caKey, leafKey := key(), key()
	ca := c.create("tls:index/selfSignedCert:SelfSignedCert", values{
		"privateKeyPem": text(caKey, "privateKeyPem"), "isCaCertificate": true, "validityPeriodHours": 24.0,
		"allowedUses": []any{"cert_signing"}, "subject": values{"commonName": "ca"},
	})
	request := c.create("tls:index/certRequest:CertRequest", values{"privateKeyPem": text(leafKey, "privateKeyPem"), "dnsNames": []any{"grafana"}, "subject": values{"commonName": "admin", "organization": "system:masters"}})
	leaf := c.create("tls:index/locallySignedCert:LocallySignedCert", values{
		"caCertPem": text(ca, "certPem"), "caPrivateKeyPem": text(caKey, "privateKeyPem"), "certRequestPem": text(request, "certRequestPem"),
		"validityPeriodHours": 1.0, "allowedUses": []any{"server_auth", "digital_signature"},
	})
	pair, err := tls.X509KeyPair([]byte(text(leaf, "certPem")), []byte(text(leafKey, "privateKeyPem")))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(text(ca, "certPem"))))
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "grafana"})
	require.NoError(t, err)
	require.Equal(t, []string{"system:masters"}, pair.Leaf.Subject.Organization)
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "tempo"})
	require.Error(t, err)
}

func TestCommandsRunAndKeepSecrets(t *testing.T) {
	c := dial(t, "command", provider.Options{})
	const typ = "command:local:Command"
	secret := resource.MakeSecret(resource.NewStringProperty("hunter2"))
	r := c.create(typ, values{"create": `printf "%s" "$A"`, "environment": values{"A": secret}})
	require.Equal(t, "hunter2", c.properties(r.GetProperties())["stdout"].SecretValue().Element.StringValue())

	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(typ), Properties: c.wire(values{"create": "echo it is $A >&2; exit 3", "environment": values{"A": secret}})})
	require.ErrorContains(t, err, "exit status 3: it is [secret]")
	require.NotContains(t, err.Error(), "hunter2")

	old := c.create(typ, values{"create": "echo one"})
	up, err := c.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: urn(typ), Id: old.GetId(), Olds: old.GetProperties(), OldInputs: c.wire(values{"create": "echo one"}), News: c.wire(values{"create": "echo one", "update": "echo after $PULUMI_COMMAND_STDOUT"})})
	require.NoError(t, err)
	require.Equal(t, "after one", c.properties(up.GetProperties())["stdout"].StringValue())
}

func TestRandomPasswordFollowsItsInputs(t *testing.T) {
	c := dial(t, "random", provider.Options{})
	seen := map[string]bool{}
	for range 5 {
		r := c.create("random:index/randomPassword:RandomPassword", values{"length": 24.0, "special": false, "minNumeric": 4.0})
		v := c.properties(r.GetProperties())["result"]
		require.True(t, v.IsSecret())
		s := v.SecretValue().Element.StringValue()
		require.Regexp(t, `^[a-zA-Z0-9]{24}$`, s)
		digits := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
		require.GreaterOrEqual(t, len(digits), 4)
		require.False(t, seen[s])
		seen[s] = true
	}
}
