package controlnode_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-command/sdk/go/command"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	privateIP = "10.0.1.10"
	publicIP  = "52.94.76.9"
	volumeID  = "vol-0a1b2c3d4e5f67890"
	bucketARN = "arn:aws:s3:::data"
	keyARN    = "arn:aws:kms:us-east-1:123456789012:key/k"
)

func validArgs() *controlnode.Args {
	return &controlnode.Args{
		Region: "us-east-1",
		ControlNode: schema.ControlNode{
			InstanceType: "m7g.large", Arch: platform.ArchARM64, DataVolumeGiB: 100, Access: schema.AccessVPC,
		},
		SubnetID: pulumi.String("subnet-1"), VPCID: pulumi.String("vpc-1"), SecurityGroupID: pulumi.String("sg-1"),
		Bucket: pulumi.String("data"), BucketARN: pulumi.String(bucketARN), KMSKeyARN: pulumi.String(keyARN),
		AvailabilityZone: pulumi.String("us-east-1a"),
	}
}

// program creates a control node and two resources that use its outputs, so that
// the outputs' dependencies are recorded.
func program(args *controlnode.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		awsProvider, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		tlsProvider, err := tls.NewProvider(ctx, "tls", &tls.ProviderArgs{})
		if err != nil {
			return err
		}
		commandProvider, err := command.NewProvider(ctx, "command", &command.ProviderArgs{})
		if err != nil {
			return err
		}
		c, err := controlnode.New(ctx, "control", args, pulumi.Providers(awsProvider, tlsProvider, commandProvider))
		if err != nil {
			return err
		}
		for name, output := range map[string]pulumi.StringOutput{
			"of-kubeconfig": c.Kubeconfig, "of-private-ip": c.PrivateIP, "of-public-ip": c.PublicIP, "of-host": c.Host,
		} {
			if _, err := random.NewRandomPet(ctx, name, &random.RandomPetArgs{Prefix: output}); err != nil {
				return err
			}
		}
		return nil
	}
}

// run records what the program registers.
func run(t *testing.T, args *controlnode.Args, opts ...recorder.Option) *recorder.Recording {
	t.Helper()
	opts = append([]recorder.Option{
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com"}),
		recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:ssm/getParameter:getParameter", map[string]any{"value": "ami-0123456789abcdef0"}),
		recorder.WithInvoke("aws:ec2/getSubnet:getSubnet", map[string]any{"availabilityZone": "us-east-1c"}),
		recorder.WithComputed(computed),
	}, opts...)
	rec, err := recorder.Run(program(args), opts...)
	require.NoError(t, err)
	return rec
}

// computed returns the outputs of a resource. PEM texts contain its name.
func computed(r recorder.Resource) resource.PropertyMap {
	out := map[string]any{}
	switch {
	case strings.HasPrefix(r.Type, "tls:index/privateKey"):
		out["privateKeyPem"] = "-----BEGIN " + r.Name + "-----"
	case strings.HasPrefix(r.Type, "tls:"):
		out["certPem"], out["certRequestPem"] = "-----BEGIN "+r.Name+"-----", "-----BEGIN "+r.Name+"-----"
		out["validityStartTime"] = "2026-12-01T19:30:00+01:00"
	case strings.HasPrefix(r.Type, "aws:ec2/networkInterface:"):
		out["privateIp"] = privateIP
	case strings.HasPrefix(r.Type, "aws:ec2/eip:"):
		out["publicIp"] = publicIP
	case strings.HasPrefix(r.Type, "aws:ebs/volume:"):
		out["id"] = volumeID
	case strings.HasPrefix(r.Type, "command:"):
		out["stdout"] = "ready"
	}
	return resource.NewPropertyMapFromMap(out)
}

// one returns the only recorded resource of a type and name.
func one(t *testing.T, rec *recorder.Recording, token, name string) recorder.Resource {
	t.Helper()
	r, err := rec.One(token, name)
	require.NoError(t, err)
	return r
}

// plain returns the string inside secrets and outputs.
func plain(v resource.PropertyValue) string {
	for v.IsSecret() || v.IsOutput() {
		if v.IsSecret() {
			v = v.SecretValue().Element
		} else {
			v = v.OutputValue().Element
		}
	}
	return v.StringValue()
}

func isSecret(v resource.PropertyValue) bool {
	return v.IsSecret() || v.IsOutput() && v.OutputValue().Secret
}

func TestRegistersExactlyTheseResources(t *testing.T) {
	rec := run(t, validArgs())
	var children []string
	for _, r := range rec.Resources {
		if strings.HasPrefix(r.Type, "pulumi:") || r.Component || strings.HasPrefix(r.Name, "of-") {
			continue
		}
		children = append(children, r.Type+" "+r.Name)
		require.Equal(t, "control", r.Parent, r.Name)
		require.Equal(t, strings.SplitN(r.Type, ":", 2)[0], strings.SplitN(r.Provider, "::", 2)[0], r.Name)
	}
	require.ElementsMatch(t, []string{
		"aws:ebs/volume:Volume control-data",
		"aws:ec2/instance:Instance control-instance",
		"aws:ec2/networkInterface:NetworkInterface control-interface",
		"aws:ec2/volumeAttachment:VolumeAttachment control-attachment",
		"aws:iam/instanceProfile:InstanceProfile control-profile",
		"aws:iam/role:Role control-role",
		"aws:iam/rolePolicy:RolePolicy control-access",
		"aws:iam/rolePolicy:RolePolicy control-boot-access",
		"aws:ssm/parameter:Parameter control-client-ca-crt-parameter",
		"aws:ssm/parameter:Parameter control-client-ca-key-parameter",
		"aws:ssm/parameter:Parameter control-image-" + validArgs().Arch,
		"aws:ssm/parameter:Parameter control-request-header-ca-crt-parameter",
		"aws:ssm/parameter:Parameter control-request-header-ca-key-parameter",
		"aws:ssm/parameter:Parameter control-server-ca-crt-parameter",
		"aws:ssm/parameter:Parameter control-server-ca-key-parameter",
		"command:local:Command control-gate",
		"tls:index/certRequest:CertRequest control-administrator-request",
		"tls:index/locallySignedCert:LocallySignedCert control-administrator",
		"tls:index/privateKey:PrivateKey control-administrator-key",
		"tls:index/privateKey:PrivateKey control-boot-key",
		"tls:index/privateKey:PrivateKey control-client-ca-key",
		"tls:index/privateKey:PrivateKey control-request-header-ca-key",
		"tls:index/privateKey:PrivateKey control-server-ca-key",
		"tls:index/selfSignedCert:SelfSignedCert control-boot",
		"tls:index/selfSignedCert:SelfSignedCert control-client-ca",
		"tls:index/selfSignedCert:SelfSignedCert control-request-header-ca",
		"tls:index/selfSignedCert:SelfSignedCert control-server-ca",
	}, children)
	for _, d := range rec.Defaults {
		require.Contains(t, d, " of-", "a default provider was used")
	}
	require.NotContains(t, rec.Invokes, "aws:ec2/getSubnet:getSubnet", "the zone is an argument")
	one(t, rec, controlnode.TypeToken, "control")
}

func TestOnlyTheDataVolumeIsProtected(t *testing.T) {
	rec := run(t, validArgs())
	require.Equal(t, []string{"control-data"}, rec.Protected())
	require.True(t, one(t, rec, "aws:ebs/volume:Volume", "control-data").Retain)

	ephemeral := validArgs()
	ephemeral.Ephemeral = true
	rec = run(t, ephemeral)
	require.Empty(t, rec.Protected())
	require.False(t, one(t, rec, "aws:ebs/volume:Volume", "control-data").Retain)
}

func TestDataVolumeDoesNotDependOnTheInstance(t *testing.T) {
	volume := one(t, run(t, validArgs()), "aws:ebs/volume:Volume", "control-data")
	require.Empty(t, volume.Dependencies)
	require.Equal(t, "gp3", volume.Inputs["type"].StringValue())
	require.True(t, volume.Inputs["encrypted"].BoolValue())
	require.Equal(t, keyARN, volume.Inputs["kmsKeyId"].StringValue())
	require.Equal(t, "us-east-1a", volume.Inputs["availabilityZone"].StringValue())

	args := validArgs()
	args.AvailabilityZone = nil
	volume = one(t, run(t, args), "aws:ebs/volume:Volume", "control-data")
	require.Equal(t, "us-east-1c", plain(volume.Inputs["availabilityZone"]))
}

func TestInstance(t *testing.T) {
	rec := run(t, validArgs())
	i := one(t, rec, "aws:ec2/instance:Instance", "control-instance")
	require.Equal(t, "ami-0123456789abcdef0", i.Inputs["ami"].StringValue(), "the public parameter is no secret")
	metadata := i.Inputs["metadataOptions"].ObjectValue()
	require.Equal(t, "required", metadata["httpTokens"].StringValue())
	require.InDelta(t, 2, metadata["httpPutResponseHopLimit"].NumberValue(), 0)
	root := i.Inputs["rootBlockDevice"].ObjectValue()
	require.True(t, root["encrypted"].BoolValue())
	require.Equal(t, keyARN, root["kmsKeyId"].StringValue())
	for _, on := range []resource.PropertyKey{"ebsOptimized", "monitoring", "userDataReplaceOnChange"} {
		require.True(t, i.Inputs[on].BoolValue(), on)
	}
	for _, absent := range []resource.PropertyKey{"associatePublicIpAddress", "keyName", "subnetId", "vpcSecurityGroupIds"} {
		require.NotContains(t, i.Inputs, absent)
	}
	eni := i.Inputs["networkInterfaces"].ArrayValue()
	require.Len(t, eni, 1)
	require.Equal(t, "control-interface-id", plain(eni[0].ObjectValue()["networkInterfaceId"]))

	require.Contains(t, i.Dependencies, "control-access")
	for _, r := range rec.OfType("aws:ssm/parameter:Parameter") {
		require.Contains(t, i.Dependencies, r.Name)
	}
}

func TestUserDataContainsNoSecrets(t *testing.T) {
	i := one(t, run(t, validArgs()), "aws:ec2/instance:Instance", "control-instance")
	require.False(t, isSecret(i.Inputs["userData"]))
	text := i.Inputs["userData"].StringValue()
	require.Contains(t, text, "/emr-observatory/test/control/k3s/")
	require.Contains(t, text, platform.EBSDevice(volumeID))
	require.Contains(t, text, privateIP)
	require.NotContains(t, text, "BEGIN control")
}

func TestConfiguredAddressAndImage(t *testing.T) {
	args := validArgs()
	args.PrivateIP, args.AMI = "10.0.1.77", "ami-0aaaaaaaaaaaaaaaa"
	rec := run(t, args)
	ips := one(t, rec, "aws:ec2/networkInterface:NetworkInterface", "control-interface").Inputs["privateIps"].ArrayValue()
	require.Equal(t, "10.0.1.77", ips[0].StringValue())
	require.Equal(t, args.AMI, one(t, rec, "aws:ec2/instance:Instance", "control-instance").Inputs["ami"].StringValue())
	require.NotContains(t, rec.Invokes, "aws:ssm/getParameter:getParameter")
}

func TestParametersHoldCACertificatesAndKeys(t *testing.T) {
	rec := run(t, validArgs())
	found := map[string]string{}
	for _, r := range rec.OfType("aws:ssm/parameter:Parameter") {
		require.Equal(t, "SecureString", r.Inputs["type"].StringValue())
		require.Equal(t, keyARN, r.Inputs["keyId"].StringValue())
		if r.Name == "control-image-"+validArgs().Arch {
			continue
		}
		require.True(t, isSecret(r.Inputs["value"]), r.Name)
		found[r.Inputs["name"].StringValue()] = plain(r.Inputs["value"])
	}
	want := map[string]string{}
	for _, file := range boot.CAFiles() {
		source := "control-" + strings.TrimSuffix(strings.Replace(file, ".key", "-key", 1), ".crt")
		want["/emr-observatory/test/control/k3s/"+file] = "-----BEGIN " + source + "-----"
	}
	require.Equal(t, want, found)
}

func TestCACertificatesAndAdministratorCertificate(t *testing.T) {
	rec := run(t, validArgs())
	for _, r := range rec.OfType("tls:index/privateKey:PrivateKey") {
		require.Equal(t, "ECDSA", r.Inputs["algorithm"].StringValue())
		require.Equal(t, "P256", r.Inputs["ecdsaCurve"].StringValue())
	}
	for _, r := range rec.OfType("tls:index/selfSignedCert:SelfSignedCert") {
		require.Equal(t, r.Name != "control-boot", r.Inputs.HasValue("isCaCertificate"))
		require.NotContains(t, r.Inputs, resource.PropertyKey("earlyRenewalHours"), "it must not be renewed")
	}
	subject := one(t, rec, "tls:index/certRequest:CertRequest", "control-administrator-request").Inputs["subject"].ObjectValue()
	require.Equal(t, "system:admin", subject["commonName"].StringValue())
	require.Equal(t, "system:masters", subject["organization"].StringValue())
	signed := one(t, rec, "tls:index/locallySignedCert:LocallySignedCert", "control-administrator").Inputs
	require.Equal(t, "-----BEGIN control-client-ca-----", plain(signed["caCertPem"]))
	require.Equal(t, "-----BEGIN control-client-ca-key-----", plain(signed["caPrivateKeyPem"]))
	require.True(t, isSecret(signed["caPrivateKeyPem"]))
}

func TestGateWaitsForInstanceAndDelaysKubeconfig(t *testing.T) {
	rec := run(t, validArgs())
	g := one(t, rec, "command:local:Command", "control-gate")
	require.Subset(t, g.Dependencies, []string{"control-instance", "control-attachment"})
	env := g.Inputs["environment"].ObjectValue()
	require.Equal(t, "https://"+privateIP+":6443", plain(env[boot.GateAPIServer]))
	require.Equal(t, "-----BEGIN control-administrator-key-----", plain(env[boot.GateClientKey]))
	require.True(t, isSecret(env[boot.GateClientKey]))
	require.Equal(t, "1200", env[boot.GateDeadlineSeconds].StringValue())
	require.Equal(t, boot.Gate(), g.Inputs["create"].StringValue())

	// Users of the kubeconfig wait for the gate; users of the address wait only
	// for the interface.
	user := one(t, rec, "random:index/randomPet:RandomPet", "of-kubeconfig")
	require.Contains(t, user.Dependencies, "control-gate")
	require.True(t, isSecret(user.Inputs["prefix"]))
	require.Contains(t, plain(user.Inputs["prefix"]), "https://"+privateIP+":6443")
	require.Equal(t, []string{"control-interface"}, one(t, rec, "random:index/randomPet:RandomPet", "of-private-ip").Dependencies)
}

func TestPreview(t *testing.T) {
	rec := run(t, validArgs(), recorder.WithPreview())
	require.Len(t, rec.OfType("aws:ec2/instance:Instance"), 1)
}
