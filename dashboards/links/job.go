package links

import (
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Uids of the dashboards that lead to each other.
const (
	Overview  = "emr-overview"
	Timeline  = "job-phase-timeline"
	Profiling = "spark-profiling"
)

// Phases leads from an application's series to where its time went.
func Phases(application string) panel.Link {
	return panel.ToBoard("Phases of this application", Timeline, map[string]string{string(scope.App): application})
}

// Job leads from a panel about the chosen application to everything else about it.
func Job() []panel.Link {
	app := "${" + string(scope.App) + "}"
	return []panel.Link{
		panel.ToTraces("Traces of this application", scope.Spans(platform.SparkAppID, app)),
		panel.ToLogs("Logs of this application", scope.Stream(platform.SparkAppID, app)),
		panel.ToProfile("CPU profile of this application", contract.ProfileCPU, scope.Profiles(platform.SparkAppID, app)),
		panel.ToBoard("Hosts and JVMs of this application", Overview, map[string]string{string(scope.Application): app}),
	}
}

// Trace opens the trace whose id is in a label: the exact timeline.
func Trace(id string) panel.Link { return panel.ToTraces("Exact timeline in the trace", id) }

// RecipeLabel is the label of a finding's series that names its recipe.
const RecipeLabel = "recipe"

// Recipe opens the page of a finding's row: its causes and cures.
func Recipe() panel.Link {
	return panel.Link{Title: "Recipe", URL: platform.SourceURL + rules.RecipesFolder + "/${__data.fields." + RecipeLabel + "}.md"}
}
