package controlnode_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

func TestValidate(t *testing.T) {
	require.NoError(t, validArgs().Validate())
	for name, c := range map[string]struct {
		edit func(*controlnode.Args)
		path string
	}{
		"region":              {func(a *controlnode.Args) { a.Region = "here" }, "controlNode.region"},
		"arch":                {func(a *controlnode.Args) { a.Arch = "sparc" }, "controlNode.arch"},
		"type":                {func(a *controlnode.Args) { a.InstanceType = "large" }, "controlNode.instanceType"},
		"intel type on arm":   {func(a *controlnode.Args) { a.InstanceType = "m7i.large" }, "controlNode.arch"},
		"graphics is not arm": {func(a *controlnode.Args) { a.InstanceType = "g4dn.xlarge" }, "controlNode.arch"},
		"graviton on amd": {func(a *controlnode.Args) {
			a.Arch, a.InstanceType = platform.ArchAMD64, "c6gn.xlarge"
		}, "controlNode.arch"},
		"a1 on amd":         {func(a *controlnode.Args) { a.Arch, a.InstanceType = platform.ArchAMD64, "a1.large" }, "controlNode.arch"},
		"not an address":    {func(a *controlnode.Args) { a.PrivateIP = "10.0.0" }, "controlNode.privateIp"},
		"public address":    {func(a *controlnode.Args) { a.PrivateIP = "8.8.8.8" }, "controlNode.privateIp"},
		"small volume":      {func(a *controlnode.Args) { a.DataVolumeGiB = platform.MinDataVolumeGiB - 1 }, "controlNode.dataVolumeGiB"},
		"large volume":      {func(a *controlnode.Args) { a.DataVolumeGiB = platform.MaxDataVolumeGiB + 1 }, "controlNode.dataVolumeGiB"},
		"image":             {func(a *controlnode.Args) { a.AMI = "latest" }, "controlNode.ami"},
		"access":            {func(a *controlnode.Args) { a.Access = "vpn" }, "controlNode.access"},
		"tunnel's end":      {func(a *controlnode.Args) { a.Access = schema.AccessTunnel }, "controlNode.apiUrl"},
		"no tunnel":         {func(a *controlnode.Args) { a.APIURL = "https://127.0.0.1:6443" }, "controlNode.apiUrl"},
		"no subnet":         {func(a *controlnode.Args) { a.SubnetID = nil }, "controlNode.subnetId"},
		"no VPC":            {func(a *controlnode.Args) { a.VPCID = nil }, "controlNode.vpcId"},
		"no security group": {func(a *controlnode.Args) { a.SecurityGroupID = nil }, "controlNode.securityGroupId"},
		"no bucket":         {func(a *controlnode.Args) { a.Bucket = nil }, "controlNode.bucket"},
		"no bucket ARN":     {func(a *controlnode.Args) { a.BucketARN = nil }, "controlNode.bucketArn"},
		"no key":            {func(a *controlnode.Args) { a.KMSKeyARN = nil }, "controlNode.kmsKeyArn"},
	} {
		t.Run(name, func(t *testing.T) {
			args := validArgs()
			c.edit(args)
			require.ErrorContains(t, args.Validate(), c.path+":")
		})
	}
}

func TestInvalidArgsRegisterNothing(t *testing.T) {
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		_, err := controlnode.New(ctx, "control", &controlnode.Args{})
		return err
	})
	for _, path := range []string{"region", "arch", "instanceType", "dataVolumeGiB", "subnetId", "kmsKeyArn"} {
		require.ErrorContains(t, err, "controlNode."+path)
	}
	require.Empty(t, rec.Resources)
	require.Error(t, (*controlnode.Args)(nil).Validate())
}

func TestUserDataPinsK3sOfEachArchitecture(t *testing.T) {
	for _, c := range []struct{ arch, instanceType string }{{platform.ArchAMD64, "m7i.large"}, {platform.ArchARM64, "t4g.large"}} {
		args := validArgs()
		args.Arch, args.InstanceType = c.arch, c.instanceType
		rec := run(t, args)
		i := one(t, rec, "aws:ec2/instance:Instance", "control-instance")
		require.Contains(t, i.Inputs["userData"].StringValue(), platform.K3sBinaries()[c.arch].SHA256)
	}
}
