package stacks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// recordTracing records the program with this section of the configuration.
func recordTracing(t *testing.T, tracing string) *recorder.Recording {
	t.Helper()
	cfg := parseConfig(t, map[string]string{"tracing": tracing})
	rec, err := recorder.Run(func(ctx *pulumi.Context) error { return stacks.Build(ctx, cfg, trial.Materials(t)) }, trial.Answers()...)
	require.NoError(t, err)
	return rec
}

// inputs returns all inputs of the resources that a configuration registers, as JSON.
func inputs(t *testing.T, tracing string) string {
	t.Helper()
	var all strings.Builder
	for _, r := range recordTracing(t, tracing).Resources {
		fmt.Fprintf(&all, "%v\n", r.Inputs.Mappable())
	}
	return all.String()
}

// Jobs and steps have the same ratio, and no key where tracing is off.
func TestOneRatioServesJobsAndSteps(t *testing.T) {
	const flag = "--sampling-ratio"
	on := inputs(t, `{"samplingRatio":0.25}`)
	require.Contains(t, on, platform.SparkSamplingRatio+`":"0.25"`)
	require.Contains(t, on, flag)
	off := inputs(t, `{"enabled":false,"endpoint":"otlp.example.com:4317"}`)
	require.NotContains(t, off, "spark.observatory.tracing")
	require.NotContains(t, off, flag)
	require.NotContains(t, off, "otlp.example.com")
}

// What a copy of the traces needs on AWS: a way out where HTTPS is none, and the right
// to one parameter, whose value the program never sees.
func TestACopyOfTracesNeedsOnlyItsPortAndItsParameter(t *testing.T) {
	for name, c := range map[string]struct {
		tracing, rule string // "" = no rule
	}{
		"a name":           {`{"endpoint":"otlp.example.com:4317"}`, "0.0.0.0/0 4317"},
		"an address":       {`{"endpoint":"10.9.8.7:4317"}`, "10.9.8.7/32 4317"},
		"HTTPS":            {`{"endpoint":"https://otlp.example.com/api","protocol":"http"}`, ""},
		"HTTP's own port":  {`{"endpoint":"https://otlp.example.com:4318","protocol":"http"}`, "0.0.0.0/0 4318"},
		"gRPC over 443":    {`{"endpoint":"otlp.example.com:443"}`, ""},
		"none":             {`{}`, ""},
		"off":              {`{"enabled":false,"endpoint":"otlp.example.com:4317","headersParameter":"/team/headers"}`, ""},
		"with headers too": {`{"endpoint":"otlp.example.com:443","headersParameter":"/team/headers"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rec := recordTracing(t, c.tracing)
			r, err := rec.One("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "network-control-traces-out")
			if c.rule == "" {
				require.Error(t, err, "a rule without need")
			} else {
				require.NoError(t, err)
				require.Equal(t, c.rule, fmt.Sprint(r.Inputs["cidrIpv4"].StringValue(), " ", r.Inputs["toPort"].NumberValue()))
			}
			policy, err := rec.One("aws:iam/rolePolicy:RolePolicy", "control-access")
			require.NoError(t, err)
			require.Equal(t, name == "with headers too", strings.Contains(fmt.Sprint(policy.Inputs.Mappable()), "parameter/team/headers"))
			require.Equal(t, 1, strings.Count(strings.Join(rec.Invokes, " "), "aws:ssm/getParameter:"), "only the image is looked up")
		})
	}
}

// The engine and the provider servers accept every variant.
func TestTracingVariantsAreRehearsed(t *testing.T) {
	ca, err := json.Marshal(issuer.Issue(t, time.Now().AddDate(1, 0, 0), "otlp.example.com").Intermediate)
	require.NoError(t, err)
	engine, program := trial.Pulumi(t), trial.Program(trial.Materials(t))
	for name, tracing := range map[string]string{
		"off": `{"enabled":false}`, "on": `{"samplingRatio":0.1}`,
		"grpc":    `{"endpoint":"otlp.example.com:4317","serviceName":"spark"}`,
		"http":    `{"endpoint":"https://otlp.example.com:4318","protocol":"http"}`,
		"headers": `{"endpoint":"otlp.example.com:4317","headersParameter":"/team/trace-headers"}`,
		"CA":      `{"endpoint":"10.9.8.7:4317","caCertificate":` + string(ca) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			values := auto.ConfigMap{platform.Project + ":tracing": {Value: tracing}}
			for k, v := range trial.Values(t, "local") {
				values[k] = auto.ConfigValue{Value: v}
			}
			rehearseIt := rehearse.Preview
			if name == "headers" { // the most resources
				rehearseIt = rehearse.Run
			}
			report, err := rehearseIt(t.Context(), program, rehearse.Options{
				Project: platform.Project, Stack: "local", Config: values, PulumiCommand: engine, WorkDir: t.TempDir(),
			})
			require.NoError(t, err)
			require.Greater(t, report.Checked, 100)
		})
	}
}
