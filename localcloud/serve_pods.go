package localcloud

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"strconv"

	"github.com/emr-observatory/emr-observatory/localcloud/kube"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// podAuthority is where pods find the certificate of the local cloud's authority: not below a
// folder of /etc, since those are links to the host's.
const podAuthority = "/etc/observatory-local-cloud.pem"

// newKube returns the runner of pods, on the instance of c.ec2. Presigned URLs of UIs
// name uiAddress, which is the host's: a pod finds the UIs at the same port of its own.
func (c *cloud) newKube(uiAddress string) (*kube.Runner, error) {
	_, uiPort, err := net.SplitHostPort(uiAddress)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(uiPort)
	if err != nil {
		return nil, err
	}
	return &kube.Runner{
		Region: c.region, Dir: filepath.Join(c.State, "kube"), Memory: "/run/kube", Key: c.credentials.Passphrase,
		Images: c.images(), Prepare: applications.WriteCLI,
		Binds: []machine.Bind{
			{From: c.Applications, To: applications.Mount, ReadOnly: true},
			{From: AuthorityFile(c.State), To: podAuthority, ReadOnly: true},
		},
		Env: map[string]string{
			"AWS_ENDPOINT_URL_S3": c.objects.Endpoint(), "AWS_ENDPOINT_URL_EMR": "http://" + serviceAddress(portEMR),
			"AWS_ENDPOINT_URL_SSM": "http://" + serviceAddress(portSSM), "AWS_ENDPOINT_URL_STS": "http://" + serviceAddress(portSTS),
			"AWS_ENDPOINT_URL_SQS": "http://" + serviceAddress(portSQS),
			"AWS_CA_BUNDLE":        podAuthority,
		},
		Forwards: []machine.Forward{{Port: port, To: serviceAddress(portAppUI)}},
		Pods:     podsPrefix, Gateway: podsGateway, Node: podsHost, Log: c.log,
		Control: c.ec2.Control,
		Claims:  func() (string, error) { return c.ec2.VolumePath(platform.ControlVolumesDir) },
		Expose:  c.exposeWorkload,
	}, nil
}

// serveUIs serves the UIs of clusters with TLS, on the host and inside the region.
func (c *cloud) serveUIs(onHost net.Listener) error {
	config, err := serverTLS(c.State)
	if err != nil {
		return err
	}
	inRegion, err := net.Listen("tcp", serviceAddress(portAppUI))
	if err != nil {
		return err
	}
	for _, l := range []net.Listener{onHost, inRegion} {
		go c.serve(tls.NewListener(l, config), c.clusters.UIs)
	}
	return nil
}
