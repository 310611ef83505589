package lessons_test

import "slices"

// lesson is a defect seen elsewhere.
type lesson struct {
	defect string
	here   string   // what prevents it, or how it would show
	tests  []string // folder and function
}

const (
	life    = "tests/cloud TestLife"
	outages = "tests/cloud TestOutagesLoseNothing"
	jvms    = "assets/node TestLauncherOnRealJVMs"
	stores  = "assets/workloads TestSignalsReachTheirStores"
	clocks  = "tests/phases TestPhasesEqualTheJobsOwnClock"
	divides = "assets/node TestPluginPhasesMatchHandWrittenLogs"
	inSpark = "assets/node TestPluginInSparkWithExecutors"
)

func lessons() []lesson {
	return slices.Concat(signalLessons(), platformLessons(), phaseLessons(), timelineLessons(), historyLessons())
}

// signalLessons returns the lessons about what is measured and how it is labelled.
func signalLessons() []lesson {
	return []lesson{
		{
			"The relay names every host after itself, so all nodes' series collide.",
			"Labels are set on the node; the relay only relays.",
			[]string{"assets/workloads TestRelayPipelinesAddNoLabels", life},
		}, {
			"Dashboards filter by a role that no collector sends.",
			"Queries are checked against the table of emitted metrics and run against a real job's data.",
			[]string{"dashboards TestMetricQueriesMatchContract", life},
		}, {
			"The status page names a bucket and prefix that the server does not use.",
			"One value feeds servers, outputs and /status; objects must appear under each path.",
			[]string{"components/workloads TestStatusServerLoadsItsConfiguration", life},
		}, {
			"A storage prefix is abandoned because of an error in its configuration.",
			"The real servers accept their configuration; blocks appear under their prefixes and are read back.",
			[]string{"assets/workloads TestServersAcceptTheirConfiguration", stores, life},
		}, {
			"A job's own profile name loses to a system property.",
			"A job's settings take precedence over the launcher's.",
			[]string{jvms},
		}, {
			"Executors have no host label, since spark-env does not reach them.",
			"The launcher reads the node's facts, however the JVM was started.",
			[]string{jvms, life},
		}, {
			"Drivers and application masters are missing, depending on the deploy mode.",
			"The launcher finds a driver's application in client and cluster mode.",
			[]string{jvms, "assets/node TestLauncherWaitsForDriverApplicationID"},
		}, {
			"A job that sets extraJavaOptions loses the agents.",
			"The agent is in defaultJavaOptions, which Spark prepends; configuration cannot remove it.",
			[]string{"components/emr TestConfigurationsLoadTheLauncher", "components/emr TestValidateRefuses"},
		}, {
			"A failed download fails the bootstrap action, or the JVMs that need the missing jar.",
			"Artifacts come from the stack's own bucket with their sha256; each part may fail alone and reports it.",
			[]string{"assets/node TestBootstrapContinuesWithoutAPart", life},
		}, {
			"Telemetry is lost while the control node is unreachable.",
			"Queues on disk on both sides, with unlimited retries.",
			[]string{
				"assets/node TestCollectorQueuesOnDiskWhileControlNodeIsDown", "assets/workloads TestCollectorBuffersWhileStoreIsDown", outages,
			},
		},
	}
}

// platformLessons returns the lessons about how the platform is built and operated.
func platformLessons() []lesson {
	return []lesson{
		{
			"Servers run as latest, so tests run other versions than production.",
			"One list of images; the local cloud builds the same versions.",
			[]string{"platform TestImagesArePinned", "toolchain/servers TestServersHaveTheVersionsOfTheImages"},
		}, {
			"YARN, HDFS and Spark themselves are not observed.",
			"Daemon metrics, JVM metrics, and container, daemon and step logs, each from the real source.",
			[]string{
				"dashboards/contract TestDaemonsExposeContractMetrics", "assets/node TestEveryJVMMetricArrives",
				"assets/node TestCollectorReadsLogs", life,
			},
		}, {
			"Signals of one host carry different labels, so links find nothing.",
			"The same labels on metrics, logs, spans and profiles.",
			[]string{"dashboards TestLinksResolve", "assets/node TestExecutorLogsArrive", life},
		}, {
			"Command lines, process ids and random instance ids become labels.",
			"An allow-list of labels; series per host are counted.",
			[]string{"assets/node TestEveryJVMMetricArrives", stores, life},
		}, {
			"Two components generate the same span metrics, which are counted twice.",
			"Tempo has no metrics generator, and no collector has a connector.",
			[]string{"tests/lessons TestNothingGeneratesSpanMetrics"},
		}, {
			"Panels divide used by free, show one file system, or mix executors.",
			"Queries match the contract's units and labels; a share above one is an error; panels by host show each host.",
			[]string{
				"dashboards/check TestAgainstRealStores", "dashboards TestCountersAreNeverReadRaw",
				"dashboards TestMetricQueriesMatchContract", life,
			},
		}, {
			"Open ports, wildcards in policies, an anonymous administrator.",
			"Every rule and policy is listed; scanners' controls are tests.",
			[]string{
				"components/network TestInboundIsExactlyThis", "components/emr TestNodePolicyIsBoundToPrefixes",
				"assets/workloads TestGrafanaRequiresLogin", "tests/controls TestEveryControlIsMetOrExcepted",
			},
		}, {
			"A restart loses the profiler's unflushed data, and blocks expire with the bucket.",
			"Volumes for what is not in S3 yet; no lifecycle rule deletes blocks early; blocks are read back.",
			[]string{
				"tests/lessons TestServersKeepDataOnVolumes", "components/workloads TestMountsHaveVolumesAndFiles",
				"components/storage TestLifecycleSparesBlocks", life,
			},
		}, {
			"A list of workloads to restart contains some that do not exist.",
			"A hash of its configuration in each pod's template.",
			[]string{
				"components/workloads TestEditRestartsOnlyItsReaders", "stacks/changes TestOnlyEditedWorkloadRestarts", life,
			},
		}, {
			"Constants for log paths and poll intervals drift from the parts that use them.",
			"Both are constants of one package; rendered configurations agree, and EMR's pushed logs are found under their paths.",
			[]string{"tests/lessons TestLogPathsAreCollected", "tests/lessons TestIntervalsAgree", life},
		},
	}
}
