package main

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
)

// traceLink returns the URL of a trace on the local cloud, in Grafana if it runs.
func traceLink(ctx context.Context, running localcloud.Running, of imported) string {
	span := url.Values{"from": {strconv.FormatInt(of.Begin, 10)}, "to": {strconv.FormatInt(of.End, 10)}}
	values := strings.NewReplacer("${"+platform.LinkTrace+"}", of.TraceID, "${"+platform.LinkTimeRange+"}", span.Encode())
	for _, target := range links.TraceByID() {
		if target.Service == platform.WorkloadGrafana && !local.GrafanaRuns(ctx, running) {
			continue
		}
		if at := running.URL(string(target.Service)); at != "" {
			return at + values.Replace(target.Path)
		}
	}
	return ""
}
