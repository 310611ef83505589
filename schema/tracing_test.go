package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func tracing(edit func(*schema.Tracing)) schema.Tracing {
	c := validConfig()
	edit(&c.Tracing)
	return c.Tracing
}

func validateTracing(edit func(*schema.Tracing)) error {
	c := validConfig()
	edit(&c.Tracing)
	return c.Validate()
}

func TestTracesAreKeptByDefault(t *testing.T) {
	require.Equal(t, "1", schema.Defaults().Tracing.Ratio())
	require.False(t, schema.Defaults().Tracing.Copied())
	for ratio, want := range map[float64]string{0: "0", 0.25: "0.25", 1e-7: "0.0000001"} {
		require.Equal(t, want, tracing(func(x *schema.Tracing) { x.SamplingRatio = ratio }).Ratio())
	}
	off := tracing(func(x *schema.Tracing) { x.Enabled, x.Endpoint = false, "otlp.example.com:4317" })
	require.Empty(t, off.Ratio())
	require.False(t, off.Copied())
}

func TestEndpointHasTheFormOfItsProtocol(t *testing.T) {
	for _, c := range []struct {
		protocol, endpoint string
		host               string // "" = refused
		port               int
	}{
		{"grpc", "otlp.example.com:4317", "otlp.example.com", 4317},
		{"grpc", "10.0.0.9:443", "10.0.0.9", 443},
		{"grpc", "jaeger:4317", "jaeger", 4317},
		{"grpc", "otlp.example.com", "", 0},
		{"grpc", "[2001:db8::9]:4317", "", 0},
		{"grpc", "127.0.0.1:4317", "", 0},
		{"grpc", "169.254.169.254:80", "", 0},
		{"grpc", "https://otlp.example.com:4317", "", 0},
		{"grpc", "otlp.example.com:0", "", 0},
		{"grpc", "otlp.example.com:65536", "", 0},
		{"grpc", "otlp.example.com:+443", "", 0},
		{"grpc", "${env:HOME}:4317", "", 0},
		{"grpc", "[fe80::1%eth0]:4317", "", 0},
		{"http", "https://otlp.example.com", "otlp.example.com", 443},
		{"http", "https://otlp.example.com:8443/api/otlp/", "otlp.example.com", 8443},
		{"http", "http://otlp.example.com:4318", "", 0},
		{"http", "otlp.example.com:4318", "", 0},
		{"http", "https://otlp.example.com?api-key=hunter2", "", 0},
		{"http", "https://u:hunter2@otlp.example.com", "", 0},
		{"http", "https://otlp.example.com/#hunter2", "", 0},
		{"http", "https://otlp.example.com/${env:HOME}", "", 0},
		{"http", "https://", "", 0},
	} {
		set := func(x *schema.Tracing) { x.Protocol, x.Endpoint = c.protocol, c.endpoint }
		err := validateTracing(set)
		if c.host == "" {
			require.ErrorContains(t, err, "tracing.endpoint: ", "%v", c)
			require.NotContains(t, err.Error(), "hunter2")
			continue
		}
		require.NoError(t, err, "%v", c)
		host, port, ok := tracing(set).HostPort()
		require.True(t, ok)
		require.Equal(t, c.host, host)
		require.Equal(t, c.port, port)
	}
}

func TestTracingReportsAllFaultsAtOnce(t *testing.T) {
	ca := issuer.Issue(t, nextYear(), domain).Intermediate
	for _, c := range []struct {
		edit  func(*schema.Tracing)
		paths []string
	}{
		{func(x *schema.Tracing) { x.SamplingRatio = 1.5 }, []string{"tracing.samplingRatio"}},
		{func(x *schema.Tracing) { x.SamplingRatio = -0.1 }, []string{"tracing.samplingRatio"}},
		{func(x *schema.Tracing) { x.Protocol, x.ExporterType = "thrift", "jaeger" }, []string{"tracing.exporterType", "tracing.protocol"}},
		{func(x *schema.Tracing) {
			x.Protocol, x.HeadersParameter, x.CACertificate, x.ServiceName = "http", "/a", ca, "spark"
		}, []string{"tracing.caCertificate", "tracing.headersParameter", "tracing.protocol", "tracing.serviceName"}},
		{func(x *schema.Tracing) {
			x.SamplingRatio, x.Endpoint, x.HeadersParameter, x.CACertificate, x.ServiceName = 2, "x", "headers", "PEM", `a"b`
		}, []string{"tracing.caCertificate", "tracing.endpoint", "tracing.headersParameter", "tracing.samplingRatio", "tracing.serviceName"}},
		{func(x *schema.Tracing) { x.Endpoint, x.HeadersParameter = "a:1", "/aws/x" }, []string{"tracing.headersParameter"}},
		{func(x *schema.Tracing) { x.Endpoint, x.CACertificate = "a:1", " \n" }, []string{"tracing.caCertificate"}},
		{func(x *schema.Tracing) { x.Endpoint, x.CACertificate = "a:1", ca+"and so on" }, []string{"tracing.caCertificate"}},
		{func(x *schema.Tracing) {
			x.Endpoint, x.HeadersParameter, x.CACertificate, x.ServiceName = "a:1", "/team/headers", ca+ca, "spark jobs"
		}, nil},
	} {
		var found []string
		for _, v := range violation.All(validateTracing(c.edit)) {
			found = append(found, v.Path)
			require.NotEmpty(t, v.Remedy)
		}
		require.Equal(t, c.paths, found)
	}
}

// A server for the traces gets none while tracing is off.
func TestEndpointWithoutTracingIsWarnedOf(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		set := schema.Defaults().Tracing
		set.Enabled, set.Endpoint = enabled, "traces.example.com:4317"
		var l violation.List
		set.Validate(&l, "tracing")
		require.NoError(t, l.Err())
		if enabled {
			require.Empty(t, l.Warnings())
			continue
		}
		require.Len(t, l.Warnings(), 1)
		require.Equal(t, "tracing.endpoint", l.Warnings()[0].Path)
		require.Contains(t, l.Warnings()[0].Rule, "gets nothing while tracing.enabled is false")
	}
}

func TestHeadersInThePlaceOfTheirParameterAreHidden(t *testing.T) {
	err := validateTracing(func(x *schema.Tracing) { x.Endpoint, x.HeadersParameter = "a:1", "Authorization: Bearer hunter2" })
	require.ErrorContains(t, err, "tracing.headersParameter: [hidden] must be the name of an SSM parameter")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestJaegerIsRefusedWithTheRemedy(t *testing.T) {
	err := validateTracing(func(x *schema.Tracing) { x.ExporterType = "jaeger" })
	require.ErrorContains(t, err, `tracing.exporterType: "jaeger" must be otlp; set it to otlp; Jaeger takes OTLP itself, on its ports 4317`)
}

// A ratio in spark-defaults would be another than that of the steps.
func TestSamplingRatioHasOneKey(t *testing.T) {
	c := validConfig()
	var cluster schema.Cluster
	cluster.SetDefaults()
	cluster.SparkDefaults = map[string]string{"spark.observatory.tracing.samplingRatio": "0.5"}
	c.Clusters["etl"] = cluster
	require.ErrorContains(t, c.Validate(), "set tracing.samplingRatio")
}
