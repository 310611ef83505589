package changes_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// jsonCommand runs the engine's command line and adds --json to previews.
type jsonCommand struct {
	auto.PulumiCommand
	printed *string
}

func (c jsonCommand) Run(ctx context.Context, dir string, in io.Reader, out, errs []io.Writer, env []string, args ...string) (string,
	string, int, error) {
	preview := len(args) > 0 && args[0] == "preview"
	if preview {
		args = append(args, "--json")
	}
	stdout, stderr, code, err := c.PulumiCommand.Run(ctx, dir, in, out, errs, env, args...)
	if preview {
		*c.printed = stdout
	}
	return stdout, stderr, code, err
}

// TestDigestAgreesWithEvents compares the output of `pulumi preview --json`
// with the events of the Automation API.
func TestDigestAgreesWithEvents(t *testing.T) {
	s := open(t, "dev")
	s.up(t)
	s.values = s.with(t, set{"retention.tempoDays", "3"}, set{"clusters.main.releaseLabel", `"emr-7.9.0"`},
		set{"controlNode.instanceType", `"m5.2xlarge"`}, set{"operatorCidrs", `["198.51.100.0/24"]`})
	want, err := changes.Preview(t.Context(), s.Stack)
	require.NoError(t, err)

	require.NoError(t, s.Stack.SetConfig(t.Context(), platform.Project+":region", auto.ConfigValue{Value: "us-east-1"}))
	got := s.previewAsJSON(t)
	for _, effect := range changes.Effects() {
		require.Equal(t, want.Names(effect), got.Plan.Names(effect), effect)
	}
	require.NotEmpty(t, got.Plan.Names(changes.Restarted))
	require.Equal(t, refusedNames(t, changes.Guard{}.Check(t.Context(), want)), refusedNames(t, changes.Guard{}.Check(t.Context(), got.Plan)))
	require.Equal(t, "us-east-1", got.Config[platform.Project+":region"])
}

// previewAsJSON reads what `pulumi preview --json` prints.
func (s *scene) previewAsJSON(t *testing.T, opts ...optpreview.Option) changes.Digest {
	t.Helper()
	var printed string
	w := s.Stack.Workspace()
	other, err := auto.SelectStackInlineSource(t.Context(), s.Stack.Name(), "emr-observatory", w.Program(),
		auto.Pulumi(jsonCommand{w.PulumiCommand(), &printed}), auto.PulumiHome(w.PulumiHome()),
		auto.WorkDir(w.WorkDir()), auto.EnvVars(w.GetEnvVars()))
	require.NoError(t, err)
	_, _ = other.Preview(t.Context(), opts...) // its result is read from what was printed
	require.NotEmpty(t, printed)
	got, err := changes.FromDigest(strings.NewReader(printed))
	require.NoError(t, err)
	return got
}

func TestRejectsInvalidDigest(t *testing.T) {
	_, err := changes.FromDigest(strings.NewReader("Previewing update"))
	require.ErrorContains(t, err, "pulumi preview --json")
	_, err = changes.FromDigest(strings.NewReader(`{"steps":[],"diagnostics":[{"severity":"error","message":"boom"}]}`))
	require.ErrorContains(t, err, "boom")
}
