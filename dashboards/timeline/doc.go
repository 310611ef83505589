// Package timeline is the dashboard "Job Phase Timeline": where the time of one Spark
// application goes, while it runs and afterwards. One file per row.
//
// It shows neither the code that an application spends its time in, which is what
// profiles are for, nor single stages and tasks, which the trace shows.
package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Board returns the dashboard.
func Board() panel.Board {
	return panel.Board{
		UID:   links.Timeline,
		Title: "Job Phase Timeline",
		Description: "Where the time of one Spark application goes: waiting for executors, computing, writing, or in the driver. " +
			"The numbers of an application that has ended are those it ended with.",
		Tags:      []string{platform.Name},
		From:      "now-6h",
		Refresh:   platform.DaemonCollectionInterval.String(),
		Links:     []panel.BoardLink{{Title: "Observatory", Tag: platform.Name}},
		Variables: scope.OneApplicationVariables(),
		Rows:      []panel.Row{phases(), indicators(), executors(), tasks(), shuffle(), storage(), context(), telemetry()},
	}
}
