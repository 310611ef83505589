package kubernetes_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/command"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// workers is how many resources the engine handles at once: few, since an update that
// ends with few ends with more. On two cores there are eight, on AWS one of them busy
// with EMR for minutes.
const workers = 4

// scene is the dev stack on the real engine, with pulumi-kubernetes' own plugin. The
// other providers are simulated, and the control node is an API server with a node.
type scene struct {
	*rehearse.Stage
	values       map[string]string
	node         *bootingNode
	api          *apiServer
	client       *cluster
	kubelet      process
	startKubelet func() process
	awaited      string // limit of the wait for a Service without the annotation; "" = the program as it is
}

// openScene opens a stack that may be destroyed with its data.
func openScene(t *testing.T) *scene {
	t.Helper()
	plugin := buildServer(t, servers.KubernetesProvider)
	s := &scene{values: map[string]string{}, node: &bootingNode{
		address: loopback(), atGate: make(chan struct{}), ready: make(chan struct{}),
	}}
	for k, v := range trial.Values(t, "dev") {
		s.values[strings.TrimPrefix(k, platform.Project+":")] = v
	}
	s.values["ephemeral"] = "true"
	s.values["controlNode"] = `{"access":"vpc","dataVolumeGiB":100}`
	materials := trial.Materials(t)
	handlers := map[string]simulator.Handler{}
	for _, token := range []string{networkInterface, "aws:ec2/instance:Instance", "aws:ssm/parameter:Parameter", command.Token} {
		handlers[token] = s.node
	}
	var err error
	s.Stage, err = rehearse.Open(t.Context(), func(ctx *pulumi.Context) error { return s.program(ctx, materials) }, rehearse.Options{
		Project: platform.Project, Stack: "dev", PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir(), Config: auto.ConfigMap{},
		Providers: simulator.Options{Handlers: handlers},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	// The engine starts the plugin that it finds on its PATH.
	simulated := slices.DeleteFunc(strings.Split(s.Servers.Environment(), ","), func(provider string) bool {
		return strings.HasPrefix(provider, "kubernetes:")
	})
	s.setEnv(t, simulator.EnvironmentKey, strings.Join(simulated, ","))
	s.setEnv(t, "PATH", filepath.Dir(plugin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return s
}

func (s *scene) setEnv(t *testing.T, key, value string) {
	t.Helper()
	environment := maps.Clone(s.Stack.Workspace().GetEnvVars())
	environment[key] = value
	require.NoError(t, s.Stack.Workspace().SetEnvVars(environment))
}

// program is the program, or one whose Services lack the annotation.
func (s *scene) program(ctx *pulumi.Context, m stacks.Materials) error {
	if s.awaited != "" {
		err := ctx.RegisterStackTransformation(func(r *pulumi.ResourceTransformationArgs) *pulumi.ResourceTransformationResult {
			service, is := r.Props.(*corev1.ServiceArgs)
			if !is {
				return nil
			}
			service.Metadata.(*metav1.ObjectMetaArgs).Annotations = nil
			return &pulumi.ResourceTransformationResult{
				Props: service, Opts: append(r.Opts, pulumi.Timeouts(&pulumi.CustomTimeouts{Create: s.awaited, Update: s.awaited})),
			}
		})
		if err != nil {
			return err
		}
	}
	cfg, err := config.Parse(s.values)
	if err != nil {
		return err
	}
	return stacks.Build(ctx, cfg, m)
}

// up updates the stack with few workers.
func (s *scene) up(t *testing.T) (auto.UpResult, error) {
	t.Helper()
	return s.Stack.Up(t.Context(), optup.Parallel(workers), optup.SuppressProgress())
}

// firstUp is an update that creates the control node. It starts the node's servers when
// the program waits for them.
func (s *scene) firstUp(t *testing.T) (auto.UpResult, error) {
	t.Helper()
	type result struct {
		auto.UpResult
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := s.up(t)
		done <- result{r, err}
	}()
	select {
	case <-s.node.atGate:
	case r := <-done:
		require.NoError(t, r.err)
		require.Fail(t, "the update ended before the control node answered")
	}
	p := s.node.program(t)
	s.api = startAPI(t, p)
	s.client, s.startKubelet = startNode(t, p)
	s.kubelet = s.startKubelet()
	close(s.node.ready)
	r := <-done
	return r.UpResult, r.err
}

// objects returns what the state has of the Kubernetes objects, by their URNs.
func (s *scene) objects(t *testing.T) map[string]apitype.ResourceV3 {
	t.Helper()
	all, err := changes.Resources(t.Context(), s.Stack)
	require.NoError(t, err)
	out := map[string]apitype.ResourceV3{}
	for _, r := range all {
		if strings.HasPrefix(string(r.Type), "kubernetes:") {
			// The rest is the engine's own, and each operation may write it in another form.
			out[string(r.URN)] = apitype.ResourceV3{URN: r.URN, Type: r.Type, ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs}
		}
	}
	return out
}

const networkInterface = "aws:ec2/networkInterface:NetworkInterface"

// bootingNode is what the simulator knows of the control node while it boots.
type bootingNode struct {
	simulator.Recording
	address string
	atGate  chan struct{} // closed when the program waits for the node
	ready   chan struct{} // closed when it need not wait any more

	mu       sync.Mutex
	declared []simulator.Request
}

// Create implements simulator.Handler.
func (n *bootingNode) Create(ctx context.Context, r simulator.Request) (simulator.Result, error) {
	n.mu.Lock()
	n.declared = append(n.declared, r)
	n.mu.Unlock()
	out, err := r.Recorded()
	if err != nil {
		return out, err
	}
	switch r.Type {
	case networkInterface:
		out.Outputs["privateIp"] = resource.NewStringProperty(n.address)
	case command.Token:
		close(n.atGate)
		select {
		case <-n.ready:
		case <-ctx.Done():
			return out, ctx.Err()
		}
		out.Outputs["stdout"] = resource.NewStringProperty("ready")
	}
	return out, nil
}

// program returns what the program declared of the node.
func (n *bootingNode) program(t *testing.T) program {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	p := program{caFiles: map[string]string{}}
	for _, r := range n.declared {
		p.readNode(t, r.Type, property.Plain(r.Inputs))
	}
	p.requireNode(t)
	of := p.gate.environment
	var err error
	p.kubeconfig, err = boot.Kubeconfig(boot.Credentials{
		APIServer: of[boot.GateAPIServer], ServerCA: of[boot.GateServerCA],
		ClientCertificate: of[boot.GateClientCertificate], ClientKey: of[boot.GateClientKey],
	})
	require.NoError(t, err)
	return p
}
