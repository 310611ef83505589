package stacks_test

import (
	"context"
	"net"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// cli answers the version check as the CLI of a version does; "" = it knows no such check.
type cli struct {
	pulumirpc.UnimplementedEngineServer
	version string
}

func (c cli) RequirePulumiVersion(
	ctx context.Context, r *pulumirpc.RequirePulumiVersionRequest,
) (*pulumirpc.RequirePulumiVersionResponse, error) {
	if c.version == "" {
		return c.UnimplementedEngineServer.RequirePulumiVersion(ctx, r)
	}
	return &pulumirpc.RequirePulumiVersionResponse{}, plugin.ValidatePulumiVersionRange(r.GetPulumiVersionRange(), c.version)
}

// The program refuses a CLI that would ignore replacement triggers, before it reads
// anything, and tells which to install.
func TestOlderCLIIsRefused(t *testing.T) {
	for version, refusal := range map[string]string{
		"v3.207.0":                      "Pulumi CLI version 3.207.0 does not satisfy",
		"":                              "upgrade the Pulumi CLI", // until 3.216
		"v" + platform.MinPulumiVersion: "",
		"v3.259.0":                      "",
	} {
		t.Run(version, func(t *testing.T) {
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			server := grpc.NewServer()
			pulumirpc.RegisterEngineServer(server, cli{version: version})
			go func() { _ = server.Serve(listener) }()
			t.Cleanup(server.Stop)
			ctx, err := pulumi.NewContext(t.Context(), pulumi.RunInfo{EngineAddr: listener.Addr().String(), Project: platform.Project, Stack: "dev"})
			require.NoError(t, err)
			err = stacks.Program(ctx)
			const upgrade = "install " + platform.MinPulumiVersion + " or a later one"
			if refusal == "" {
				require.ErrorContains(t, err, "read configuration") // there is none
				require.NotContains(t, err.Error(), upgrade)
				return
			}
			require.ErrorContains(t, err, refusal)
			require.ErrorContains(t, err, upgrade)
			require.NotContains(t, err.Error(), "configuration")
		})
	}
}
