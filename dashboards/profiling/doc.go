// Package profiling is the dashboard "Spark Profiling": what kind of slow an application is,
// and in which code. One file per row.
//
// It does not divide the wall clock, which is what the timeline is for. Its findings are those
// of the rules that metrics can judge; the history has them all.
package profiling

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Board returns the dashboard.
func Board() panel.Board {
	return panel.Board{
		UID:   links.Profiling,
		Title: "Spark Profiling",
		Description: "What kind of slow one Spark application is: garbage collection, skew, spill, shuffle, idle cores, and the code that " +
			"takes the time. The numbers of an application that has ended are those it ended with.",
		Tags:      []string{platform.Name},
		From:      "now-6h",
		Refresh:   platform.DaemonCollectionInterval.String(),
		Links:     []panel.BoardLink{{Title: "Observatory", Tag: platform.Name}},
		Variables: append(scope.OneApplicationVariables(), scope.ExecutorsOfOne()),
		Rows:      []panel.Row{findings(), tasks(), memory(), shuffle(), cores(), queues(), code()},
	}
}
