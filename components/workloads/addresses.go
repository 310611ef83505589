package workloads

import (
	"net/netip"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

// operatorURLs are where operators and the program reach the servers.
type operatorURLs struct{ grafana, status, tools pulumi.StringOutput }

func (a *Args) operatorURLs(table platform.WorkloadTable) (operatorURLs, error) {
	grafana, err := table.Get(platform.WorkloadGrafana)
	if err != nil {
		return operatorURLs{}, err
	}
	status, err := table.Get(platform.WorkloadStatus)
	if err != nil {
		return operatorURLs{}, err
	}
	tools := pulumi.String("").ToStringOutput()
	at := func(r platform.WorkloadRecord) pulumi.StringOutput {
		return output.Map(a.operatorHost(), func(host string) (string, error) { return r.URLAt(host), nil })
	}
	if a.Profiler.Enabled {
		record, err := table.Get(platform.WorkloadTools)
		if err != nil {
			return operatorURLs{}, err
		}
		tools = pulumi.Sprintf("%s%s", at(record), platform.ToolsPath)
	}
	urls := operatorURLs{grafana: at(grafana), status: at(status), tools: tools}
	if a.GrafanaURL != "" {
		urls.grafana = pulumi.String(a.GrafanaURL).ToStringOutput()
	}
	return urls, nil
}

// operatorHost is the host in operators' URLs.
func (a *Args) operatorHost() pulumi.StringInput {
	if a.Certificate != nil {
		return pulumi.String(a.Certificate.Domain)
	}
	return a.ControlHost
}

// certificateIPs are the addresses in the certificates of the servers that
// operators connect to: the control node's own, a tunnel's end, and the host under
// which operators reach the node, each once.
func (a *Args) certificateIPs() pulumi.StringArrayOutput {
	return output.List([]pulumi.StringInput{a.ControlPrivateIP, a.ControlHost}, func(known []string) []string {
		ips := []string{known[0], platform.Loopback}
		if host := known[1]; isIP(host) && !slices.Contains(ips, host) {
			ips = append(ips, host)
		}
		return ips
	})
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
