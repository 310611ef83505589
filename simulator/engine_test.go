package simulator_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator"
)

// newStack creates a stack on the real engine, attached to its own servers. Every
// run executes the current *program, so that tests can change it.
func newStack(t *testing.T, program *pulumi.RunFunc, options simulator.Options) auto.Stack {
	t.Helper()
	path := os.Getenv("OBSERVATORY_PULUMI")
	if path == "" {
		found, err := exec.LookPath("pulumi")
		require.NoError(t, err, "no pulumi binary: run `make tools`, or set OBSERVATORY_PULUMI to one")
		path = found
	}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "bin", "pulumi")))
	cli, err := auto.NewPulumiCommand(&auto.PulumiCommandOptions{Root: dir})
	require.NoError(t, err)
	servers, err := simulator.Listen(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, servers.Close()) })
	for _, sub := range []string{"state", "work", "home"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	run := func(ctx *pulumi.Context) error { return (*program)(ctx) }
	s, err := auto.UpsertStackInlineSource(t.Context(), "engine", "emr-observatory", run,
		auto.Pulumi(cli), auto.PulumiHome(filepath.Join(dir, "home")), auto.WorkDir(filepath.Join(dir, "work")),
		auto.EnvVars(simulator.EngineEnvironment(servers.Environment(), filepath.Join(dir, "state"), "test")))
	require.NoError(t, err)
	return s
}

// testProgram has the values in a small program that tests edit.
type testProgram struct {
	session int    // of the role: updated in place
	path    string // of the role: replaces it
	tag     string // a default tag of the provider
}

func (e testProgram) program() pulumi.RunFunc {
	const trust = `{"Version":"2012-10-17","Statement":[` +
		`{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	return func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(
			ctx, "main",
			&aws.ProviderArgs{
				Region:      pulumi.String("us-east-1"),
				DefaultTags: aws.ProviderDefaultTagsArgs{Tags: pulumi.StringMap{"team": pulumi.String(e.tag)}},
			},
		)
		if err != nil {
			return err
		}
		role, err := iam.NewRole(
			ctx, "node",
			&iam.RoleArgs{AssumeRolePolicy: pulumi.String(trust), MaxSessionDuration: pulumi.Int(e.session), Path: pulumi.String(e.path)},
			pulumi.Provider(p),
		)
		if err != nil {
			return err
		}
		password, err := random.NewRandomPassword(ctx, "admin", &random.RandomPasswordArgs{Length: pulumi.Int(24)})
		if err != nil {
			return err
		}
		_, err = ssm.NewParameter(
			ctx, "admin",
			&ssm.ParameterArgs{Name: pulumi.String("/o/admin"), Type: pulumi.String("SecureString"), Value: password.Result},
			pulumi.Provider(p),
		)
		ctx.Export("role", role.Name)
		ctx.Export("arn", role.Arn)
		ctx.Export("team", role.TagsAll) //nolint:staticcheck // AWS still returns it, so the provider must too
		ctx.Export("password", password.Result)
		return err
	}
}

func TestEngineAppliesEdits(t *testing.T) {
	current := testProgram{session: 3600, path: "/", tag: "a"}
	program := current.program()
	s := newStack(t, &program, simulator.Options{})
	up := func() (auto.OutputMap, map[string]int) {
		r, err := s.Up(t.Context())
		require.NoError(t, err)
		return r.Outputs, *r.Summary.ResourceChanges
	}
	first, changes := up()
	require.Equal(t, map[string]int{"create": 5}, changes)
	require.Regexp(t, `^node-[0-9a-f]{7}$`, first["role"].Value)
	require.True(t, first["password"].Secret)

	// Stack.Export decrypts secrets; the plain command does not.
	w := s.Workspace()
	var env []string
	for k, v := range w.GetEnvVars() {
		env = append(env, k+"="+v)
	}
	exported, _, _, err := w.PulumiCommand().Run(t.Context(), w.WorkDir(), nil, nil, nil, env, "stack", "export", "--stack", s.Name())
	require.NoError(t, err)
	require.Contains(t, exported, "ciphertext")
	require.NotContains(t, exported, first["password"].Value, "the state keeps secrets encrypted")

	again, changes := up()
	require.Equal(t, map[string]int{"same": 5}, changes)
	require.Equal(t, first["role"], again["role"])

	current.session = 7200
	program = current.program()
	updated, changes := up()
	require.Equal(t, map[string]int{"update": 1, "same": 4}, changes)
	require.Equal(t, first["arn"], updated["arn"])

	current.path = "/emr/"
	program = current.program()
	replaced, changes := up()
	require.Equal(t, 1, changes["replace"], changes)
	require.NotEqual(t, first["arn"], replaced["arn"])
	require.Contains(t, replaced["arn"].Value, ":role/emr/node-")

	current.tag = "b"
	program = current.program()
	tagged, changes := up()
	require.Equal(t, map[string]any{"team": "b"}, tagged["team"].Value)
	require.Equal(t, 3, changes["update"], "the provider and both resources with tags: %v", changes)

	_, err = s.Refresh(t.Context())
	require.NoError(t, err)
	_, changes = up()
	require.Equal(t, map[string]int{"same": 5}, changes)
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
}

// failingOnce is a handler whose first resource exists, does not become ready, and ends.
type failingOnce struct {
	simulator.Recording
	creations *int
}

func (f failingOnce) Create(_ context.Context, r simulator.Request) (simulator.Result, error) {
	out, err := r.Recorded()
	if *f.creations++; *f.creations == 1 {
		return simulator.Result{}, &simulator.PartialError{
			Result: simulator.Result{ID: "failed", Outputs: out.Outputs}, Reasons: []string{"ended with errors"},
		}
	}
	return out, err
}

func (failingOnce) Read(_ context.Context, r simulator.Request) (simulator.Result, bool, error) {
	return simulator.Result{ID: r.ID, Outputs: r.Outputs}, r.ID != "failed", nil
}

// What README says of a cluster that failed to start: without a refresh, an update counts
// it as there.
func TestEngineKeepsWhatFailedUntilARefresh(t *testing.T) {
	creations := 0
	program := testProgram{session: 3600, path: "/", tag: "a"}.program()
	handlers := map[string]simulator.Handler{"aws:iam/role:Role": failingOnce{creations: &creations}}
	s := newStack(t, &program, simulator.Options{Handlers: handlers})
	_, err := s.Up(t.Context())
	require.ErrorContains(t, err, "ended with errors")
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, creations, "it counts as there")
	r, err := s.Up(t.Context(), optup.Refresh())
	require.NoError(t, err)
	require.Equal(t, 2, creations)
	require.Equal(t, 1, (*r.Summary.ResourceChanges)["create"])
}
