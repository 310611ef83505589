package grafana

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Datasource is one datasource before its URL is known.
type Datasource struct {
	UID      platform.Datasource
	Name     string
	Type     string // Grafana's plugin id
	Workload platform.Workload
	Default  bool
	JSON     map[string]any // jsonData
}

// Datasources returns the four stores, each with links from its signal to the others.
func Datasources() []Datasource {
	return []Datasource{
		{UID: platform.DatasourceMetrics, Name: "VictoriaMetrics", Type: panel.PluginMetrics, Workload: platform.WorkloadVictoriaMetrics,
			Default: true, JSON: map[string]any{
				"httpMethod": "POST", "manageAlerts": false, "prometheusType": "Prometheus",
				// The fastest source reports every 10 s; a rate needs no shorter step.
				"timeInterval":                "10s",
				"exemplarTraceIdDestinations": []any{map[string]any{"name": "trace_id", "datasourceUid": platform.DatasourceTraces}},
			}},
		{UID: platform.DatasourceLogs, Name: "VictoriaLogs", Type: panel.PluginLogs, Workload: platform.WorkloadVictoriaLogs,
			JSON: map[string]any{
				"maxLines": 1000,
				"derivedFields": []any{map[string]any{
					"name": "trace", "matcherType": "label", "matcherRegex": "trace_id",
					"url": "${__value.raw}", "urlDisplayLabel": "Trace", "datasourceUid": platform.DatasourceTraces,
				}},
			}},
		{UID: platform.DatasourceTraces, Name: "Tempo", Type: panel.PluginTraces, Workload: platform.WorkloadTempo, JSON: traceLinks()},
		{UID: platform.DatasourceProfiles, Name: "Pyroscope", Type: panel.PluginProfiles, Workload: platform.WorkloadPyroscope,
			JSON: map[string]any{
				"minStep": "15s", // profiles arrive about every 10 s; every step should contain one
			}},
	}
}

// traceLinks link a span to the logs, metrics and CPU profiles of its cluster at
// the same time. Grafana hides a link whose variable the span lacks.
func traceLinks() map[string]any {
	tag := func(l platform.Label) string { return `${__span.tags["` + string(l) + `"]}` }
	return map[string]any{
		"nodeGraph": map[string]any{"enabled": true},
		"tracesToLogsV2": map[string]any{
			"datasourceUid": platform.DatasourceLogs, "spanStartTimeShift": "-1m", "spanEndTimeShift": "1m",
			// Log lines of daemons and containers have no trace id: find them by cluster and time.
			"customQuery": true, "query": string(platform.Cluster) + `:="` + tag(platform.Cluster) + `"`,
		},
		"tracesToMetrics": map[string]any{
			"datasourceUid": platform.DatasourceMetrics, "spanStartTimeShift": "-1m", "spanEndTimeShift": "1m",
			"tags": []any{map[string]any{"key": platform.Cluster, "value": platform.Cluster.Metric()}},
			"queries": []any{
				map[string]any{"name": "Busy cores by host",
					"query": `sum by (host_name) (rate(system_cpu_time_seconds_total{$__tags, state!="idle"}[$__rate_interval]))`},
				map[string]any{"name": "Heap by executor",
					"query": `sum by (spark_app_id, spark_executor_id) (jvm_memory_used_bytes{$__tags, jvm_memory_type="heap"})`},
			},
		},
		"tracesToProfiles": map[string]any{
			"datasourceUid": platform.DatasourceProfiles, "profileTypeId": contract.ProfileCPU,
			"tags":        []any{map[string]any{"key": platform.Cluster, "value": platform.Cluster.Metric()}},
			"customQuery": true, "query": `{` + platform.Cluster.Metric() + `="` + tag(platform.Cluster) + `"}`,
		},
	}
}

func (b *builder) createDatasources() ([]pulumi.Resource, error) {
	var out []pulumi.Resource
	endpoints := b.endpoints()
	for _, d := range Datasources() {
		settings, err := json.Marshal(d.JSON)
		if err != nil {
			return nil, fmt.Errorf("marshal datasource %s: %w", d.UID, err)
		}
		created, err := oss.NewDataSource(b.Ctx, b.Name(string(d.UID)), &oss.DataSourceArgs{
			Name: pulumi.String(d.Name), Uid: pulumi.String(d.UID), Type: pulumi.String(d.Type),
			AccessMode: pulumi.String("proxy"), IsDefault: pulumi.Bool(d.Default),
			Url:             endpoints.MapIndex(pulumi.String(d.Workload)),
			JsonDataEncoded: pulumi.String(settings),
		}, b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("create datasource %s: %w", d.UID, err)
		}
		out = append(out, created)
	}
	return out, nil
}

// endpoints returns the stores' URLs as Grafana reaches them, after checking that
// every datasource has one. All missing ones are reported together.
func (b *builder) endpoints() pulumi.StringMapOutput {
	return b.args.Endpoints.ToStringMapOutput().ApplyT(func(m map[string]string) (map[string]string, error) {
		var l violation.List
		for _, d := range Datasources() {
			l.Require(m[string(d.Workload)] != "", "grafana.endpoints."+string(d.Workload), nil, "must be set: its datasource needs a URL",
				"pass the endpoints of the workloads")
		}
		return m, l.Err()
	}).(pulumi.StringMapOutput)
}
