package coverage_test

// Files and tests that several rows of the document of architectures cite.
const (
	architectures   = "docs/guides/architectures.md"
	estimates       = "docs/guides/architectures.md#what-it-costs"
	whoSets         = "explain TestEveryValueHasASetter"
	presetsPage     = "docs/reference/presets.md"
	tenantPreset    = "docs/reference/presets.md#multi-tenant"
	queues          = "observe TestTenantsAreQueues"
	lakePreset      = "docs/reference/presets.md#data-lake"
	streamPreset    = "docs/reference/presets.md#streaming"
	memoryPreset    = "docs/reference/presets.md#memory-optimized"
	diskPreset      = "docs/reference/presets.md#io-optimized"
	notebookPreset  = "docs/reference/presets.md#interactive"
	refusals        = "docs/reference/errors.md#configuration"
	refusalsRun     = "stacks/config TestEveryErrorNamesAllFourParts"
	asItStands      = "stacks/config TestEveryPresetIsAClusterAsItStands"
	stayAsTheyAre   = "tests/schema TestClustersOfEveryKeyStayAsTheyAre"
	releaseTakes    = "schema TestInstanceTypeByRelease"
	rulesPaired     = "schema TestScalingRulesOfBothKinds"
	rulesFollowed   = "localcloud/emr TestAutomaticScalingFollowsItsRules"
	managedFollowed = "localcloud/emr TestManagedScalingFollowsDemand"
	sideBySide      = "localcloud/emr TestClustersSideBySide"
	workedByHand    = "cost TestClustersWorkedOutByHand"
	ownActions      = "components/emr TestUsersActionsFollowThePlatformsInOrder"
	moreGroups      = "components/emr TestAdditionalGroupsFollowTheObservedOne"
	merged          = "components/emr TestClassificationsAreMergedWithThePlatforms"
	launched        = "components/emr TestLaunchSettings"
	glueTables      = "components/emr TestGlueIsTheMetastoreOfHiveAndSpark"
	accessGiven     = "components/emr TestAccessGivesTheNodesWhatJobsNeed"
	fitOfExecutors  = "schema TestExecutorsAgainstNodes"
	classifications = "localcloud/hadoop TestEachClassificationHasItsFile"
	subnetsByFleet  = "components/emr TestFleetsReplaceGroups"

	sparkDefault = "It is Spark's default, which the preset leaves as it is."
	emrDefault   = "It is EMR's default."
	byKeys       = "The configuration's keys say it; no preset has it yet."
	fiveMinutes  = "EMR sends its metrics every 300 seconds, so that no other period is taken."
	fromTheLeast = "It starts with the least of its rules, to which they return it without work anyway."
	bothWays     = "Rules that only add nodes are refused: the group would grow to its most and stay there."
	gpuGuide     = "docs/guides/architectures.md#gpus"
	gpuPreset    = "schema/presets/machine-learning.yaml"
	costsSaid    = "Estimate and budget say before the update what clusters may cost; the profiler says what they have."
	costsDivided = "profiler/spend TestRowsOfACluster"
)

// architecturesDocument answers what is wanted of clusters for the work of several kinds.
func architecturesDocument() document {
	return document{
		"Architectures of clusters",
		"Which clusters teams want for their kinds of work, with settings. What its blocks of code repeat is answered where it is first.",
		[]section{
			{"Resource purpose", architecturePurpose()},
			{"Key architectural patterns", architecturePatterns()},
			{"Data lake: the cluster", lakeCluster()},
			{"Data lake: groups and scaling", lakeGroups()},
			{"Data lake: settings", lakeSettings()},
			{"Data lake: actions, logs and trigger", lakeSurroundings()},
			{"Machine learning", learningCluster()},
			{"Machine learning: settings", learningSettings()},
			{"Stream processing", streamCluster()},
			{"Stream processing: settings", streamSettings()},
			{"Multi-tenant analytics", tenantCluster()},
			{"Multi-tenant analytics: settings", tenantSettings()},
			{"Memory-optimized", memoryCluster()},
			{"I/O optimized", diskCluster()},
			{"The closing sentence", architectureClosing()},
		},
	}
}

func architecturePurpose() []row {
	return []row{
		{
			"A cluster is managed infrastructure for the processing of big data.", done, "",
			at{"components/emr/cluster.go", "tests/cloud TestLife"},
		},
		{
			"It ranges from one node for development to massive production clusters.", done, "",
			at{"docs/reference/presets.md#development", "components/emr TestAPrimaryNodeMayBeAlone", "schema TestMostNodesOfACluster"},
		},
		{
			"It runs the applications of Hadoop's ecosystem.", done, "Those of its release.",
			at{configuration, "schema TestReleaseHasApplication"},
		},
		{"It runs Spark for analytics.", done, "", at{lakePreset, "tests/cloud TestLife"}},
		{"It runs machine learning.", done, "On GPUs, by the preset machine-learning.", at{gpuGuide, gpuPreset, asItStands}},
		{"It runs interactive data science.", done, "", at{notebookPreset, asItStands}},
		{"It scales by itself.", done, "By rules of a group, or as EMR decides.", at{configuration, rulesFollowed, managedFollowed}},
		{
			"It is fault-tolerant.", done, "Unhealthy core nodes are replaced, and there may be three primary nodes.",
			at{configuration, launched, "tests/cloud TestOutagesLoseNothing"},
		},
		{"Its cost is optimized.", done, costsSaid, at{estimates, workedByHand, "cost TestBudget", costsDivided}},
	}
}

func architecturePatterns() []row {
	return []row{
		{"Groups of task nodes scale with the demand of the workload.", done, "", at{lakePreset, rulesFollowed, sideBySide}},
		{
			"Primary, core and task nodes have types for their own kind of work.", done, "",
			at{lakePreset, "components/emr TestTaskGroupsByKey", stayAsTheyAre},
		},
		{
			"Spot instances are managed intelligently, and save cost.", done,
			"Fleets choose types by price and capacity. Presets with spot nodes keep application masters away from them.",
			at{configuration, lakePreset, sideBySide, "stacks TestPreviewRefusesSpotWithoutTheAccountsRole"},
		},
		{
			"Clusters are spread over several zones, for fault tolerance.", corrected,
			"EMR runs a cluster in one zone. With fleets it chooses the zone from those of `subnets`.", at{configuration, subnetsByFleet},
		},
		{
			"The cluster has HDFS, and S3 is the persistent storage of the data lake.", done, "",
			at{"docs/reference/outputs.md", "components/emr TestNodePolicyIsBoundToPrefixes", "tests/cloud TestLife"},
		},
		{
			"Metadata is in Glue's Data Catalog.", done, "",
			at{"docs/guides/architectures.md#batch-work-over-glues-tables", glueTables, "components/emr TestGlueCatalogCanBeConnectedTo"},
		},
		{
			"Parquet, ORC and compression are supported natively.", done, "They are Spark's and Hive's own; findings name files that are too small.",
			at{"docs/reference/rules.md#small_files_read", "docs/reference/rules.md#small_files_written", "tests/phases TestSickAndCured"},
		},
		{
			"Partitions are pruned, and predicates pushed down.", done, "Spark does so by default, and the presets leave that as it is.",
			at{lakePreset},
		},
		{"One cluster handles batch and streaming work.", done, "", at{"docs/guides/architectures.md#a-data-lakes-cluster", asItStands}},
		{
			"Speed layer and batch layer of a lambda architecture share the infrastructure.", corrected,
			"YARN places executors of both on any node. Give each layer a tenant's share.", at{lakePreset, tenantPreset},
		},
		{
			"Checkpoints persist the state of streams, for fault tolerance.", done, "Flink's are in the data bucket; Spark's are where a job says.",
			at{streamPreset, "docs/guides/architectures.md#streams", stayAsTheyAre},
		},
		{
			"Spark Streaming answers in less than a second.", corrected,
			"Micro-batches take 100 ms at best (Spark's guide), and what the job takes. Table `sql` has the duration of each.", at{streamPreset},
		},
	}
}

func memoryCluster() []row {
	return []row{
		{
			"Hadoop and Spark are installed on the memory-optimized cluster.", done, "They are what a cluster has unless told otherwise.",
			at{configuration, asItStands},
		},
		{"Its primary node is an r5.4xlarge.", done, "", at{memoryPreset, asItStands}},
		{"Its core nodes are six r5.8xlarge.", done, "", at{memoryPreset, asItStands}},
		{
			"Executors have 24g of memory.", corrected, "With 8 cores each, YARN would place so many that two tasks share each core. They have 51g.",
			at{memoryPreset, fitOfExecutors, "explain TestNodesScalingAndWarnings"},
		},
		{"Executors have 8 cores.", done, "", at{memoryPreset, whoSets}},
		{"The driver has 16g of memory.", done, "", at{memoryPreset, whoSets}},
		{"The driver takes results of 8g.", done, "", at{memoryPreset, whoSets}},
		{"coalescePartitions.enabled is true on large nodes, too.", done, sparkDefault, at{memoryPreset}},
		{
			"coalescePartitions.minPartitionNum is 1.", corrected,
			"It is deprecated. parallelismFirst is false in its place, or Spark divides by its cores before it heeds the advisory size.",
			at{memoryPreset, whoSets},
		},
		{"advisoryPartitionSizeInBytes is 256 MiB.", done, "", at{memoryPreset, whoSets}},
	}
}

func diskCluster() []row {
	return []row{
		{
			"Core nodes are i3.2xlarge, for their NVMe disks.", corrected, "They are i4i.2xlarge, whose disks are newer.",
			at{diskPreset, asItStands},
		},
		{"There are eight of them.", done, "", at{diskPreset, asItStands}},
		{
			"Each also has four io2 volumes of 1000 GiB.", corrected, "EMR's API has no io2. Its own disks are why the type was chosen.",
			at{diskPreset, refusals, refusalsRun},
		},
		{
			"Each of those volumes has 32000 IOPS.", corrected, "The instance has less for all its volumes together; without volumes it needs none.",
			at{diskPreset, "schema TestVolumesByInstanceType"},
		},
		{"dfs.datanode.max.transfer.threads is 16384.", done, "", at{diskPreset, classifications}},
		{"dfs.datanode.handler.count is 100.", done, "", at{diskPreset, classifications}},
		{"dfs.namenode.handler.count is 100.", done, "", at{diskPreset, classifications}},
	}
}

func architectureClosing() []row {
	return []row{
		{"One resource enables architectures from development to production.", done, "", at{architectures, presetsPage, stayAsTheyAre}},
		{
			"It manages resources intelligently.", done,
			"Presets stay in bounds and return to their minimum under steady, square, ramp and weekend loads; the document's own rules do not.",
			at{rulesPaired, rulesFollowed, managedFollowed, "localcloud/emr TestPresetsFollowLoads"},
		},
		{"It optimizes cost.", done, costsSaid, at{estimates, workedByHand, costsDivided}},
		{
			"It helps to tune performance.", done, "What executors leave idle is said before, what slowed a job down after it.",
			at{"docs/reference/calibration.md", "explain TestNodesScalingAndWarnings", "tests/phases TestSickAndCured"},
		},
	}
}
