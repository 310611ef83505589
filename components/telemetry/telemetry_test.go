package telemetry_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/telemetry"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

const objectType = "aws:s3/bucketObjectv2:BucketObjectv2"

// stage writes content to a file and describes it.
func stage(t *testing.T, name, arch string, content []byte) telemetry.Staged {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return telemetry.Staged{Name: name, Arch: arch, SHA256: sha256Hex(content), Path: path}
}

func sha256Hex(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// jar returns a zip file with one entry.
func jar(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("Launcher.class")
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func validArgs(t *testing.T) *telemetry.Args {
	t.Helper()
	return &telemetry.Args{
		Region:           "us-east-1",
		Bucket:           pulumi.String("data"),
		BucketARN:        pulumi.String("arn:aws:s3:::data"),
		KMSKeyARN:        pulumi.String("arn:aws:kms:us-east-1:123456789012:key/k"),
		ControlPrivateIP: pulumi.String("10.0.1.10"),
		Artifacts: []telemetry.Staged{
			stage(t, platform.ArtifactCollector(platform.ArchAMD64), platform.ArchAMD64, []byte("amd")),
			stage(t, platform.ArtifactCollector(platform.ArchARM64), platform.ArchARM64, []byte("arm")),
			stage(t, platform.ArtifactProfiler, "", []byte("profiler")),
			stage(t, platform.ArtifactPlugin, "", []byte("plugin")),
			stage(t, platform.ArtifactConnect, "", []byte("connect")),
		},
		LauncherJar:   stage(t, platform.ArtifactLauncher, "", jar(t, "launcher")),
		ControlBinary: stage(t, "observatory-linux-arm64", platform.ArchARM64, []byte("status")),

		ProfilerBinary: stage(t, "observatory-profiler-linux-arm64", platform.ArchARM64, []byte("profiles")),
	}
}

// program creates the component, and resources that use the outputs which a
// cluster needs, so that the outputs' dependencies are recorded.
func program(args *telemetry.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		tel, err := telemetry.New(ctx, "telemetry", args, pulumi.Providers(p))
		if err != nil {
			return err
		}
		for name, output := range map[string]pulumi.StringOutput{
			"of-path": tel.BootstrapPath, "of-status": tel.ControlBinaryURI, "of-profiler": tel.ProfilerBinaryURI,
		} {
			if _, err := random.NewRandomPet(ctx, name, &random.RandomPetArgs{Prefix: output}); err != nil {
				return err
			}
		}
		_, err = random.NewRandomShuffle(ctx, "of-args", &random.RandomShuffleArgs{Inputs: tel.BootstrapArgs})
		return err
	}
}

// run records what the program registers.
func run(t *testing.T, args *telemetry.Args, opts ...recorder.Option) *recorder.Recording {
	t.Helper()
	rec, err := recorder.Run(program(args), append(opts,
		recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com"}))...)
	require.NoError(t, err)
	return rec
}

// one returns the only recorded resource of a type and name.
func one(t *testing.T, rec *recorder.Recording, token, name string) recorder.Resource {
	t.Helper()
	r, err := rec.One(token, name)
	require.NoError(t, err)
	return r
}

// stringList converts a list of strings.
func stringList(v resource.PropertyValue) []string {
	var out []string
	for _, e := range v.ArrayValue() {
		out = append(out, e.StringValue())
	}
	return out
}

func TestRegistersExactlyTheseObjects(t *testing.T) {
	rec := run(t, validArgs(t))
	var objects []string
	for _, r := range rec.OfType(objectType) {
		objects = append(objects, r.Name)
		require.Equal(t, "telemetry", r.Parent)
		require.Equal(t, "aws::aws", r.Provider)
		require.Equal(t, "data", r.Inputs["bucket"].StringValue())
		require.True(t, r.Retain, "nodes of running clusters fetch %s after an update, too", r.Name)
		for _, absent := range []resource.PropertyKey{"etag", "serverSideEncryption", "kmsKeyId", "acl"} {
			require.NotContains(t, r.Inputs, absent, r.Name)
		}
	}
	require.ElementsMatch(t, []string{
		"telemetry-artifact-otelcol-linux-amd64.gz",
		"telemetry-artifact-otelcol-linux-arm64.gz",
		"telemetry-artifact-async-profiler.jar",
		"telemetry-artifact-connect.jar",
		"telemetry-artifact-spark-plugin.jar",
		"telemetry-bootstrap",
		"telemetry-profiler-binary",
		"telemetry-status-binary",
	}, objects)
	for _, d := range rec.Defaults {
		require.Contains(t, d, " of-", "a default provider was used")
	}
	require.Empty(t, rec.Protected())
	one(t, rec, telemetry.TypeToken, "telemetry")
}

func TestObjectsAreContentAddressed(t *testing.T) {
	args := validArgs(t)
	rec := run(t, args)
	for _, a := range args.Artifacts {
		o := one(t, rec, objectType, "telemetry-artifact-"+a.Name)
		require.Equal(t, platform.ArtifactKey(a.SHA256, a.Name), o.Inputs["key"].StringValue())
		require.Equal(t, a.SHA256, o.Inputs["sourceHash"].StringValue())
		require.Equal(t, a.Path, o.Inputs["source"].AssetValue().Path)
	}
	script := one(t, rec, objectType, "telemetry-bootstrap")
	content := script.Inputs["content"].StringValue()
	require.True(t, strings.HasPrefix(content, "#!"), "a script starts with its interpreter")
	require.Equal(t, platform.ArtifactKey(sha256Hex([]byte(content)), "bootstrap.sh"), script.Inputs["key"].StringValue())
	for _, a := range args.Artifacts {
		require.Contains(t, content, a.SHA256)
	}
}

// A cluster that starts with these outputs finds every object.
func TestOutputsWaitForEveryObject(t *testing.T) {
	args := validArgs(t)
	rec := run(t, args)
	script := one(t, rec, objectType, "telemetry-bootstrap")
	for _, a := range args.Artifacts {
		require.Contains(t, script.Dependencies, "telemetry-artifact-"+a.Name)
	}
	path := one(t, rec, "random:index/randomPet:RandomPet", "of-path")
	require.Contains(t, path.Dependencies, "telemetry-bootstrap")
	require.Equal(t, "s3://data/"+script.Inputs["key"].StringValue(), path.Inputs["prefix"].StringValue())

	used := one(t, rec, "random:index/randomShuffle:RandomShuffle", "of-args")
	require.Contains(t, used.Dependencies, "telemetry-bootstrap")
	got := stringList(used.Inputs["inputs"])
	require.Len(t, got, 3)
	require.Equal(t, []string{"10.0.1.10", "s3://data/artifacts/"}, got[:2])
	require.Regexp(t, `^[0-9a-f]{64}$`, got[2])

	status := one(t, rec, "random:index/randomPet:RandomPet", "of-status")
	require.Equal(t, []string{"telemetry-status-binary"}, status.Dependencies)
	require.Equal(t, "s3://data/"+platform.ArtifactKey(args.ControlBinary.SHA256, args.ControlBinary.Name),
		status.Inputs["prefix"].StringValue())
}

// hashOf returns the bootstrap action's last argument.
func hashOf(t *testing.T, args *telemetry.Args) string {
	t.Helper()
	used := one(t, run(t, args), "random:index/randomShuffle:RandomShuffle", "of-args")
	return stringList(used.Inputs["inputs"])[2]
}

func TestHashCoversEverythingInstalled(t *testing.T) {
	args := validArgs(t)
	before := hashOf(t, args)
	require.Equal(t, before, hashOf(t, args))

	args.ControlBinary = stage(t, "observatory-linux-arm64", platform.ArchARM64, []byte("newer"))
	args.ProfilerBinary = telemetry.Staged{}
	args.ControlPrivateIP = pulumi.String("10.0.1.11")
	require.Equal(t, before, hashOf(t, args), "none of them is installed on an EMR node")

	args.LauncherJar = stage(t, platform.ArtifactLauncher, "", jar(t, "newer"))
	jarChanged := hashOf(t, args)
	require.NotEqual(t, before, jarChanged)

	args.Artifacts[0] = stage(t, args.Artifacts[0].Name, platform.ArchAMD64, []byte("newer"))
	require.NotEqual(t, jarChanged, hashOf(t, args))
}

func TestPreview(t *testing.T) {
	args := validArgs(t)
	const scriptAndBinaries = 3
	require.Len(t, run(t, args, recorder.WithPreview()).OfType(objectType), len(args.Artifacts)+scriptAndBinaries)
}

func TestStagesTheProfilerIfThereIsOne(t *testing.T) {
	args := validArgs(t)
	rec := run(t, args)
	object := one(t, rec, objectType, "telemetry-profiler-binary")
	require.Equal(t, platform.ArtifactKey(args.ProfilerBinary.SHA256, args.ProfilerBinary.Name), object.Inputs["key"].StringValue())
	used := one(t, rec, "random:index/randomPet:RandomPet", "of-profiler")
	require.Equal(t, "s3://data/"+object.Inputs["key"].StringValue(), used.Inputs["prefix"].StringValue())

	args.ProfilerBinary = telemetry.Staged{}
	rec = run(t, args)
	_, err := rec.One(objectType, "telemetry-profiler-binary")
	require.Error(t, err)
	require.Empty(t, one(t, rec, "random:index/randomPet:RandomPet", "of-profiler").Inputs["prefix"].StringValue())
}

func TestValidate(t *testing.T) {
	require.NoError(t, validArgs(t).Validate())
	for name, c := range map[string]struct {
		edit func(*telemetry.Args)
		path string
	}{
		"no bucket":      {func(a *telemetry.Args) { a.Bucket = nil }, "telemetry.bucket"},
		"no key":         {func(a *telemetry.Args) { a.KMSKeyARN = nil }, "telemetry.kmsKeyArn"},
		"no address":     {func(a *telemetry.Args) { a.ControlPrivateIP = nil }, "telemetry.controlPrivateIp"},
		"no artifacts":   {func(a *telemetry.Args) { a.Artifacts = nil }, "telemetry.artifacts"},
		"duplicate name": {func(a *telemetry.Args) { a.Artifacts[1] = a.Artifacts[0] }, "telemetry.artifacts[1].name"},
		"name a path":    {func(a *telemetry.Args) { a.Artifacts[0].Name = "a/b" }, "telemetry.artifacts[0].name"},
		"architecture":   {func(a *telemetry.Args) { a.Artifacts[0].Arch = "x86_64" }, "telemetry.artifacts[0].arch"},
		"sum":            {func(a *telemetry.Args) { a.Artifacts[2].SHA256 = "AB" }, "telemetry.artifacts[2].sha256"},
		"file missing":   {func(a *telemetry.Args) { a.Artifacts[2].Path += ".gone" }, "telemetry.artifacts[2].path"},
		"file a folder":  {func(a *telemetry.Args) { a.ControlBinary.Path = filepath.Dir(a.ControlBinary.Path) }, "telemetry.controlBinary.path"},
		"no profiler":    {func(a *telemetry.Args) { a.ProfilerBinary.SHA256 = "" }, "telemetry.profilerBinary.sha256"},
		"no launcher":    {func(a *telemetry.Args) { a.LauncherJar = telemetry.Staged{} }, "telemetry.launcherJar.path"},
	} {
		t.Run(name, func(t *testing.T) {
			args := validArgs(t)
			c.edit(args)
			require.ErrorContains(t, args.Validate(), c.path+":")
		})
	}
	require.Error(t, (*telemetry.Args)(nil).Validate())
}

// Violations that involve file contents are also rejected before anything is
// registered.
func TestNewRejectsInvalidFiles(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*telemetry.Args)
		reason string
	}{
		"launcher of another sum": {func(a *telemetry.Args) { a.LauncherJar.SHA256 = strings.Repeat("0", 64) }, "telemetry.launcherJar.path"},
		"the profiler is missing": {func(a *telemetry.Args) { a.Artifacts = slices.Delete(a.Artifacts, 2, 3) }, platform.ArtifactProfiler},
		"the plugin is missing":   {func(a *telemetry.Args) { a.Artifacts = a.Artifacts[:3] }, platform.ArtifactPlugin},
		"all at once":             {func(a *telemetry.Args) { a.Bucket, a.Artifacts[0].SHA256 = nil, "" }, "telemetry.artifacts[0].sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			args := validArgs(t)
			c.edit(args)
			rec, err := recorder.Run(func(ctx *pulumi.Context) error {
				_, err := telemetry.New(ctx, "telemetry", args)
				return err
			})
			require.ErrorContains(t, err, c.reason)
			require.Empty(t, rec.Resources)
		})
	}
}

// The nodes of any cluster may fetch what they install, and nothing else.
func TestNodePolicyReadsArtifactsOnly(t *testing.T) {
	policy := one(t, run(t, validArgs(t)), "aws:iam/policy:Policy", "telemetry-observed-nodes")
	require.JSONEq(t, `{"Version": "2012-10-17", "Statement": [
		{"Sid": "ReadArtifacts", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/artifacts/*"]},
		{"Sid": "DecryptArtifacts", "Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": ["arn:aws:kms:us-east-1:123456789012:key/k"],
			"Condition": {"StringEquals": {"kms:ViaService": ["s3.us-east-1.amazonaws.com"]}}}
	]}`, policy.Inputs["policy"].StringValue())
}
