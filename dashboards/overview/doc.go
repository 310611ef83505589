// Package overview is the "EMR Overview" dashboard: whether the platform is
// healthy, what YARN, the hosts, the JVMs and HDFS do, and where to look next.
// One file per row.
//
// It does not show the stages of a single Spark job.
package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The scopes of the rows.
func clusters() scope.Scope     { return scope.Clusters() }
func hosts() scope.Scope        { return scope.Hosts() }
func applications() scope.Scope { return scope.Applications() }

// daemon returns a query on a source that is scraped every DaemonCollectionInterval.
func daemon(query, legend string) panel.Query {
	return panel.Metrics(query, legend).Every(platform.DaemonCollectionInterval)
}

// hostLinks returns the links of a host's series.
func hostLinks() []panel.Link { return links.Host(links.Overview, panel.Field) }

// applicationLinks returns the links of an application's series.
func applicationLinks() []panel.Link { return links.Application(links.Overview) }

// Board returns the dashboard.
func Board() panel.Board {
	return panel.Board{
		UID:   links.Overview,
		Title: "EMR Overview",
		Description: "Health of the EMR clusters and their telemetry. Start with the first row, " +
			"then go to the row of a coloured number.",
		Tags:      []string{platform.Name},
		From:      "now-1h",
		Refresh:   platform.DaemonCollectionInterval.String(),
		Links:     []panel.BoardLink{{Title: "Observatory", Tag: platform.Name}},
		Variables: applications().Variables(),
		Rows:      []panel.Row{health(), yarnRow(), hostRow(), jvms(), hdfs(), events(), profiles(), pipeline(), history()},
	}
}
