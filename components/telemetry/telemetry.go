package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":telemetry:Telemetry"

// bootstrapName is the bootstrap action's file name.
const bootstrapName = "bootstrap.sh"

// Telemetry is where EMR nodes and workloads fetch what they install.
type Telemetry struct {
	pulumi.ResourceState

	BootstrapPath       pulumi.StringOutput      `pulumi:"bootstrapPath"`       // s3:// URI of the bootstrap action
	BootstrapArgs       pulumi.StringArrayOutput `pulumi:"bootstrapArgs"`       // control IP, artifacts URI, hash
	BootstrapHash       pulumi.StringOutput      `pulumi:"bootstrapHash"`       // of everything that is installed on a node
	NodePolicyARN       pulumi.StringOutput      `pulumi:"nodePolicyArn"`       // lets a node fetch what the bootstrap action installs
	ControlBinaryURI    pulumi.StringOutput      `pulumi:"controlBinaryUri"`    // s3:// URI
	ControlBinarySHA256 pulumi.StringOutput      `pulumi:"controlBinarySha256"` // hex

	ProfilerBinaryURI    pulumi.StringOutput `pulumi:"profilerBinaryUri"`    // s3:// URI; "" if there is no profiler
	ProfilerBinarySHA256 pulumi.StringOutput `pulumi:"profilerBinarySha256"` // hex; likewise
}

// New stages everything. It registers nothing if args are invalid or the bootstrap
// action cannot be rendered.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Telemetry, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	script, hash, err := bootstrap(args)
	if err != nil {
		return nil, err
	}
	t := &Telemetry{}
	children, err := child.Register(ctx, t, TypeToken, name, pulumi.Map{
		"bucket": args.Bucket, "kmsKeyArn": args.KMSKeyARN, "controlPrivateIp": args.ControlPrivateIP,
		"bootstrapHash": pulumi.String(hash), "controlBinarySha256": pulumi.String(args.ControlBinary.SHA256),
		"profilerBinarySha256": pulumi.String(args.ProfilerBinary.SHA256),
	}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, bucket: args.Bucket}

	var artifacts []pulumi.Resource
	for _, a := range args.Artifacts {
		object, err := b.file("artifact-"+a.Name, a)
		if err != nil {
			return nil, err
		}
		artifacts = append(artifacts, object)
	}
	action, err := b.createBootstrapAction(script, artifacts)
	if err != nil {
		return nil, err
	}
	// Its resource keeps the name of its first use: names are public.
	control, err := b.file("status-binary", args.ControlBinary)
	if err != nil {
		return nil, err
	}
	t.ProfilerBinaryURI = pulumi.String("").ToStringOutput()
	if args.hasProfiler() {
		profiler, err := b.file("profiler-binary", args.ProfilerBinary)
		if err != nil {
			return nil, err
		}
		t.ProfilerBinaryURI = objectURI(profiler)
	}

	policy, err := b.createNodePolicy(args)
	if err != nil {
		return nil, err
	}

	t.BootstrapPath, t.NodePolicyARN = objectURI(action), policy.Arn
	t.BootstrapArgs = bootstrapArgs(args.ControlPrivateIP, action, hash)
	t.BootstrapHash = pulumi.String(hash).ToStringOutput()
	t.ControlBinaryURI = objectURI(control)
	t.ControlBinarySHA256 = pulumi.String(args.ControlBinary.SHA256).ToStringOutput()
	t.ProfilerBinarySHA256 = pulumi.String(args.ProfilerBinary.SHA256).ToStringOutput()
	return t, b.RegisterOutputs()
}

// bootstrap renders the action from the artifacts' checksums and the launcher's
// bytes, which are verified here.
func bootstrap(args *Args) (script []byte, hash string, err error) {
	jar, err := os.ReadFile(args.LauncherJar.Path)
	if err != nil {
		return nil, "", fmt.Errorf("read launcher jar: %w; run `make artifacts`", err)
	}
	if got := sha256Hex(jar); got != args.LauncherJar.SHA256 {
		return nil, "", fmt.Errorf("telemetry.launcherJar.path: %q has sha256 %s, not %s; run `make artifacts`", args.LauncherJar.Path, got,
			args.LauncherJar.SHA256)
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

// bootstrapArgs resolves only once the action's object exists: it takes the bucket
// from it.
func bootstrapArgs(controlIP pulumi.StringInput, action *s3.BucketObjectv2, hash string) pulumi.StringArrayOutput {
	return pulumi.StringArray{
		controlIP,
		output.Map(action.Bucket, func(bucket string) (string, error) { return platform.PrefixArtifacts.URI(bucket), nil }),
		pulumi.String(hash),
	}.ToStringArrayOutput()
}

func objectURI(object *s3.BucketObjectv2) pulumi.StringOutput {
	return pulumi.Sprintf("s3://%s/%s", object.Bucket, object.Key)
}

func sha256Hex(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

type builder struct {
	child.Builder
	bucket pulumi.StringInput
}

// file uploads a file of this machine.
func (b *builder) file(role string, s Staged) (*s3.BucketObjectv2, error) {
	return b.createObject(role, &s3.BucketObjectv2Args{
		Bucket:     b.bucket,
		Key:        pulumi.String(platform.ArtifactKey(s.SHA256, s.Name)),
		Source:     pulumi.NewFileAsset(s.Path),
		SourceHash: pulumi.String(s.SHA256),
	})
}

func (b *builder) createBootstrapAction(script []byte, artifacts []pulumi.Resource) (*s3.BucketObjectv2, error) {
	return b.createObject("bootstrap", &s3.BucketObjectv2Args{
		Bucket:      b.bucket,
		Key:         pulumi.String(platform.ArtifactKey(sha256Hex(script), bootstrapName)),
		Content:     pulumi.String(string(script)),
		ContentType: pulumi.String("text/x-shellscript"),
	}, pulumi.DependsOn(artifacts))
}

// createObject creates an object that no update deletes: see the package comment.
func (b *builder) createObject(role string, args *s3.BucketObjectv2Args, extra ...pulumi.ResourceOption) (*s3.BucketObjectv2, error) {
	name := b.Name(role)
	object, err := s3.NewBucketObjectv2(b.Ctx, name, args, append(b.Options(extra...), pulumi.RetainOnDelete(true))...)
	if err != nil {
		return nil, fmt.Errorf("create object %s: %w", name, err)
	}
	return object, nil
}
