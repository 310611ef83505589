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
	"github.com/emr-observatory/emr-observatory/localcloud/provider"
	"github.com/emr-observatory/emr-observatory/localcloud/rehearse"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/controls/canary"
)

// secretOutputs are the outputs of what makes secrets, whether or not the
// program marks them. Everything else that is secret is made of these.
func secretOutputs() map[string][]string {
	return map[string][]string{
		"tls:index/privateKey:PrivateKey":            {"privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"},
		"random:index/randomPassword:RandomPassword": {"result", "bcryptHash"},
	}
}

// trace is all that a stack's life leaves behind.
type trace struct {
	dir        string // state, its history and backups, the engine's own files
	output     lockedBuffer
	events     lockedBuffer
	providers  lockedBuffer // what the providers log, at its most talkative
	resources  []apitype.ResourceV3
	passphrase string
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write implements io.Writer for several writers.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// live takes a program through preview, up and destroy on the real engine and
// keeps the trace.
func live(t *testing.T, program pulumi.RunFunc, stack string) *trace {
	t.Helper()
	phrase := make([]byte, 16)
	_, err := rand.Read(phrase)
	require.NoError(t, err)
	tr := &trace{dir: t.TempDir(), passphrase: hex.EncodeToString(phrase)}
	values := auto.ConfigMap{}
	for k, v := range trial.Values(t, stack) {
		values[k] = auto.ConfigValue{Value: v}
	}
	stage, err := rehearse.Open(t.Context(), program, rehearse.Options{
		Project: platform.Project, Stack: stack, Config: values, PulumiCommand: trial.Pulumi(t), WorkDir: tr.dir, Passphrase: tr.passphrase,
		Providers: provider.Options{Log: slog.New(slog.NewJSONHandler(&tr.providers, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, stage.Close()) }()
	ctx, s := t.Context(), stage.Stack
	tr.follow(t, func(w io.Writer, e chan<- events.EngineEvent) error {
		_, err := s.Preview(ctx, optpreview.ProgressStreams(w), optpreview.ErrorProgressStreams(w), optpreview.EventStreams(e), optpreview.Diff())
		return err
	})
	tr.follow(t, func(w io.Writer, e chan<- events.EngineEvent) error {
		_, err := s.Up(ctx, optup.ProgressStreams(w), optup.ErrorProgressStreams(w), optup.EventStreams(e), optup.Diff())
		return err
	})
	tr.resources = decrypted(ctx, t, s)
	tr.follow(t, func(w io.Writer, e chan<- events.EngineEvent) error {
		_, err := s.Preview(ctx, optpreview.ProgressStreams(w), optpreview.ErrorProgressStreams(w), optpreview.EventStreams(e), optpreview.Diff())
		return err
	})
	if !slices.ContainsFunc(tr.resources, func(r apitype.ResourceV3) bool { return r.Protect }) {
		tr.follow(t, func(w io.Writer, e chan<- events.EngineEvent) error {
			_, err := s.Destroy(ctx, optdestroy.ProgressStreams(w), optdestroy.ErrorProgressStreams(w), optdestroy.EventStreams(e))
			return err
		})
	}
	return tr
}

// follow runs the engine once and writes down what it says.
func (tr *trace) follow(t *testing.T, run func(io.Writer, chan<- events.EngineEvent) error) {
	t.Helper()
	stream := make(chan events.EngineEvent)
	done := make(chan error, 1)
	go func() {
		encoder := json.NewEncoder(&tr.events)
		var failed error
		for e := range stream {
			if err := encoder.Encode(e); err != nil && failed == nil {
				failed = err
			}
		}
		done <- failed
	}()
	require.NoError(t, run(&tr.output, stream))
	require.NoError(t, <-done)
}

// decrypted is the state with its secrets in clear: {"plaintext": …}.
func decrypted(ctx context.Context, t *testing.T, s auto.Stack) []apitype.ResourceV3 {
	t.Helper()
	exported, err := s.Export(ctx)
	require.NoError(t, err)
	var deployment apitype.DeploymentV3
	require.NoError(t, json.Unmarshal(exported.Deployment, &deployment))
	return deployment.Resources
}

// secretLeaves gives every text that the state keeps secret.
func secretLeaves(t *testing.T, v any, inside bool, each func(string)) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if v[resource.SigKey] == resource.SecretSig {
			text, isText := v["plaintext"].(string)
			require.True(t, isText, "the export shows its secrets")
			var plain any
			require.NoError(t, json.Unmarshal([]byte(text), &plain))
			secretLeaves(t, plain, true, each)
			return
		}
		for _, e := range v {
			secretLeaves(t, e, inside, each)
		}
	case []any:
		for _, e := range v {
			secretLeaves(t, e, inside, each)
		}
	case string:
		if inside && v != "" {
			each(v)
		}
	}
}

// canaries are the secrets of the run: what makers of secrets gave out, and
// the passphrase.
func (tr *trace) canaries(t *testing.T) []canary.Secret {
	t.Helper()
	out := []canary.Secret{{Name: "passphrase", Value: tr.passphrase}}
	for _, r := range tr.resources {
		for _, key := range secretOutputs()[string(r.Type)] {
			before := len(out)
			secretLeaves(t, r.Outputs[key], true, func(s string) {
				out = append(out, canary.Secret{Name: r.URN.Name() + " " + key, Value: s})
			})
			require.Greater(t, len(out), before, "%s has no %s", r.URN, key)
		}
	}
	return out
}

// public are the other halves of the keys, and what carries them: whether the
// end of a key's file stands in a certificate hangs on the length of its serial
// number.
func (tr *trace) public(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, r := range tr.resources {
		for _, key := range []string{"publicKeyOpenssh", "publicKeyPem", "certPem", "certRequestPem"} {
			if s, isText := r.Outputs[key].(string); isText {
				out = append(out, s)
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// leaks searches everything that the run left.
func (tr *trace) leaks(t *testing.T, search *canary.Searcher) []canary.Leak {
	t.Helper()
	out, files, err := search.SearchTree(tr.dir)
	require.NoError(t, err)
	require.Greater(t, files, 3, "state, its history and backups")
	for name, content := range map[string]*lockedBuffer{"the engine's output": &tr.output, "the engine's events": &tr.events, "the providers' log": &tr.providers} {
		require.NotZero(t, content.Len(), name)
		out = append(out, search.Search(name, content.Bytes())...)
	}
	return out
}

// TestSecretsAreNowhereInClear runs the whole program, its keys and passwords
// real, and searches all that is left: state with its user data, bootstrap
// arguments, workloads and ConfigMaps, its history, the engine's events and
// output, the providers' log.
func TestSecretsAreNowhereInClear(t *testing.T) {
	tr := live(t, trial.Program(trial.Materials(t)), "local")
	secrets := tr.canaries(t)
	require.Greater(t, len(secrets), 20, "the keys of four authorities and two certificates in three forms, a password, its hash, the passphrase")
	search, err := canary.New(tr.public(t), secrets...)
	require.NoError(t, err)
	require.Empty(t, tr.leaks(t, search))

	// Whatever else is kept secret is made of one of these, or is known anyway,
	// as a certificate is; else this test would not be looking for it.
	clear := readClear(t, tr)
	derived := 0
	for _, r := range tr.resources {
		for _, part := range []map[string]any{r.Inputs, r.Outputs} {
			secretLeaves(t, part, false, func(s string) {
				if len(search.Search("", []byte(s))) > 0 {
					derived++
					return
				}
				quoted, err := json.Marshal(s)
				require.NoError(t, err)
				require.True(t, bytes.Contains(clear, bytes.Trim(quoted, `"`)), "%s keeps something secret that no canary is part of: name its maker in secretOutputs", r.URN)
			})
		}
	}
	require.Greater(t, derived, len(secrets), "parameters, kubeconfig, provider settings, Secrets")
}

// readClear is everything in the backend's files, which holds secrets only as
// ciphertext.
func readClear(t *testing.T, tr *trace) []byte {
	t.Helper()
	checkpoints, err := filepath.Glob(filepath.Join(tr.dir, "state", ".pulumi", "history", platform.Project, "*", "*.checkpoint.json"))
	require.NoError(t, err)
	require.NotEmpty(t, checkpoints)
	var out []byte
	for _, file := range checkpoints {
		out = append(out, readFile(t, file)...)
	}
	require.Contains(t, string(out), "ciphertext")
	return out
}

// A leak in the program is found wherever it ends up.
func TestALeakIsFound(t *testing.T) {
	tr := live(t, leaky, "local")
	search, err := canary.New(tr.public(t), tr.canaries(t)...)
	require.NoError(t, err)
	where := map[string]bool{}
	for _, l := range tr.leaks(t, search) {
		switch {
		case strings.HasPrefix(l.Source, "state/"):
			where["state "+l.Form] = true
		default:
			where[l.Source] = true
		}
	}
	for _, want := range []string{"state plain", "state base64", "the engine's output", "the engine's events"} {
		require.True(t, where[want], "%s: only %v", want, where)
	}
}
