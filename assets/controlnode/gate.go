package controlnode

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

//go:embed gate.sh
var gateScript string

// GateDeadline bounds the wait for the API: an instance that boots, downloads
// 80 MB and starts K3s takes a few minutes; boot.sh itself waits up to ten for
// its volume.
const GateDeadline = 20 * time.Minute

// GatePause lies between two attempts.
const GatePause = 5 * time.Second

// Gate is the POSIX shell script that returns 0 once the API server at
// GateAPIServer answers /readyz with 200 to the client certificate, and fails
// with the reason after GateDeadlineSeconds. Its input is its environment.
func Gate() string { return gateScript }

// Environment of Gate. All of it is PEM text unless said otherwise.
const (
	GateAPIServer         = "API_SERVER" // https://host:port
	GateServerCA          = "SERVER_CA"
	GateClientCertificate = "CLIENT_CERTIFICATE"
	GateClientKey         = "CLIENT_KEY"       // secret
	GateDeadlineSeconds   = "DEADLINE_SECONDS" // whole seconds
	GatePauseSeconds      = "PAUSE_SECONDS"    // whole seconds
)

// APIServer is the URL of the control node's Kubernetes API.
func APIServer(privateIP string) string {
	return fmt.Sprintf("https://%s:%d", privateIP, platform.KubernetesAPI)
}
