package localcloud

import (
	"fmt"
	"net/http"

	"github.com/emr-observatory/emr-observatory/localcloud/forwarder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// statusPage forwards requests to the status server with what the program's Secret
// says about its access.
func (c *cloud) statusPage() http.Handler {
	return forwarder.New(forwarder.Options{
		Name: string(platform.WorkloadStatus), Dial: c.dial(string(platform.WorkloadStatus)), Access: c.statusAccess, Log: c.log,
	})
}

func (c *cloud) statusAccess() (forwarder.Access, error) {
	secret, err := c.kube.Secret(platform.Name, platform.AccessSecret(platform.WorkloadStatus))
	if err != nil {
		return forwarder.Access{}, fmt.Errorf("read the access to the status page: %w", err)
	}
	return forwarder.Access{
		CACertificate: secret[platform.AccessCACert], User: platform.StatusUser, Password: string(secret[platform.AccessPassword]),
	}, nil
}
