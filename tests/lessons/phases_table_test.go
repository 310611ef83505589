package lessons_test

// phaseLessons returns the lessons about what runs in Spark: listeners, their
// configuration and what they measure.
func phaseLessons() []lesson {
	return []lesson{
		{
			"A listener's gauge is registered where nothing exports it.",
			"Metrics of the plugin must arrive behind the node's collector, and every panel shows data of a real job.",
			[]string{"assets/node TestPluginSignalsArrive", inSpark, life},
		}, {
			"A wait begins when its event is delivered, so what was waited before is missing.",
			"Both engines use the events' own times; real jobs write down theirs.",
			[]string{"phases TestGoldenLogs", divides, clocks},
		}, {
			"A session server without work is said to wait for executors.",
			"What serves sessions and has nothing open is idle, a phase of its own.",
			[]string{"phases TestGoldenLogs", "phases TestEngineAgreesWithTheRulesAtEachInstant", divides},
		}, {
			"A listener calls an API that Spark does not have.",
			"The plugin is compiled against Spark, and what it finds by name is looked up in the oldest and the newest Spark.",
			[]string{"assets/node TestPluginFindsWhatItReadsInOtherSparks", "tests/lessons TestNamesAreSparks", inSpark},
		}, {
			"A jar is assembled without what its libraries look for at run time.",
			"The plugin's jar has no libraries; real jobs load the bytes that nodes install.",
			[]string{"assets/node TestPluginJarHasItsOwnClassesAlone", clocks, life},
		}, {
			"The configuration names a class that does not exist, so no SparkContext starts.",
			"It names none: the launcher names the plugin, after its jar was found whole.",
			[]string{"assets/node TestPluginIsNamedOnlyWithItsJar", "components/emr TestConfigurationsLoadTheLauncher"},
		}, {
			"Settings have keys that nothing reads.",
			"Each key is in the classes of Spark or Hadoop, or is one that the platform itself reads.",
			[]string{"tests/lessons TestKeysAreRead", "components/emr TestJobsKnowTheSamplingRatio"},
		}, {
			"A second line for the same key overrides the first, and a job's listeners replace the platform's.",
			"Properties are merged by key; the plugin is in a list that Spark prepends to a job's own.",
			[]string{
				"components/emr TestSparkDefaultsAreMergedByKey", "assets/node TestPluginIsNamedOnlyWithItsJar",
				"assets/node TestReplacedSparkPropertiesDoNotBreakAJob",
			},
		}, {
			"Tracing is configured in three places, and the switch turns nothing on.",
			"One setting decides; each variant is rehearsed, and a job without the ratio sends no span.",
			[]string{
				"schema TestSamplingRatioHasOneKey", "stacks TestOneRatioServesJobsAndSteps", "stacks TestTracingVariantsAreRehearsed",
				"assets/node TestPluginWithoutTracingAndStop",
			},
		}, {
			"Metrics of S3A have names that S3A does not use.",
			"Each counter is one of S3A's own list, and arrives from a real job that writes to S3.",
			[]string{"assets/node TestSparkAndHadoopHaveWhatTheLauncherReads", life},
		}, {
			"Skew is bytes read divided by bytes written; serialization, spill and idle executors are not measured.",
			"They are computed from the tasks' own metrics, and compared with sums made by hand.",
			[]string{"assets/node TestPluginAddsUpTasks", life},
		}, {
			"A large application's trace exceeds the limit of the store, which drops the rest silently.",
			"A trace has a budget below the limit; what is over it is counted on the root, and the store refuses nothing.",
			[]string{
				"assets/workloads TestStoreAcceptsLargestTrace", "assets/node TestPluginKeepsTheBudgetOfATrace",
				"phases/spans TestBudgetOfATrace",
			},
		}, {
			"Tests read the keys of a file of values; nothing is rendered, loaded or parsed.",
			"Tests run real jobs on a real YARN, and every query against the real stores.",
			[]string{clocks, inSpark, "dashboards/check TestAgainstRealStores", life},
		},
	}
}

// timelineLessons returns the lessons about dashboards of phases.
func timelineLessons() []lesson {
	return []lesson{
		{
			"A Gantt chart of phases is a chart of lines.",
			"Phases over time are a state timeline, whose states have names.",
			[]string{"dashboards/panel TestStateTimelineNamesItsStates", "dashboards/check TestTimelineOfAnEndedApplication"},
		}, {
			"A quantile is computed of a gauge.",
			"Quantiles read the increase of a histogram's buckets, and nothing else.",
			[]string{"dashboards TestQuantilesReadIncreasesOfBuckets", "dashboards TestMetricQueriesMatchContract"},
		}, {
			"The share of a phase divides it by another phase.",
			"Shares are of the wall time and add up to one; a share above one is an error.",
			[]string{inSpark, "dashboards/check TestTimelineOfAnEndedApplication", "dashboards/check TestAgainstRealStores"},
		}, {
			"Grafana ignores a dashboard whose file has a wrapper or a misspelt key.",
			"Dashboards are rendered from Grafana's own types, and read strictly by them.",
			[]string{"dashboards TestPanelsAreComplete", "dashboards/panel TestPanelsFillGridLines", life},
		}, {
			"Queries do not parse, or name metrics that nobody emits.",
			"Each is parsed and compared with the table of emitted metrics, which real jobs must fill.",
			[]string{
				"dashboards TestMetricQueriesMatchContract", "dashboards/contract TestVictoriaMetricsStoresContractNames", life,
			},
		},
	}
}
