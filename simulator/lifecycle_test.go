package simulator_test

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

	"github.com/emr-observatory/emr-observatory/simulator"
)

// fakeHandler is a Handler whose Create is the given function.
type fakeHandler struct {
	simulator.Recording
	create func(simulator.Request) (simulator.Result, error)
}

func (f fakeHandler) Create(_ context.Context, r simulator.Request) (simulator.Result, error) {
	return f.create(r)
}

func TestHandlerOverridesRecordedOutputs(t *testing.T) {
	c := dial(t, "aws", simulator.Options{Handlers: map[string]simulator.Handler{
		"aws:s3/bucketV2:BucketV2": fakeHandler{create: func(r simulator.Request) (simulator.Result, error) {
			out, err := r.Recorded()
			out.Outputs["bucketDomainName"] = resource.NewStringProperty("127.0.0.1")
			return out, err
		}},
	}})
	r := c.create("aws:s3/bucketV2:BucketV2", values{"bucket": "data"})
	out := c.unmarshal(r.GetProperties())
	require.Equal(t, "data", r.GetId())
	require.Equal(t, "arn:aws:s3:::data", out["arn"].StringValue())
	require.Equal(t, "127.0.0.1", out["bucketDomainName"].StringValue())
}

func TestPartialErrorCarriesTheResource(t *testing.T) {
	c := dial(t, "aws", simulator.Options{Handlers: map[string]simulator.Handler{
		clusterType: fakeHandler{create: func(r simulator.Request) (simulator.Result, error) {
			return simulator.Result{}, &simulator.PartialError{
				Result:  simulator.Result{ID: "j-1", Outputs: r.Inputs},
				Reasons: []string{"TERMINATED_WITH_ERRORS: bootstrap action 1 returned 1"},
			}
		}},
	}})
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(clusterType), Properties: c.marshal(validCluster())})
	require.ErrorContains(t, err, "bootstrap action 1 returned 1")
	rpc, ok := rpcerror.FromError(err)
	require.True(t, ok)
	require.Len(t, rpc.Details(), 1)
	detail := rpc.Details()[0].(*pulumirpc.ErrorResourceInitFailed)
	require.Equal(t, "j-1", detail.GetId())
	require.Equal(t, []string{"TERMINATED_WITH_ERRORS: bootstrap action 1 returned 1"}, detail.GetReasons())
	require.NotEmpty(t, detail.GetInputs().GetFields())
}

func TestOutputsThatTheSDKCannotDecodeAreReported(t *testing.T) {
	c := dial(t, "aws", simulator.Options{Handlers: map[string]simulator.Handler{
		"aws:kms/key:Key": fakeHandler{create: func(simulator.Request) (simulator.Result, error) {
			return simulator.Result{ID: "k", Outputs: resource.PropertyMap{"ARN": resource.NewStringProperty("x")}}, nil
		}},
	}})
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:kms/key:Key"), Properties: c.marshal(values{})})
	require.ErrorContains(t, err, "ARN: unknown property (known: arn)")
}

func TestFailedCreateReleasesTheName(t *testing.T) {
	fail := true
	c := dial(t, "aws", simulator.Options{Handlers: map[string]simulator.Handler{
		"aws:iam/role:Role": fakeHandler{create: func(r simulator.Request) (simulator.Result, error) {
			if fail {
				return simulator.Result{}, errors.New("throttled")
			}
			return r.Recorded()
		}},
	}})
	v := values{"name": "emr", "assumeRolePolicy": "{}"}
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:iam/role:Role"), Properties: c.marshal(v)})
	require.ErrorContains(t, err, "throttled")
	fail = false
	c.create("aws:iam/role:Role", v)
	_, err = c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:iam/role:Role"), Properties: c.marshal(v)})
	require.ErrorContains(t, err, `"emr" exists already`)
}

func TestInterfacesGetUniqueUsableAddresses(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/28", "vpcId": "vpc-1"}).GetId()
	const eni = "aws:ec2/networkInterface:NetworkInterface"
	seen := map[string]bool{}
	for i := range 11 { // a /28 has 16 addresses, 5 are AWS's
		name := strings.Repeat("n", i+1)
		r, err := c.Create(
			t.Context(),
			&pulumirpc.CreateRequest{Urn: "urn:pulumi:test::p::" + eni + "::" + name, Properties: c.marshal(values{"subnetId": subnet})},
		)
		require.NoError(t, err)
		out := c.unmarshal(r.GetProperties())
		ip := netip.MustParseAddr(out["privateIp"].StringValue())
		require.True(t, netip.MustParsePrefix("10.0.0.0/28").Contains(ip))
		last := ip.As4()[3]
		require.True(t, last >= 4 && last <= 14, ip)
		require.False(t, seen[ip.String()], ip)
		seen[ip.String()] = true
		require.Equal(t, "ip-"+strings.ReplaceAll(ip.String(), ".", "-")+".ec2.internal", out["privateDnsName"].StringValue())
	}
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(eni), Properties: c.marshal(values{"subnetId": subnet})})
	require.ErrorContains(t, err, "no free address")
	for ip, want := range map[string]string{
		"10.0.0.3": "not usable", "10.0.0.15": "not usable", "10.0.1.4": "not usable", "10.0.0.4": "is taken",
	} {
		_, err := c.Create(
			t.Context(),
			&pulumirpc.CreateRequest{Urn: urn(eni), Properties: c.marshal(values{"subnetId": subnet, "privateIps": []any{ip}})},
		)
		require.ErrorContains(t, err, want, ip)
	}
}

func TestInstanceHasTheAddressOfItsInterface(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/24", "vpcId": "vpc-1"}).GetId()
	eni := c.create("aws:ec2/networkInterface:NetworkInterface", values{"subnetId": subnet, "privateIps": []any{"10.0.0.10"}}).GetId()
	r := c.create("aws:ec2/instance:Instance", values{"networkInterfaces": []any{values{"networkInterfaceId": eni, "deviceIndex": 0.0}}})
	out := c.unmarshal(r.GetProperties())
	require.Regexp(t, `^i-[0-9a-f]{17}$`, r.GetId())
	require.Equal(t, "10.0.0.10", out["privateIp"].StringValue())
	require.Equal(t, eni, out["primaryNetworkInterfaceId"].StringValue())
}

// A VPC's interfaces get public addresses only while it has an internet gateway,
// which stays attached while one of them has.
func TestPublicAddressesNeedAGateway(t *testing.T) {
	const gateway, association = "aws:ec2/internetGateway:InternetGateway", "aws:ec2/eipAssociation:EipAssociation"
	c := dial(t, "aws", simulator.Options{})
	vpc := c.create("aws:ec2/vpc:Vpc", values{"cidrBlock": "10.0.0.0/16"}).GetId()
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/24", "vpcId": vpc}).GetId()
	eni := c.create("aws:ec2/networkInterface:NetworkInterface", values{"subnetId": subnet}).GetId()
	inputs := values{"allocationId": "eipalloc-1", "networkInterfaceId": eni}
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(association), Properties: c.marshal(inputs)})
	require.ErrorContains(t, err, "Gateway.NotAttached")

	attached := c.create(gateway, values{"vpcId": vpc}).GetId()
	mapped := c.create(association, inputs).GetId()
	_, err = c.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: urn(gateway), Id: attached, Properties: c.marshal(values{"vpcId": vpc})})
	require.ErrorContains(t, err, "mapped public address")
	_, err = c.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: urn(association), Id: mapped, Properties: c.marshal(inputs)})
	require.NoError(t, err)
	_, err = c.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: urn(gateway), Id: attached, Properties: c.marshal(values{"vpcId": vpc})})
	require.NoError(t, err)

	existing := c.create("aws:ec2/networkInterface:NetworkInterface", values{"subnetId": c.create("aws:ec2/subnet:Subnet",
		values{"cidrBlock": "10.1.0.0/24", "vpcId": "vpc-of-others"}).GetId()}).GetId()
	c.create(association, values{"allocationId": "eipalloc-1", "networkInterfaceId": existing})
}

// S3 deletes no bucket that holds objects; forceDestroy empties it first.
func TestBucketsThatHoldObjectsAreNotDeleted(t *testing.T) {
	const bucketType, objectType = "aws:s3/bucketV2:BucketV2", "aws:s3/bucketObjectv2:BucketObjectv2"
	c := dial(t, "aws", simulator.Options{})
	c.create(bucketType, values{"bucket": "data"})
	object := values{"bucket": "data", "key": "artifacts/a", "content": "x"}
	c.create(objectType, object)
	remove := func(typ, id string, outputs values) error {
		_, err := c.Delete(t.Context(), &pulumirpc.DeleteRequest{Urn: urn(typ), Id: id, Properties: c.marshal(outputs)})
		return err
	}
	require.ErrorContains(t, remove(bucketType, "data", values{"bucket": "data", "forceDestroy": false}), "BucketNotEmpty")
	require.NoError(t, remove(objectType, "artifacts/a", object))
	require.NoError(t, remove(bucketType, "data", values{"bucket": "data", "forceDestroy": false}))

	c.create(bucketType, values{"bucket": "data"})
	c.create(objectType, object)
	require.NoError(t, remove(bucketType, "data", values{"bucket": "data", "forceDestroy": true}))
	c.create(bucketType, values{"bucket": "data"})
	require.NoError(t, remove(bucketType, "data", values{"bucket": "data", "forceDestroy": false}), "a new bucket is empty")
}

func TestTerminationProtectionRefusesDeletion(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	_, err := c.Delete(
		t.Context(),
		&pulumirpc.DeleteRequest{Urn: urn(clusterType), Id: "j-1", Properties: c.marshal(values{"terminationProtection": true})},
	)
	require.ErrorContains(t, err, "termination protected")
	_, err = c.Delete(
		t.Context(),
		&pulumirpc.DeleteRequest{Urn: urn(clusterType), Id: "j-1", Properties: c.marshal(values{"terminationProtection": false})},
	)
	require.NoError(t, err)
}

func TestBootstrapActionPathEditIsNeverApplied(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	subnet := c.create("aws:ec2/subnet:Subnet", values{"cidrBlock": "10.0.0.0/24", "vpcId": "vpc-1"}).GetId()
	before := withValue(validCluster(), subnet, "ec2Attributes", "subnetId").(values)
	made := c.create(clusterType, before)
	after := withValue(before, "s3://b/y.sh", "bootstrapActions", 0, "path").(values)
	updated, err := c.Update(
		t.Context(),
		&pulumirpc.UpdateRequest{
			Urn: urn(clusterType), Id: made.GetId(), OldInputs: c.marshal(before), Olds: made.GetProperties(), News: c.marshal(after),
		},
	)
	require.NoError(t, err)
	diff, err := c.Diff(
		t.Context(),
		&pulumirpc.DiffRequest{
			Urn: urn(clusterType), Id: made.GetId(), OldInputs: c.marshal(after), Olds: updated.GetProperties(), News: c.marshal(after),
		},
	)
	require.NoError(t, err)
	require.Equal(t, pulumirpc.DiffResponse_DIFF_SOME, diff.GetChanges(), "every later diff shows the edit")
	require.Empty(t, diff.GetReplaces())
}

func TestKubernetesRequiresKubeconfig(t *testing.T) {
	c := dial(t, "kubernetes", simulator.Options{})
	object := values{"apiVersion": "v1", "kind": "ConfigMap", "metadata": values{"name": "a", "namespace": "observatory"}}
	const kind = "kubernetes:core/v1:ConfigMap"
	_, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(kind), Properties: c.marshal(object)})
	require.ErrorContains(t, err, "configured Kubernetes cluster is unreachable")
	_, err = c.Configure(
		t.Context(),
		&pulumirpc.ConfigureRequest{
			Args: c.marshal(values{"kubeconfig": "clusters: [{cluster: {server: 'https://10.0.0.10:6443'}}]"}), AcceptSecrets: true,
		},
	)
	require.NoError(t, err)
	r := c.create(kind, object)
	require.Equal(t, "observatory/a", r.GetId())
	require.NotEmpty(t, c.unmarshal(r.GetProperties())["metadata"].ObjectValue()["uid"].StringValue())
	require.Contains(t, c.check(kind, withValue(object, "Secret", "kind").(values))[0], "kind: must be ConfigMap")
}

func TestCertificatesVerify(t *testing.T) {
	c := dial(t, "tls", simulator.Options{})
	text := func(r *pulumirpc.CreateResponse, key string) string {
		v := c.unmarshal(r.GetProperties())[resource.PropertyKey(key)]
		if v.IsSecret() {
			v = v.SecretValue().Element
		}
		return v.StringValue()
	}
	key := func() *pulumirpc.CreateResponse {
		r := c.create("tls:index/privateKey:PrivateKey", values{"algorithm": "ECDSA", "ecdsaCurve": "P256"})
		require.True(t, c.unmarshal(r.GetProperties())["privateKeyPem"].IsSecret())
		return r
	}
	caKey, leafKey := key(), key()
	ca := c.create("tls:index/selfSignedCert:SelfSignedCert", values{
		"privateKeyPem": text(caKey, "privateKeyPem"), "isCaCertificate": true, "validityPeriodHours": 24.0,
		"allowedUses": []any{"cert_signing"}, "subject": values{"commonName": "ca"},
	})
	request := c.create(
		"tls:index/certRequest:CertRequest",
		values{
			"privateKeyPem": text(leafKey, "privateKeyPem"), "dnsNames": []any{"grafana"},
			"subject": values{"commonName": "admin", "organization": "system:masters"},
		},
	)
	leaf := c.create("tls:index/locallySignedCert:LocallySignedCert", values{
		"caCertPem": text(
			ca, "certPem",
		), "caPrivateKeyPem": text(caKey, "privateKeyPem"), "certRequestPem": text(request, "certRequestPem"),
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

func TestCommandsRunAndSecretsAreRedacted(t *testing.T) {
	c := dial(t, "command", simulator.Options{})
	const typ = "command:local:Command"
	secret := resource.MakeSecret(resource.NewStringProperty("hunter2"))
	r := c.create(typ, values{"create": `printf "%s" "$A"`, "environment": values{"A": secret}})
	require.Equal(t, "hunter2", c.unmarshal(r.GetProperties())["stdout"].SecretValue().Element.StringValue())

	_, err := c.Create(
		t.Context(),
		&pulumirpc.CreateRequest{
			Urn: urn(typ), Properties: c.marshal(values{"create": "echo it is $A >&2; exit 3", "environment": values{"A": secret}}),
		},
	)
	require.ErrorContains(t, err, "exit status 3: it is [secret]")
	require.NotContains(t, err.Error(), "hunter2")

	old := c.create(typ, values{"create": "echo one"})
	up, err := c.Update(
		t.Context(),
		&pulumirpc.UpdateRequest{
			Urn: urn(typ), Id: old.GetId(), Olds: old.GetProperties(), OldInputs: c.marshal(values{"create": "echo one"}),
			News: c.marshal(values{"create": "echo one", "update": "echo after $PULUMI_COMMAND_STDOUT"}),
		},
	)
	require.NoError(t, err)
	require.Equal(t, "after one", c.unmarshal(up.GetProperties())["stdout"].StringValue())
}

func TestRandomPasswordFollowsInputs(t *testing.T) {
	c := dial(t, "random", simulator.Options{})
	seen := map[string]bool{}
	for range 5 {
		r := c.create("random:index/randomPassword:RandomPassword", values{"length": 24.0, "special": false, "minNumeric": 4.0})
		v := c.unmarshal(r.GetProperties())["result"]
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
