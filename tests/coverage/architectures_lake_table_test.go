package coverage_test

func lakeCluster() []row {
	return []row{
		{"One cluster serves several purposes, integrated with the data lake.", done, "", at{lakePreset, asItStands}},
		{
			"Each cluster has a name of its own, such as unified-analytics-platform.", corrected,
			"Its name is made of the project's, the stack's and its key, so that it is unique and stays.",
			at{"docs/reference/outputs.md", "components/emr TestClusterInputs"},
		},
		{
			"The release is emr-6.15.0.", done, "It is the oldest that is taken. A warning says when its support ends.",
			at{configuration, asItStands, "schema TestReleaseHasSupport"},
		},
		{
			"The cluster has a description.", refused, "EMR's clusters have none. `tags` say what a cluster is for.",
			at{configuration, launched},
		},
		{
			"It begins with the configuration of a kind of workload, data engineering.", done, "",
			at{
				"docs/reference/presets.md#data-engineering", "docs/guides/architectures.md#how-keys-are-merged",
				"schema/presets TestMerge", whoSets,
			},
		},
		{
			"EMR's service role is an existing one.", done, "Without the key, the stack creates one.",
			at{configuration, "components/emr TestExistingRolesGetPolicies"},
		},
		{
			"The instance profile of the nodes is an existing one, too.", done, "",
			at{configuration, "components/emr TestExistingRolesGetPolicies"},
		},
		{
			"Nodes have a key pair for SSH.", refused, "Nodes take no SSH connections. Session Manager opens a shell.",
			at{refusals, refusalsRun},
		},
		{
			"The cluster has subnets in three zones.", corrected,
			"Instance groups run in one subnet, which `subnets` chooses. Fleets take several, of which EMR chooses one.",
			at{configuration, subnetsByFleet},
		},
		{
			"The security groups that EMR manages are existing ones.", corrected,
			"Each cluster has its own, which admit nobody but the cluster itself and EMR.",
			at{"components/emr/firewall.go", "components/emr TestClusterAdmitsOnlyItselfAndEMR"},
		},
		{
			"The primary node has further security groups, for notebooks and monitoring.", done, "`masterSecurityGroups` names them.",
			at{configuration, moreGroups},
		},
		{
			"Core and task nodes have a further one, for access to data.", done, "`coreSecurityGroups` names it.",
			at{configuration, moreGroups},
		},
		{
			"The primary node is an r5.2xlarge, with memory for Spark's drivers.", done, "Drivers run there in client mode.",
			at{lakePreset, asItStands},
		},
		{"Core nodes are six r5.xlarge.", done, "", at{lakePreset, asItStands}},
		{
			"Core nodes are EBS-optimized.", done, "Types since 2016 always are, so that the key is for task groups only.",
			at{configuration, stayAsTheyAre},
		},
		{"Each has two gp3 volumes of 200 GiB.", done, "", at{lakePreset, asItStands}},
		{
			"Each of the two volumes has 8000 IOPS.", corrected, "They have gp3's own 3000, as the instance sustains no more for both together.",
			at{lakePreset, "schema TestVolumesByInstanceType"},
		},
	}
}

func lakeGroups() []row {
	return []row{
		{"Batch work runs on spot instances of a group of m5.2xlarge.", done, "", at{lakePreset, sideBySide}},
		{"The group starts with 8 nodes.", corrected, fromTheLeast, at{lakePreset, asItStands}},
		{
			"Its highest price is 0.15 USD.", corrected, "It is the price on demand: a lower one saves nothing, and EC2 takes nodes away sooner.",
			at{lakePreset, "stacks/config TestErrorsOfPresets"},
		},
		{"It has 4 to 50 nodes.", done, "", at{lakePreset, asItStands}},
		{"It grows by 4 nodes while containers wait.", done, "", at{lakePreset, "components/emr TestRulesOfScalingHaveEveryDefault"}},
		{
			"The rule names the market of the nodes that it adds, SPOT.", corrected, "A group keeps its own market: `bidPrice` makes it spot.",
			at{configuration, refusals, refusalsRun},
		},
		{"The rule rests for 300 seconds.", done, "", at{lakePreset, rulesFollowed}},
		{
			"It acts after two periods of 300 seconds with ContainerPendingRatio above 0.3.", corrected,
			"It acts by free memory: where a fifth of the memory lacks, the ratio stays below 0.3, and containers wait without end.",
			at{lakePreset, "localcloud/emr TestTheDocumentsRulesDoNotFollowLoads"},
		},
		{
			"The namespace of the metrics is AWS/ElasticMapReduce.", done, "It has no key, as no other namespace's metrics name a cluster.",
			at{"components/emr TestRulesOfScalingHaveEveryDefault"},
		},
		{
			"The average of a period counts.", done, "It is the default.",
			at{configuration, "components/emr TestRulesOfScalingHaveEveryDefault"},
		},
		{"The group shrinks by 2 nodes, after three periods, and then rests for 600 seconds.", done, "", at{lakePreset, rulesFollowed}},
		{
			"It shrinks while YARNMemoryAvailablePercentage is below 80.", corrected,
			"The metric is the memory that is free, so that it shrinks above 80. The opposite is refused.", at{lakePreset, refusals, refusalsRun},
		},
		{"The periods for shrinking have 600 seconds.", corrected, fiveMinutes, at{lakePreset, refusals, refusalsRun}},
		{
			"Streams have four c5.xlarge on demand as a group of their own.", done, "YARN runs other work there, too, as no label reserves nodes.",
			at{lakePreset, asItStands},
		},
		{"Each of those has a gp3 volume of 100 GiB.", done, "", at{lakePreset, asItStands}},
	}
}

func lakeSettings() []row {
	return []row{
		{
			"Spark is configured for the work of a data lake.", done, "`observatory explain` says which values are the preset's.",
			at{lakePreset, whoSets},
		},
		{
			"An application has at least 8 executors.", corrected,
			"It would hold them from its start to its end, a small one, too. Spark's default is 0.",
			at{lakePreset},
		},
		{"It has at most 200.", done, "", at{lakePreset, whoSets}},
		{"spark.sql.adaptive.enabled is true.", done, sparkDefault, at{lakePreset}},
		{"spark.sql.adaptive.coalescePartitions.enabled is true.", done, sparkDefault, at{lakePreset}},
		{"spark.sql.adaptive.skewJoin.enabled is true.", done, sparkDefault, at{lakePreset}},
		{
			"fs.s3a.fast.upload is true.", corrected, "Left out: S3A has uploaded in no other way since Hadoop 3.1, and EMRFS does not read it.",
			at{lakePreset},
		},
		{
			"fs.s3a.multipart.size is 128 MiB.", done, "Before emr-7.10, s3:// is EMRFS, which does not read it.",
			at{lakePreset, whoSets},
		},
		{
			"mapreduce.fileoutputcommitter.algorithm.version is 2.", corrected,
			"Left out: it shows output while tasks still write, and disables EMR's own committer for S3.",
			at{lakePreset, "docs/reference/rules.md#rename_commit"},
		},
		{
			"spark.speculation is true.", corrected, "Left out: it also runs those tasks twice that are slow because of their data.",
			at{lakePreset, "docs/reference/rules.md#speculation_waste"},
		},
		{"spark.sql.parquet.filterPushdown is true.", done, sparkDefault, at{lakePreset}},
		{"spark.sql.parquet.mergeSchema is false.", done, sparkDefault, at{lakePreset}},
		{
			"Hive's connection URL is glue_catalog.", corrected, "That is no URL of a database. The key `glueCatalog` makes Glue the metastore.",
			at{lakePreset, glueTables},
		},
		{"hive.metastore.glue.catalogid is the account.", corrected, "Left out: the account's own catalog is the default.", at{lakePreset}},
		{"hive.exec.parallel is true.", done, "", at{lakePreset, whoSets}},
		{"hive.exec.parallel.thread.number is 8.", done, "", at{lakePreset, whoSets}},
		{"hive.vectorized.execution.enabled is true.", done, "It is Hive's default.", at{lakePreset}},
		{"hive.vectorized.execution.reduce.enabled is true.", done, "It is Hive's default.", at{lakePreset}},
		{"DataNodes have a heap of 4096 MB.", done, "", at{lakePreset, "localcloud/hadoop TestNestedExportReachesTheShell"}},
		{"NameNodes have a heap of 4096 MB.", done, "", at{lakePreset, "localcloud/hadoop TestNestedExportReachesTheShell"}},
		{
			"yarn.resourcemanager.decommissioning.timeout is 3600.", corrected,
			"No release that is taken reads that name. The preset has the one that they read.", at{lakePreset, whoSets},
		},
		{
			"yarn.resourcemanager.node-removal-untracked.timeout is 60000.", corrected,
			"Left out: the property's name ends in -ms, and 60000 is its default.", at{lakePreset},
		},
		{"yarn.log-aggregation.retain-seconds is 86400.", done, "", at{lakePreset, whoSets}},
	}
}

func lakeSurroundings() []row {
	return []row{
		{
			"A bootstrap action installs the agents of monitoring.", done, "The platform's own action does. Scripts of your own follow it.",
			at{bootstrapScript, installsParts, ownActions},
		},
		{
			"It has the key of Datadog among its arguments.", refused,
			"Arguments are in clear in EMR's API and in the state. Let the script read the key from Secrets Manager.",
			at{lakePreset, refusals, "schema TestSecretsInClear"},
		},
		{
			"A bootstrap action configures access to the data lake's bucket.", corrected,
			"Access is a matter of the nodes' role: `access` names what it may read and write.", at{configuration, accessGiven},
		},
		{
			"Logs are in a bucket of their own, by cluster.", corrected, "Each cluster has its prefix in the data bucket.",
			at{"docs/reference/outputs.md", refusals, "components/emr TestClusterInputs"},
		},
		{
			"A KMS key encrypts the logs.", corrected, "It is the stack's key, as for all data in the data bucket.",
			at{refusals, "components/storage TestBothBucketsArePrivateVersionedAndEncrypted"},
		},
		{"The cluster is protected from termination.", done, "", at{lakePreset, "components/emr TestOptionalClusterSettings"}},
		{"It stays when it has no steps.", done, "", at{lakePreset, stayAsTheyAre}},
		{"Five steps run at a time.", done, "", at{lakePreset, launched}},
		{
			"A Glue trigger submits steps each day at two o'clock.", corrected,
			"EventBridge Scheduler does. A Glue job would do nothing but call EMR.",
			at{"docs/guides/schedules.md", "components/schedules TestSchedulesCallEMR", "tests/cloud TestLife"},
		},
		{
			"The trigger knows the cluster's id from an output.", done, "Any scheduler may.",
			at{"docs/reference/outputs.md", "stacks TestExportsMatchTheContract"},
		},
		{
			"What it submits is in a JSON file in S3.", done, "`schedules.*.stepsFrom`; each update reads it.",
			at{"docs/guides/schedules.md", "stacks/config TestStepsOfObjects", "stacks TestStepsAreReadFromS3"},
		},
	}
}
