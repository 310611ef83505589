package lessons_test

// Tests that several lessons of the history cite.
const (
	roads = "tests/history TestEventLogAndRESTRowsAgree"
	loses = "tests/history TestFaultsLoseNothing"
	onEMR = "profiler/run TestClustersOfEMR"
)

// historyLessons returns the lessons about reading Spark's history.
func historyLessons() []lesson {
	return []lesson{
		{
			"Applications in client mode have no attempt, and are left out.",
			"The attempt is an empty part of the key, and of no path.",
			[]string{"profiler/history TestPathsHaveNoEmptyAttempt", roads},
		}, {
			"Only what succeeded is asked for, so failures never reach the tables.",
			"Failed, killed and running applications, jobs and stages are rows like others.",
			[]string{roads, "profiler/fold TestFailures", "profiler/run TestRunningCluster", life},
		}, {
			"The server answers 20 executions, and nobody asks for the rest.",
			"Pages are read until one is short, also where a server does not page.",
			[]string{"profiler/history TestEveryExecutionOnce", "tests/history TestWhatTheServerDropped"},
		}, {
			"Stages are requested with all their tasks, which are then thrown away.",
			"The list of stages has no tasks; quantiles are asked for by stage.",
			[]string{"profiler/history TestStagesAreListedWithoutTheirTasks"},
		}, {
			"Long plans are left out, which are often those of the slowest queries.",
			"An execution whose plan is too long keeps its row, and completeness names it.",
			[]string{"profiler/history TestLongPlansAreLeftOut"},
		}, {
			"A rate in percent is compared with a fraction, so its flag never shows.",
			"The limit is a percentage, tried on both sides.",
			[]string{"profiler/fold TestInefficiency"},
		}, {
			"The maximum of what tasks wrote is taken from what they read, and medians from minima.",
			"Each flag is tried with its own quantile alone.",
			[]string{"profiler/fold TestInefficiency", "profiler/fold TestQuantilesOfTasks"},
		}, {
			"Tables are joined by stage ids, which repeat in each application.",
			"Each table has cluster, application and attempt; no key occurs twice.",
			[]string{"profiler/tables TestColumnsAreDocumented", "profiler/fold TestHostileNumbers", "profiler/lake TestSQLQueriesAgree"},
		}, {
			"The rule of skew fires on nearly every stage with many tasks.",
			"A stage must also take a part of the run, and the finding says what it cost.",
			[]string{"profiler/findings TestSkew", "profiler/judge TestFindingsOfLogs"},
		}, {
			"A session expires, and the rest of the cluster is lost.",
			"A new presigned URL is asked for, once for all requests, and the same page is read again.",
			[]string{"profiler/history TestLogsInAgainWhenTheSessionEnds", "profiler/history TestManyRequestsShareOneLogin", loses},
		}, {
			"The old presigned URL is opened again, which works once only.",
			"Each login has a URL of its own.",
			[]string{"profiler/history TestURLThatHasExpiredIsNotOpenedAgain", "localcloud/emrapi TestBoto3OpensPersistentUIs"},
		}, {
			"Only ARNs of the partition aws are taken.",
			"Any partition's are.",
			[]string{"profiler/source TestClusterARNs"},
		}, {
			"Jobs and stages name the same count differently, and a tool reads null.",
			"Answers are types; each cell of both roads is compared.",
			[]string{roads},
		}, {
			"Each question creates another persistent UI, until the account has no more.",
			"One for each cluster, whose id is kept; the quota is kept below its limit.",
			[]string{onEMR, "profiler/run TestLimitsOfClustersAndUIs", "localcloud/emrapi TestPersistentUIsAreKept"},
		}, {
			"Quantiles are read as an object with a minimum, and the first stage ends the analysis.",
			"They are lists in the order of the request, equal to the server's to the digit.",
			[]string{roads, "profiler/fold TestQuantilesOfTasks"},
		}, {
			"The list of rights lacks a call that the program makes.",
			"Rights come from the calls that a recorded run made.",
			[]string{"profiler/run TestCallsAreListed"},
		}, {
			"A second run doubles the rows of the first, or replaces those of the day.",
			"An attempt has one object in each table, with the same bytes for the same rows.",
			[]string{"profiler/run TestFolderOfLogs", "profiler/lake TestKilledWriterResumes", life},
		}, {
			"A library writes texts that Spark reads as empty, and reads null as 0.",
			"DuckDB and Spark answer the same questions alike.",
			[]string{"profiler/lake TestSQLQueriesAgree", "profiler/lake TestRowsRoundTrip"},
		},
	}
}
