package kubernetes_test

import (
	"encoding/json"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	commandprovider "github.com/pulumi/pulumi-command/sdk/go/command"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/components/workloads"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/command"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// program holds the inputs of the control node and workloads components that reach
// Kubernetes.
type program struct {
	caFiles    map[string]string // content by name in boot.CAFiles, from the SSM parameters
	k3s        k3sConfig         // from the user data
	kubeconfig string            // of the Kubernetes provider
	gate       gateCommand
	objects    []unstructured.Unstructured // in order of registration
}

// k3sConfig are the K3s settings that affect the API server.
type k3sConfig struct {
	NodeIP    string   `json:"node-ip"`
	TLSSAN    []string `json:"tls-san"`
	NodePorts string   `json:"service-node-port-range"`
}

// gateCommand is the command that waits until the control node is ready.
type gateCommand struct {
	create      string
	interpreter []string
	environment map[string]string
}

// build runs both components for a control node at address. The local cloud's
// providers generate the keys, certificates and passwords.
func build(t *testing.T, address string) program {
	t.Helper()
	providers := map[string]providerClient{"tls": newProviderClient(t, "tls"), "random": newProviderClient(t, "random")}
	rec, err := recorder.Run(components(),
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com"}),
		recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:ssm/getParameter:getParameter", map[string]any{"value": "ami-0123456789abcdef0"}),
		recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
			if p, ok := providers[strings.SplitN(r.Type, ":", 2)[0]]; ok {
				return p.create(r)
			}
			switch r.Type {
			case "aws:ec2/networkInterface:NetworkInterface":
				return resource.PropertyMap{"privateIp": resource.NewStringProperty(address)}
			case "aws:ebs/volume:Volume":
				return resource.PropertyMap{"id": resource.NewStringProperty("vol-0a1b2c3d4e5f67890")}
			case command.Token:
				return resource.PropertyMap{"stdout": resource.NewStringProperty("ready")}
			}
			return nil
		}))
	require.NoError(t, err)
	return fromRecording(t, rec)
}

// components connects both components as package stacks does, with the same names.
func components() pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		onAWS, err := aws.NewProvider(ctx, "aws", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		certificates, err := tls.NewProvider(ctx, "tls", &tls.ProviderArgs{})
		if err != nil {
			return err
		}
		commands, err := commandprovider.NewProvider(ctx, "command", &commandprovider.ProviderArgs{})
		if err != nil {
			return err
		}
		passwords, err := random.NewProvider(ctx, "random", &random.ProviderArgs{})
		if err != nil {
			return err
		}
		control, err := controlnode.New(ctx, "control", &controlnode.Args{
			Region: "us-east-1",
			ControlNode: schema.ControlNode{
				InstanceType: "m7g.large", Arch: platform.ArchARM64, DataVolumeGiB: 100, Access: schema.AccessVPC,
			},
			SubnetID: pulumi.String("subnet-1"), VPCID: pulumi.String("vpc-1"), SecurityGroupID: pulumi.String("sg-1"),
			Bucket: pulumi.String("data"), BucketARN: pulumi.String("arn:aws:s3:::data"),
			KMSKeyARN: pulumi.String("arn:aws:kms:us-east-1:123456789012:key/k"), AvailabilityZone: pulumi.String("us-east-1a"),
		}, pulumi.Providers(onAWS, certificates, commands))
		if err != nil {
			return err
		}
		k8s, err := kubernetes.NewProvider(ctx, "kubernetes", &kubernetes.ProviderArgs{Kubeconfig: control.Kubeconfig.ToStringPtrOutput()})
		if err != nil {
			return err
		}
		_, err = workloads.New(ctx, "workloads", workloadArgs(control),
			pulumi.Providers(k8s, passwords, certificates), pulumi.DeletedWith(control))
		return err
	}
}

func workloadArgs(control *controlnode.ControlNode) *workloads.Args {
	sum := strings.Repeat("0a", 32)
	return &workloads.Args{
		Region: pulumi.String("us-east-1"), Bucket: pulumi.String("data"), ControlPrivateIP: control.PrivateIP,
		ControlHost:      control.Host,
		ControlBinaryURI: pulumi.String("s3://data/artifacts/" + sum + "/observatory"), ControlBinarySHA256: pulumi.String(sum),
		Profiler:          schema.Defaults().Profiler,
		ProfilerBinaryURI: pulumi.String("s3://data/artifacts/" + sum + "/observatory-profiler"), ProfilerBinarySHA256: pulumi.String(sum),
		BootstrapHash: pulumi.String(sum), ToolsRoleARN: control.ToolsRoleARN,
		TempoRetention: 14 * 24 * time.Hour, PyroscopeRetention: 7 * 24 * time.Hour,
		MetricsRetention: 30 * 24 * time.Hour, LogsRetention: 14 * 24 * time.Hour, DataVolumeGiB: 100,
		Limits: schema.Limits{SeriesPerHour: 100_000, LogMiBPerHour: 1024, SpansPerHour: 100_000, ProfilesPerHour: 10_000},
	}
}

// fromRecording extracts the program from a recording.
func fromRecording(t *testing.T, rec *recorder.Recording) program {
	t.Helper()
	p := program{caFiles: map[string]string{}}
	for _, r := range rec.Resources {
		in := property.Plain(r.Inputs)
		p.readNode(t, r.Type, in)
		switch {
		case r.Type == "pulumi:providers:kubernetes":
			p.kubeconfig = in["kubeconfig"].(string)
		case strings.HasPrefix(r.Type, "kubernetes:"):
			p.objects = append(p.objects, unstructured.Unstructured{Object: asJSON(t, in)})
		}
	}
	p.requireNode(t)
	return p
}

// readNode reads what a resource tells of the node.
func (p *program) readNode(t *testing.T, token string, in map[string]any) {
	t.Helper()
	switch token {
	case "aws:ssm/parameter:Parameter":
		if file := path.Base(in["name"].(string)); slices.Contains(boot.CAFiles(), file) {
			p.caFiles[file] = in["value"].(string)
		}
	case "aws:ec2/instance:Instance":
		p.k3s = k3sSettings(t, in["userData"].(string))
	case command.Token:
		p.gate = gateCommand{create: in["create"].(string), environment: map[string]string{}}
		for _, word := range in["interpreter"].([]any) {
			p.gate.interpreter = append(p.gate.interpreter, word.(string))
		}
		for k, v := range in["environment"].(map[string]any) {
			p.gate.environment[k] = v.(string)
		}
	}
}

// requireNode requires that all of the node was read.
func (p *program) requireNode(t *testing.T) {
	t.Helper()
	require.Equal(t, len(boot.CAFiles()), len(p.caFiles), "their values are secret") //nolint:testifylint // Len would print them
	require.NotEmpty(t, p.k3s.NodeIP)
	require.NotEmpty(t, p.gate.create)
}

// asJSON converts values to the types that decoded JSON has.
func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	var out unstructured.Unstructured
	require.NoError(t, out.UnmarshalJSON(b))
	return out.Object
}

// k3sSettings reads the K3s configuration file in the user data.
func k3sSettings(t *testing.T, userData string) k3sConfig {
	t.Helper()
	var cloud struct {
		WriteFiles []struct{ Path, Content string } `json:"write_files"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(userData), &cloud))
	var c k3sConfig
	for _, f := range cloud.WriteFiles {
		if f.Path == platform.ControlK3sConfig {
			require.NoError(t, yaml.Unmarshal([]byte(f.Content), &c))
		}
	}
	return c
}

// TestComponentsRegisterTheStacksObjects requires the same kinds of objects here as in
// the golden file of the dev stack, so that these tests leave none out.
func TestComponentsRegisterTheStacksObjects(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("..", "..", "stacks", "testdata", "dev.resources.golden"))
	require.NoError(t, err)
	var want, got []string
	for line := range strings.Lines(string(golden)) {
		if words := strings.Fields(line); strings.HasPrefix(words[0], "kubernetes:") {
			kind := words[0][strings.LastIndex(words[0], ":")+1:]
			want = append(want, kind)
		}
	}
	for _, o := range build(t, "10.0.0.5").objects {
		got = append(got, o.GetKind())
	}
	require.NotEmpty(t, want)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
}

// providerClient creates resources with a provider of the local cloud.
type providerClient struct {
	t *testing.T
	pulumirpc.ResourceProviderClient
}

// newProviderClient starts the simulated provider of a package and returns a client
// for it.
func newProviderClient(t *testing.T, pkg string) providerClient {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served, err := simulator.Serve(map[string]net.Listener{pkg: l}, simulator.Options{})
	require.NoError(t, err)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		require.NoError(t, served.Close())
	})
	p := providerClient{t, pulumirpc.NewResourceProviderClient(conn)}
	_, err = p.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: &structpb.Struct{}, AcceptSecrets: true})
	require.NoError(t, err)
	return p
}

// create creates a resource and returns its outputs. It runs in another goroutine than
// the test, so it must not call FailNow.
func (p providerClient) create(r recorder.Resource) resource.PropertyMap {
	keep := plugin.MarshalOptions{KeepSecrets: true}
	in, err := plugin.MarshalProperties(resource.NewPropertyMapFromMap(property.Plain(r.Inputs)), keep)
	if err != nil {
		p.t.Error(err)
		return nil
	}
	created, err := p.Create(p.t.Context(), &pulumirpc.CreateRequest{
		Urn:        "urn:pulumi:test::" + platform.Project + "::" + r.Type + "::" + r.Name,
		Properties: in,
	})
	if err != nil {
		p.t.Error(err)
		return nil
	}
	out, err := plugin.UnmarshalProperties(created.GetProperties(), keep)
	if err != nil {
		p.t.Error(err)
	}
	return out
}
