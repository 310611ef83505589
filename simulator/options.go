package simulator

import (
	"context"
	"log/slog"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/command"
)

// Options configure Serve.
type Options struct {
	Region    string              // "" = us-east-1; the region of a configured aws provider overrides it
	AccountID string              // "" = 000000000000
	Unoffered map[string][]string // by zone: instance types that EC2 does not offer there
	Handlers  map[string]Handler  // by resource type token
	Invokes   map[string]Invoke   // by function token
	Command   command.Runner      // nil = run commands on this machine
	Connect   Connect             // nil = connect to nothing
	Log       *slog.Logger        // nil = no log
	// AcceptViolations lets resources with violations pass Check, so that one
	// run finds those of all resources: see Servers.Violations. Set it only
	// where no Handler creates anything.
	AcceptViolations bool
}

// Connect connects to the server that a package's provider is configured for, as the
// real provider does before it creates, updates or deletes a resource. arguments are the
// provider's, with secrets in plain text. A Read connects to nothing: what is only
// recorded is read from the engine's state.
type Connect func(ctx context.Context, pkg string, arguments map[string]any) error

// Invoke implements one function.
type Invoke func(ctx context.Context, args resource.PropertyMap) (resource.PropertyMap, error)

// EnvironmentKey is the variable that makes the engine attach to running
// providers.
const EnvironmentKey = "PULUMI_DEBUG_PROVIDERS"

// EngineEnvironment returns the environment of an engine that uses these providers.
// providers is the value of EnvironmentKey, backend a folder. The engine then neither
// looks for a newer version of itself nor tries to download the AWS providers, which
// would take seconds.
func EngineEnvironment(providers, backend, passphrase string) map[string]string {
	return map[string]string{
		EnvironmentKey:                                providers,
		"PULUMI_BACKEND_URL":                          "file://" + backend,
		"PULUMI_CONFIG_PASSPHRASE":                    passphrase,
		"PULUMI_SKIP_UPDATE_CHECK":                    "true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
	}
}
