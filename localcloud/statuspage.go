package localcloud

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"

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
		Name: string(platform.WorkloadStatus), Dial: c.internet.Dial, Access: c.statusAccess, Log: c.log,
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

func (c *cloud) statusAccess() (forwarder.Access, error) {
	secret, err := c.kube.Secret(platform.Name, platform.AccessSecret(platform.WorkloadStatus))
	if err != nil {
		return forwarder.Access{}, fmt.Errorf("read the access to the status page: %w", err)
	}
	address, err := c.ec2.PublicAddress()
	if err != nil {
		return forwarder.Access{}, fmt.Errorf("find the status page: %w", err)
	}
	return forwarder.Access{
		Address:       netip.AddrPortFrom(address, uint16(platform.Status)).String(),
		CACertificate: secret[platform.AccessCACert], ServerName: string(secret[platform.AccessServerName]),
		User: platform.StatusUser, Password: string(secret[platform.AccessPassword]),
	}, nil
}
