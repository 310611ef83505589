package controlnode

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

//go:embed gate.sh
var gateScript string

// GateDeadline bounds the wait for the API. An instance takes a few minutes to boot,
// download 80 MB and start K3s; boot.sh waits up to ten for its volume.
const GateDeadline = 20 * time.Minute

// GatePause is the time between two attempts.
const GatePause = 5 * time.Second

// Gate is the POSIX shell script that exits with 0 once the API server at
// GateAPIServer answers /readyz with 200 to the client certificate, and fails with
// the reason after GateDeadlineSeconds. Its input is its environment.
func Gate() string { return gateScript }

// Environment of Gate, PEM text unless noted.
const (
	GateAPIServer         = "API_SERVER" // https://host:port
	GateHint              = "HINT"       // what else may be wrong if nothing answers
	GateServerCA          = "SERVER_CA"
	GateClientCertificate = "CLIENT_CERTIFICATE"
	GateClientKey         = "CLIENT_KEY"       // secret
	GateDeadlineSeconds   = "DEADLINE_SECONDS" // whole seconds
	GatePauseSeconds      = "PAUSE_SECONDS"    // whole seconds
)

// APIServer is the URL of the Kubernetes API on a host.
func APIServer(host string) string {
	return fmt.Sprintf("https://%s:%d", host, platform.KubernetesAPI)
}
