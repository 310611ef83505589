package localcloud

import (
	"fmt"
	"net"
	"net/http"

	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// statusPage forwards requests to the status server as an operator's browser sends
// them: from the workstation to the control node's public address, with what the
// program's Secret says about the access. The page links to the services that run,
// and lists what the local cloud does not run as such; listeners are the services'
// ports on the host.
func (c *cloud) statusPage(listeners map[string]net.Listener) http.Handler {
	return forwarder.New(forwarder.Options{
		Name: string(platform.WorkloadStatus), Dial: c.internet.Dial, Log: c.log,
		Access: func() (forwarder.Access, error) {
			return c.access(platform.WorkloadStatus, platform.Status, platform.StatusUser)
		},
		Header: func() http.Header {
			return http.Header{
				platform.ServicesHeader: {platform.EncodeServices(c.reachable(listeners))},
				platform.AbsentHeader:   {platform.EncodeAbsent(c.kube.Absent())},
			}
		},
	})
}

// reachable lists the URLs on the host of the services that run.
func (c *cloud) reachable(listeners map[string]net.Listener) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	urls := map[string]string{}
	for name := range hostPorts() {
		if listener, target := listeners[name], c.targets[name]; listener != nil && target != "" {
			urls[name] = "http://" + listener.Addr().String()
		}
	}
	return urls
}

// access returns what an operator's browser needs for a workload's page at the control
// node's port.
func (c *cloud) access(workload platform.Workload, port platform.Port, user string) (forwarder.Access, error) {
	secret, err := c.kube.Secret(platform.Name, platform.AccessSecret(workload))
	if err != nil {
		return forwarder.Access{}, fmt.Errorf("read the access to %s: %w", workload, err)
	}
	address, err := c.controlNodeAddress(port)
	if err != nil {
		return forwarder.Access{}, fmt.Errorf("find %s: %w", workload, err)
	}
	return forwarder.Access{
		Address:       address,
		CACertificate: secret[platform.AccessCACert], ServerName: string(secret[platform.AccessServerName]),
		User: user, Password: string(secret[platform.AccessPassword]),
	}, nil
}
