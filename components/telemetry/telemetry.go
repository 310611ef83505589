package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":telemetry:Telemetry"

// bootstrapName is the bootstrap action's file name.
const bootstrapName = "bootstrap.sh"

// Telemetry is what EMR and the workloads need to install.
type Telemetry struct {
	pulumi.ResourceState

	BootstrapPath       pulumi.StringOutput      `pulumi:"bootstrapPath"`       // s3:// URI of the bootstrap action
	BootstrapArgs       pulumi.StringArrayOutput `pulumi:"bootstrapArgs"`       // control IP, artifacts URI, hash
	BootstrapHash       pulumi.StringOutput      `pulumi:"bootstrapHash"`       // of all that a node gets installed
	ControlBinaryURI    pulumi.StringOutput      `pulumi:"controlBinaryUri"`    // s3:// URI
	ControlBinarySHA256 pulumi.StringOutput      `pulumi:"controlBinarySha256"` // hex
}

// New stages everything. It registers nothing when args are invalid or the
// bootstrap action cannot be rendered.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Telemetry, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	script, hash, err := bootstrap(args)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{}
	err = ctx.RegisterComponentResourceV2(TypeToken, name, pulumi.Map{
		"bucket": args.Bucket, "kmsKeyArn": args.KMSKeyARN, "controlPrivateIp": args.ControlPrivateIP,
		"bootstrapHash": pulumi.String(hash), "controlBinarySha256": pulumi.String(args.ControlBinary.SHA256),
	}, t, opts...)
	if err != nil {
		return nil, fmt.Errorf("register telemetry %s: %w", name, err)
	}
	b := &builder{ctx: ctx, parent: t, base: name, bucket: args.Bucket}

	var artifacts []pulumi.Resource
	for _, a := range args.Artifacts {
		object, err := b.file("artifact-"+a.Name, a)
		if err != nil {
			return nil, err
		}
		artifacts = append(artifacts, object)
	}
	action, err := b.bootstrapAction(script, artifacts)
	if err != nil {
		return nil, err
	}
	// Its resource keeps the name of its first use: with another one the old
	// resource would be deleted last, and with it the object that both are.
	control, err := b.file("status-binary", args.ControlBinary)
	if err != nil {
		return nil, err
	}

	t.BootstrapPath = uri(action)
	t.BootstrapArgs = bootstrapArgs(args.ControlPrivateIP, action, hash)
	t.BootstrapHash = pulumi.String(hash).ToStringOutput()
	t.ControlBinaryURI = uri(control)
	t.ControlBinarySHA256 = pulumi.String(args.ControlBinary.SHA256).ToStringOutput()
	err = ctx.RegisterResourceOutputs(t, pulumi.Map{
		"bootstrapPath": t.BootstrapPath, "bootstrapArgs": t.BootstrapArgs, "bootstrapHash": t.BootstrapHash,
		"controlBinaryUri": t.ControlBinaryURI, "controlBinarySha256": t.ControlBinarySHA256,
	})
	if err != nil {
		return nil, fmt.Errorf("register outputs of telemetry %s: %w", name, err)
	}
	return t, nil
}

// bootstrap renders the action from the files' sums and the launcher's bytes,
// which are verified since the script vouches for them.
func bootstrap(args *Args) (script []byte, hash string, err error) {
	jar, err := os.ReadFile(args.LauncherJar.Path)
	if err != nil {
		return nil, "", fmt.Errorf("read launcher jar: %w; run `make artifacts`", err)
	}
	if got := sum(jar); got != args.LauncherJar.SHA256 {
		return nil, "", fmt.Errorf("telemetry.launcherJar.path: %q has sha256 %s, not %s; run `make artifacts`", args.LauncherJar.Path, got, args.LauncherJar.SHA256)
	}
	installed := make([]node.Installed, 0, len(args.Artifacts))
	for _, a := range args.Artifacts {
		installed = append(installed, node.Installed{Name: a.Name, Arch: a.Arch, SHA256: a.SHA256})
	}
	script, hash, err = node.Bootstrap(node.BootstrapInput{Artifacts: installed, LauncherJar: jar})
	if err != nil {
		return nil, "", fmt.Errorf("telemetry.artifacts: %w", err)
	}
	return script, hash, nil
}

// bootstrapArgs takes the bucket from the action's object, and so waits for it.
func bootstrapArgs(controlIP pulumi.StringInput, action *s3.BucketObjectv2, hash string) pulumi.StringArrayOutput {
	return pulumi.StringArray{
		controlIP,
		action.Bucket.ApplyT(platform.PrefixArtifacts.URI).(pulumi.StringOutput), //nolint:forcetypeassert // by the function's type
		pulumi.String(hash),
	}.ToStringArrayOutput()
}

func uri(object *s3.BucketObjectv2) pulumi.StringOutput {
	return pulumi.Sprintf("s3://%s/%s", object.Bucket, object.Key)
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

type builder struct {
	ctx    *pulumi.Context
	parent *Telemetry
	base   string
	bucket pulumi.StringInput
}

// file puts a file of this machine into the bucket.
func (b *builder) file(role string, s Staged) (*s3.BucketObjectv2, error) {
	return b.object(role, &s3.BucketObjectv2Args{
		Bucket:     b.bucket,
		Key:        pulumi.String(platform.ArtifactKey(s.SHA256, s.Name)),
		Source:     pulumi.NewFileAsset(s.Path),
		SourceHash: pulumi.String(s.SHA256),
	})
}

func (b *builder) bootstrapAction(script []byte, artifacts []pulumi.Resource) (*s3.BucketObjectv2, error) {
	return b.object("bootstrap", &s3.BucketObjectv2Args{
		Bucket:      b.bucket,
		Key:         pulumi.String(platform.ArtifactKey(sum(script), bootstrapName)),
		Content:     pulumi.String(string(script)),
		ContentType: pulumi.String("text/x-shellscript"),
	}, pulumi.DependsOn(artifacts))
}

func (b *builder) object(role string, args *s3.BucketObjectv2Args, extra ...pulumi.ResourceOption) (*s3.BucketObjectv2, error) {
	name := b.base + "-" + role
	object, err := s3.NewBucketObjectv2(b.ctx, name, args, append([]pulumi.ResourceOption{pulumi.Parent(b.parent)}, extra...)...)
	if err != nil {
		return nil, fmt.Errorf("create object %s: %w", name, err)
	}
	return object, nil
}
