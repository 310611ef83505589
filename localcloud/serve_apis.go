package localcloud

import (
	"net"
	"net/http"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/iamapi"
	"github.com/emr-observatory/emr-observatory/localcloud/sigv4"
	"github.com/emr-observatory/emr-observatory/platform"
)

// serveAPIs serves the APIs of EMR, Systems Manager, SQS and STS inside the region, and what
// stands in for Grafana. It returns EMR's.
func (c *cloud) serveAPIs() (http.Handler, error) {
	api, err := emrapi.New(c.store, c.clusters, c.log, emrapi.Options{UIs: c.clusters.UIs, SeesProfile: c.seesProfile})
	if err != nil {
		return nil, err
	}
	emr := c.signed("elasticmapreduce", sigv4.JSON, api)
	for port, handler := range map[platform.Port]http.Handler{
		portEMR: emr, portSSM: c.signed("ssm", sigv4.JSON, c.ec2.Parameters()),
		portSQS: c.signed("sqs", sigv4.JSON, c.queues),
		portSTS: c.signed("sts", sigv4.Query, &iamapi.STS{Roles: c.objects.Roles, Log: c.log}),
	} {
		l, err := net.Listen("tcp", serviceAddress(port))
		if err != nil {
			return nil, err
		}
		go c.serve(l, handler)
	}
	return emr, c.serveGrafana()
}

func (c *cloud) iamAPI() http.Handler {
	return c.signed("iam", sigv4.Query, &iamapi.Server{Roles: c.objects.Roles, AccountID: AccountID, Log: c.log})
}

// signed passes on the requests to an AWS API that are signed with the local cloud's keys: the
// user's, and those of roles.
func (c *cloud) signed(service string, refuse func(http.ResponseWriter, sigv4.Refusal), api http.Handler) http.Handler {
	return sigv4.API{
		Service: service, Region: AWSRegion, Refuse: refuse,
		Secret: func(keyID string) (string, bool) {
			if keyID == c.credentials.AccessKeyID {
				return c.credentials.SecretAccessKey, true
			}
			return c.objects.Roles.Secret(keyID)
		},
	}.Handler(api)
}
