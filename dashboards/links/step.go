package links

import (
	"fmt"
	"net/url"

	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Titles of a step's links.
const (
	stepTrace      = "trace"
	stepLogs       = "logs"
	stepProfile    = "profile"
	stepTimeline   = platform.TimelineLink
	stepDashboards = "dashboards"
	stepHistory    = "Spark history"
)

// Step leads to everything about a step of an EMR cluster, with the variables
// platform.Link… in it. Of the targets with one title, the first counts whose server
// can be reached and whose variables are known: Grafana before a store's own UI or
// API, and a link that names the application before one that does not.
func Step() []Target {
	cluster, step, application := variable(platform.LinkCluster), variable(platform.LinkStep), variable(platform.LinkApplication)
	name := variable(platform.LinkClusterName)
	end, seconds := variable(platform.LinkEnd), variable(platform.LinkSeconds)
	ofStep := fmt.Sprintf(`"%s":="%s"`, platform.StepID, step)
	ofBoth := fmt.Sprintf(`%s or "%s":="%s"`, ofStep, platform.SparkAppID, application)
	ofApplication, ofCluster := scope.Profiles(platform.SparkAppID, application), scope.Profiles(platform.Cluster, cluster)
	return append(TraceByID(), []Target{
		on(platform.WorkloadGrafana, panel.ToLogs(stepLogs, ofBoth)),
		on(platform.WorkloadGrafana, panel.ToLogs(stepLogs, ofStep)),
		on(platform.WorkloadVictoriaLogs, panel.ToLogsUI(stepLogs, ofBoth, end, seconds)),
		on(platform.WorkloadVictoriaLogs, panel.ToLogsUI(stepLogs, ofStep, end, seconds)),
		on(platform.WorkloadGrafana, panel.ToProfile(stepProfile, contract.ProfileCPU, ofApplication)),
		on(platform.WorkloadGrafana, panel.ToProfile(stepProfile, contract.ProfileCPU, ofCluster)),
		renderedProfile(ofApplication),
		renderedProfile(ofCluster),
		on(platform.WorkloadGrafana, panel.ToBoard(stepTimeline, Timeline, map[string]string{
			string(scope.ClusterName): name, string(scope.App): application,
		})),
		{Title: stepTimeline, Service: platform.WorkloadStatus, Path: platform.StatusApplicationsPath + "/" + application},
		on(platform.WorkloadGrafana, panel.ToBoard(stepDashboards, Overview, map[string]string{
			string(scope.ClusterName): name, string(scope.Application): application,
		})),
		on(platform.WorkloadGrafana, panel.ToBoard(stepDashboards, Overview, map[string]string{string(scope.ClusterName): name})),
		on(platform.WorkloadVictoriaMetrics, panel.ToPredefined(stepDashboards, end, seconds)),
		{Title: stepHistory, Service: platform.ServiceSparkHistory, Path: "/history/" + application + "/"},
		{Title: stepHistory, Service: platform.ServiceSparkHistory, Path: "/"},
		// On AWS nobody outside the VPC reaches the primary node; the console's page of the
		// cluster leads to its persistent Spark history server (EMR Management Guide, "View
		// persistent application user interfaces").
		{Title: stepHistory, Service: platform.ServiceConsole, Path: "/emr/home?region=" + variable(platform.LinkRegion) +
			"#/clusterDetails/" + cluster},
	}...)
}

// TraceByID leads to a trace, as Step does.
func TraceByID() []Target {
	trace := variable(platform.LinkTrace)
	return []Target{
		on(platform.WorkloadGrafana, panel.ToTraces(stepTrace, trace)),
		{Title: stepTrace, Service: platform.WorkloadTempo, Path: "/api/traces/" + trace},
	}
}

// renderedProfile leads to a profile in Pyroscope's API: its UI is no part of the
// server that its Go module builds.
func renderedProfile(selector string) Target {
	return Target{Title: stepProfile, Service: platform.WorkloadPyroscope, Path: "/pyroscope/render?" + panel.EncodeQuery(url.Values{
		"query": {contract.ProfileCPU + selector},
		"from":  {variable(platform.LinkFrom)}, "until": {variable(platform.LinkTo)},
	})}
}

func on(service platform.Workload, link panel.Link) Target {
	return Target{Title: link.Title, Service: service, Path: link.URL}
}

// variable writes a variable as in Grafana's links.
func variable(name string) string { return "${" + name + "}" }
