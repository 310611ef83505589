package controls_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/tests/canary"
)

// secretOutputs maps the resource types that generate secrets to the outputs that
// hold them. Every other secret is derived from these.
func secretOutputs() map[string][]string {
	return map[string][]string{
		"tls:index/privateKey:PrivateKey":            {"privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"},
		"random:index/randomPassword:RandomPassword": {"result", "bcryptHash"},
	}
}

// lifecycle holds everything that creating and destroying a stack wrote.
type lifecycle struct {
	dir        string // state, its history and backups, the engine's own files
	output     lockedBuffer
	events     lockedBuffer
	providers  lockedBuffer // the providers' log at its most verbose level
	resources  []apitype.ResourceV3
	passphrase string
}

// lockedBuffer is a bytes.Buffer for concurrent writers.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// runLifecycle runs preview, up and, unless resources are protected, destroy of a
// program on the real engine. secrets are further configuration, marked as secret.
func runLifecycle(t *testing.T, program pulumi.RunFunc, stack string, secrets map[string]string) *lifecycle {
	t.Helper()
	phrase := make([]byte, 16)
	_, err := rand.Read(phrase)
	require.NoError(t, err)
	run := &lifecycle{dir: t.TempDir(), passphrase: hex.EncodeToString(phrase)}
	values := auto.ConfigMap{}
	for k, v := range trial.Values(t, stack) {
		values[k] = auto.ConfigValue{Value: v}
	}
	for k, v := range secrets {
		values[k] = auto.ConfigValue{Value: v, Secret: true}
	}
	stage, err := rehearse.Open(t.Context(), program, rehearse.Options{
		Project: platform.Project, Stack: stack, Config: values, PulumiCommand: trial.Pulumi(t), WorkDir: run.dir, Passphrase: run.passphrase,
		Providers: simulator.Options{Log: slog.New(slog.NewJSONHandler(&run.providers, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, stage.Close()) }()
	ctx, s := t.Context(), stage.Stack
	run.record(t, func(w io.Writer, e chan<- events.EngineEvent) error {
		_, err := s.Preview(ctx, optpreview.ProgressStreams(w), optpreview.ErrorProgressStreams(w), optpreview.EventStreams(e), optpreview.Diff())
		return err
	})
	run.record(t, func(w io.Writer, e chan<- events.EngineEvent) error {
		_, err := s.Up(ctx, optup.ProgressStreams(w), optup.ErrorProgressStreams(w), optup.EventStreams(e), optup.Diff())
		return err
	})
	run.resources = exportState(ctx, t, s)
	run.record(t, func(w io.Writer, e chan<- events.EngineEvent) error {
		_, err := s.Preview(ctx, optpreview.ProgressStreams(w), optpreview.ErrorProgressStreams(w), optpreview.EventStreams(e), optpreview.Diff())
		return err
	})
	if !slices.ContainsFunc(run.resources, func(r apitype.ResourceV3) bool { return r.Protect }) {
		run.record(t, func(w io.Writer, e chan<- events.EngineEvent) error {
			_, err := s.Destroy(ctx, optdestroy.ProgressStreams(w), optdestroy.ErrorProgressStreams(w), optdestroy.EventStreams(e))
			return err
		})
	}
	return run
}

// record runs an operation of the engine and records its output and events.
func (run *lifecycle) record(t *testing.T, operation func(io.Writer, chan<- events.EngineEvent) error) {
	t.Helper()
	stream := make(chan events.EngineEvent)
	done := make(chan error, 1)
	go func() {
		encoder := json.NewEncoder(&run.events)
		var failed error
		for e := range stream {
			if err := encoder.Encode(e); err != nil && failed == nil {
				failed = err
			}
		}
		done <- failed
	}()
	require.NoError(t, operation(&run.output, stream))
	require.NoError(t, <-done)
}

// exportState exports the stack's state with decrypted secrets: {"plaintext": …}.
func exportState(ctx context.Context, t *testing.T, s auto.Stack) []apitype.ResourceV3 {
	t.Helper()
	exported, err := s.Export(ctx)
	require.NoError(t, err)
	var deployment apitype.DeploymentV3
	require.NoError(t, json.Unmarshal(exported.Deployment, &deployment))
	return deployment.Resources
}

// eachSecret calls do for every secret string of an exported value. inSecret states
// that v itself is part of a secret.
func eachSecret(t *testing.T, v any, inSecret bool, do func(string)) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if v[resource.SigKey] == resource.SecretSig {
			text, isText := v["plaintext"].(string)
			require.True(t, isText, "the export shows its secrets")
			var plain any
			require.NoError(t, json.Unmarshal([]byte(text), &plain))
			eachSecret(t, plain, true, do)
			return
		}
		for _, e := range v {
			eachSecret(t, e, inSecret, do)
		}
	case []any:
		for _, e := range v {
			eachSecret(t, e, inSecret, do)
		}
	case string:
		if inSecret && v != "" {
			do(v)
		}
	}
}

// canaries returns the secrets of the run: the generated ones and the passphrase.
func (run *lifecycle) canaries(t *testing.T) []canary.Secret {
	t.Helper()
	out := []canary.Secret{{Name: "passphrase", Value: run.passphrase}}
	for _, r := range run.resources {
		for _, key := range secretOutputs()[string(r.Type)] {
			before := len(out)
			eachSecret(t, r.Outputs[key], true, func(s string) {
				out = append(out, canary.Secret{Name: r.URN.Name() + " " + key, Value: s})
			})
			require.Greater(t, len(out), before, "%s has no %s", r.URN, key)
		}
	}
	return out
}

// publicParts returns public keys, certificates and certificate requests. They may
// contain the same lines as the file of their private key, which holds the public
// key too.
func (run *lifecycle) publicParts(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, r := range run.resources {
		for _, key := range []string{"publicKeyOpenssh", "publicKeyPem", "certPem", "certRequestPem"} {
			if s, isText := r.Outputs[key].(string); isText {
				out = append(out, s)
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// leaks searches everything that the run wrote.
func (run *lifecycle) leaks(t *testing.T, search *canary.Searcher) []canary.Leak {
	t.Helper()
	out, files, err := search.SearchTree(run.dir)
	require.NoError(t, err)
	require.Greater(t, files, 3, "state, its history and backups")
	for name, content := range map[string]*lockedBuffer{
		"the engine's output": &run.output, "the engine's events": &run.events, "the providers' log": &run.providers,
	} {
		require.NotZero(t, content.Len(), name)
		out = append(out, search.Search(name, content.Bytes())...)
	}
	return out
}

// TestSecretsAreNowhereInPlainText runs the whole program with real keys and passwords
// and searches everything that it wrote: the state with its user data, bootstrap
// arguments, workloads and ConfigMaps, the state's history, the engine's events and
// output, and the providers' log.
func TestSecretsAreNowhereInPlainText(t *testing.T) {
	run := runLifecycle(t, trial.Program(trial.Materials(t)), "local", nil)
	secrets := run.canaries(t)
	require.Greater(t, len(secrets), 20,
		"the keys of four CAs and two certificates in three forms, a password, its hash, the passphrase")
	search, err := canary.New(run.publicParts(t), secrets...)
	require.NoError(t, err)
	require.Empty(t, run.leaks(t, search))

	// Every other secret contains one of these, or is also public, as certificates
	// are. Otherwise the search would miss it.
	plaintext := readCheckpoints(t, run)
	derived := 0
	for _, r := range run.resources {
		for _, part := range []map[string]any{r.Inputs, r.Outputs} {
			eachSecret(t, part, false, func(s string) {
				if len(search.Search("", []byte(s))) > 0 {
					derived++
					return
				}
				quoted, err := json.Marshal(s)
				require.NoError(t, err)
				require.True(t, bytes.Contains(plaintext, bytes.Trim(quoted, `"`)),
					"%s has a secret that contains no canary: add the type that generates it to secretOutputs", r.URN)
			})
		}
	}
	require.Greater(t, derived, len(secrets), "parameters, kubeconfig, provider settings, Secrets")
}

// readCheckpoints returns the content of the state's files, in which secrets are
// encrypted.
func readCheckpoints(t *testing.T, run *lifecycle) []byte {
	t.Helper()
	checkpoints, err := filepath.Glob(filepath.Join(run.dir, "state", ".pulumi", "history", platform.Project, "*", "*.checkpoint.json"))
	require.NoError(t, err)
	require.NotEmpty(t, checkpoints)
	var out []byte
	for _, file := range checkpoints {
		out = append(out, readFile(t, file)...)
	}
	require.Contains(t, string(out), "ciphertext")
	return out
}

// TestFindsLeaks requires the leaks of leakingProgram to be found in each place.
func TestFindsLeaks(t *testing.T) {
	run := runLifecycle(t, leakingProgram, "local", nil)
	search, err := canary.New(run.publicParts(t), run.canaries(t)...)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, l := range run.leaks(t, search) {
		switch {
		case strings.HasPrefix(l.Source, "state/"):
			found["state "+l.Form] = true
		default:
			found[l.Source] = true
		}
	}
	for _, want := range []string{"state plain", "state base64", "the engine's output", "the engine's events"} {
		require.True(t, found[want], "%s: only %v", want, found)
	}
}
