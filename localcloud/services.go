package localcloud

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Names of the services that the local cloud itself provides.
const (
	ServiceS3      = "s3"
	ServiceEMR     = "emr"
	ServiceIAM     = "iam"
	ServiceAppUI   = "app-ui"  // with TLS: what presigned URLs of clusters' UIs open
	ServiceControl = "control" // the state of the workloads, for the CLI
)

// Ports of those services, of Systems Manager, of STS and of SQS. On the host they are preferred:
// a free one replaces one that is taken.
const (
	portS3      platform.Port = 7070
	portEMR     platform.Port = 7071
	portControl platform.Port = 7072
	portSSM     platform.Port = 7073
	portIAM     platform.Port = 7074
	portAppUI   platform.Port = 7075
	portSTS     platform.Port = 7076
	portSQS     platform.Port = 7077
)

// hostPorts lists the services that the host's 127.0.0.1 forwards to, with the
// preferred port of each.
func hostPorts() map[string]platform.Port {
	ports := map[string]platform.Port{
		ServiceS3: portS3, ServiceEMR: portEMR, ServiceIAM: portIAM, ServiceAppUI: portAppUI, ServiceControl: portControl,
		emr.ResourceManager: platform.ResourceManagerUI, emr.SparkHistory: platform.SparkHistoryUI,
	}
	for n := 1; n < emr.MaxExposed; n++ { // of further clusters, on any free port
		ports[emr.PageName(emr.ResourceManager, n)], ports[emr.PageName(emr.SparkHistory, n)] = 0, 0
	}
	for workload, port := range platform.Workloads().OperatorPorts() {
		ports[string(workload)] = port
	}
	return ports
}

// serviceAddress returns the address at which a service of the local cloud listens in the region.
func serviceAddress(port platform.Port) string { return fmt.Sprintf("%s:%d", servicesHost, port) }

// providerService returns the name of a Pulumi package's provider server.
func providerService(pkg string) string { return "provider:" + pkg }

// Packages returns the Pulumi packages that the local cloud provides.
func Packages() []string {
	return []string{"aws", "kubernetes", "grafana", "tls", "random", "command"}
}
