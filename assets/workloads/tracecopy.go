package workloadconfig

import (
	_ "embed"
	"path"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	traceCAFile      = "trace-ca.pem"      // in ConfigDir
	traceHeadersFile = "traceheaders.yaml" // in PreparedDir
)

// traceCopy is the collector's exporter to the second destination of traces.
type traceCopy struct {
	Exporter   string // its id
	Endpoint   string
	CAFile     string // "" = public authorities
	QueueBytes int
	BatchBytes int

	ServiceName string // "" = as it is
}

// newTraceCopy returns nil for none.
func newTraceCopy(t schema.Tracing) *traceCopy {
	if !t.Copied() {
		return nil
	}
	c := &traceCopy{
		Exporter: "otlp_" + t.Protocol + "/copy", Endpoint: t.Endpoint, ServiceName: t.ServiceName,
		QueueBytes: platform.TraceCopyQueueGiB << 30,
		// Well below the 4 MiB that a server of gRPC takes by default, whoever runs it.
		BatchBytes: 2 << 20,
	}
	if t.CACertificate != "" {
		c.CAFile = path.Join(ConfigDir, traceCAFile)
	}
	return c
}

// addTraceCopy adds what the exporter reads. The headers are a second configuration
// file, which the collector merges into the first.
func (c *Config) addTraceCopy(t schema.Tracing) {
	if !t.Copied() {
		return
	}
	if t.CACertificate != "" {
		c.Files[traceCAFile] = t.CACertificate
	}
	if t.HeadersParameter == "" {
		return
	}
	file := path.Join(PreparedDir, traceHeadersFile)
	c.Args = append(c.Args, "--config="+file)
	c.Preparation = &Preparation{Name: "trace-headers", Script: traceHeaders, Env: map[string]string{
		"PARAMETER": t.HeadersParameter, "EXPORTER": newTraceCopy(t).Exporter, "FILE": file, "NOWHERE": placeholderEndpoint(t.Protocol),
	}}
}

//go:embed traceheaders.sh
var traceHeaders string

// placeholderEndpoint is an endpoint at which nothing listens: the collector retries until
// it is restarted with another.
func placeholderEndpoint(protocol string) string {
	const address = platform.Loopback + ":9"
	if protocol == schema.ProtocolHTTP {
		return "https://" + address
	}
	return address
}
