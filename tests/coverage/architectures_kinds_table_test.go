package coverage_test

func learningCluster() []row {
	return []row{
		{
			"A cluster for machine learning has GPUs and its frameworks.", done, "Frameworks are the team's, by bootstrap actions.",
			at{gpuGuide, gpuPreset, asItStands},
		},
		{"It begins with the configuration of machine learning.", done, "", at{gpuPreset, presetsPage}},
		{
			"It runs in one subnet, whose zone has GPU instances.", done, "The zones of a new network are the first that offer every type.",
			at{configuration, "components/network TestZonesAreTheFirstThatOfferEveryType"},
		},
		{"Its primary node has security groups for Jupyter and TensorBoard.", done, "", at{configuration, moreGroups}},
		{
			"Its workers have a security group for distributed training.", done, "Nodes of a cluster reach each other without one.",
			at{configuration, moreGroups, "components/emr TestClusterAdmitsOnlyItselfAndEMR"},
		},
		{"Its primary node is an r5.4xlarge, with memory for features.", done, byKeys, at{configuration, releaseTakes}},
		{"Its core nodes are four r5.2xlarge with 500 GiB of gp3.", done, byKeys, at{configuration, stayAsTheyAre}},
		{
			"Two p3.2xlarge with 1000 GiB train models, as a group of task nodes.", corrected,
			"They are g5.2xlarge, and so are the core nodes: RAPIDS needs GPUs in both.",
			at{gpuPreset, presetsPage, "components/emr TestTaskGroupsByKey"},
		},
		{
			"Six c5.4xlarge on spot prepare data, for 0.30 USD at most.", done, byKeys,
			at{configuration, "components/emr TestTaskGroupsByKey"},
		},
		{"That group has 2 to 20 nodes.", done, byKeys, at{configuration, stayAsTheyAre}},
		{
			"It grows by 3 nodes while CPUUtilization is above 70.", refused,
			"EMR sends no such metric. Use ContainerPendingRatio or YARNMemoryAvailablePercentage, or `managedScaling`.", at{refusals, refusalsRun},
		},
		{"No rule shrinks the group of data preparation.", refused, bothWays + " Add one that removes nodes.", at{refusals, refusalsRun}},
	}
}

func learningSettings() []row {
	const starts = "schema TestSettingsWithWhichNoContextStarts"
	return []row{
		{"Applications of machine learning have 4 to 40 executors.", done, byKeys, at{configuration, starts}},
		{"spark.sql.execution.arrow.pyspark.enabled is true.", done, byKeys, at{configuration, "schema TestValuesThatSparkReads"}},
		{"spark.python.worker.memory is 4g.", done, byKeys, at{configuration, "schema TestValuesThatSparkReads"}},
		{"spark.driver.maxResultSize is 4g.", done, byKeys, at{configuration, "schema TestValuesThatSparkReads"}},
		{"spark.kryoserializer.buffer.max is 2000m.", done, byKeys + " More than 2047m is refused.", at{configuration, starts}},
		{"spark.sql.adaptive.localShuffleReader.enabled is true.", done, "It is Spark's default.", at{configuration}},
		{"JupyterHub keeps notebooks in S3.", done, "", at{"docs/guides/architectures.md#sql-and-notebooks", notebookPreset, asItStands}},
		{
			"It keeps them in a bucket of their own.", corrected, "They are in the data bucket below jupyter/, where the nodes may write.",
			at{notebookPreset, "components/emr/policy.go"},
		},
		{
			"A bootstrap action installs CUDA.", corrected, "EMR installs it, by enableSparkRapids; an action mounts the control group of GPUs.",
			at{gpuPreset, presetsPage},
		},
		{
			"A bootstrap action installs TensorFlow 2.12.0 and PyTorch 2.0.1.", done, "Its script in S3 is readable by the nodes.",
			at{configuration, ownActions, "components/emr TestNodesReadWhatTheClusterRuns"},
		},
		{"Three steps run at a time on the cluster for machine learning.", done, byKeys, at{configuration, launched}},
	}
}

func streamCluster() []row {
	return []row{
		{
			"A cluster for streams runs Spark Streaming and reads Kafka.", done, "The way to the brokers is a security group of yours.",
			at{"docs/guides/architectures.md#streams", streamPreset},
		},
		{"Hadoop, Spark, Flink and Zeppelin are installed.", done, "", at{streamPreset, asItStands}},
		{
			"Security groups of the primary node open the way to Kafka and Kinesis.", corrected,
			"Executors connect, so that `coreSecurityGroups` opens the way to brokers. Kinesis needs no group, as HTTPS is open.",
			at{"docs/guides/architectures.md#streams", configuration, moreGroups},
		},
		{"Its primary node is an m5.xlarge.", done, "", at{streamPreset, asItStands}},
		{
			"Its core nodes are six r5.large.", corrected, "EMR does not take the size. Three r5.xlarge have as much memory.",
			at{streamPreset, releaseTakes, "schema/facts TestRejectsR5Large"},
		},
		{"Each core node has 200 GiB of gp3.", done, "", at{streamPreset, asItStands}},
		{"Streams have nodes of their own, c5.2xlarge.", done, "YARN may run other work there, too.", at{streamPreset, asItStands}},
		{"There are 8 of them at the start.", corrected, fromTheLeast, at{streamPreset, asItStands}},
		{"They are 4 to 32.", done, "", at{streamPreset, asItStands}},
		{"A rule adds 2 nodes after two periods.", done, "", at{streamPreset, rulesFollowed}},
		{
			"It adds them while StreamingBatchProcessingTime is above 30.", corrected,
			"EMR sends no such metric, so that the rule would never act. It goes by YARN's free memory.", at{streamPreset, refusals, refusalsRun},
		},
		{"Its period has 60 seconds.", corrected, fiveMinutes, at{streamPreset, refusals, refusalsRun}},
		{
			"It rests for 180 seconds.", corrected, "It rests for 300: no new value of the metric comes sooner.",
			at{streamPreset, rulesFollowed},
		},
		{
			"A dimension JobFlowId names the cluster.", done, "EMR adds it by itself, so that it has no key.",
			at{refusals, "components/emr TestRulesOfScalingHaveEveryDefault"},
		},
		{
			"No rule shrinks the group of streams.", corrected, bothWays + " The preset has one that removes nodes.",
			at{streamPreset, refusals},
		},
	}
}

func streamSettings() []row {
	const oneKind = "Left out: Spark refuses both kinds of dynamic allocation at once, and EMR turns on the other one."
	return []row{
		{
			"Applications of streams have 6 to 60 executors.", corrected,
			"Left out: each stream would hold six executors, also an idle one. `sparkDefaults` takes both limits.", at{configuration, streamPreset},
		},
		{"spark.streaming.backpressure.enabled is true.", done, "", at{streamPreset, whoSets}},
		{
			"spark.streaming.receiver.writeAheadLog.enable is true.", corrected,
			"Left out: Kafka's direct streams have no receiver, and a receiver's stream would not start without a checkpoint folder.",
			at{streamPreset},
		},
		{"spark.streaming.kafka.consumer.cache.enabled is true.", done, sparkDefault, at{streamPreset}},
		{"spark.streaming.dynamicAllocation.enabled is true.", corrected, oneKind, at{streamPreset}},
		{"spark.streaming.dynamicAllocation.minExecutors is 6.", corrected, oneKind, at{streamPreset}},
		{"spark.streaming.dynamicAllocation.maxExecutors is 60.", corrected, oneKind, at{streamPreset}},
		{"spark.serializer is Kryo's.", done, "", at{streamPreset, whoSets}},
		{"Flink processes complex events.", done, "", at{streamPreset, merged}},
		{"taskmanager.memory.process.size is 4g.", done, "", at{streamPreset, whoSets}},
		{"jobmanager.memory.process.size is 2g.", done, "", at{streamPreset, whoSets}},
		{"state.backend is rocksdb.", done, "", at{streamPreset, whoSets}},
		{
			"Flink's checkpoints are in a bucket of their own.", corrected, "They are in the data bucket below lake/, where the nodes may write.",
			at{streamPreset, "components/emr TestNodePolicyIsBoundToPrefixes"},
		},
		{"execution.checkpointing.interval is 60000.", done, "", at{streamPreset, whoSets}},
		{
			"A bootstrap action tells Kafka's clients the brokers.", done, "`bootstrapActions` takes the script and its arguments.",
			at{configuration, ownActions},
		},
		{
			"The cluster ends after two hours without work, to save cost.", done, "",
			at{streamPreset, "components/emr TestOptionalClusterSettings"},
		},
		{"Eight steps run at a time.", done, "", at{streamPreset, launched}},
	}
}

func tenantCluster() []row {
	const freeMemory = "Memory that is free means no need of nodes, so that validation refuses it. Use LESS_THAN, as in the preset streaming."
	return []row{
		{
			"Tenants share a cluster and are isolated from each other.", done, "Queues divide memory and cores, runtime roles what steps may read.",
			at{tenantPreset, queues, "components/emr TestRuntimeRoles"},
		},
		{
			"Hadoop, Spark, Hive and Presto are installed.", done,
			byKeys + " An idle timeout is refused beside Presto, whose work EMR does not see.",
			at{configuration, "schema TestClustersThatEMRRefuses"},
		},
		{
			"A security group of the primary node isolates tenants.", corrected,
			"The key takes the group, but tenants share machines. Runtime roles separate what their steps may read.",
			at{configuration, moreGroups, "components/emr TestRuntimeRoles"},
		},
		{"The shared cluster has an r5.2xlarge as primary node.", done, "", at{tenantPreset, asItStands}},
		{"It has eight r5.xlarge as core nodes.", done, "", at{tenantPreset, asItStands}},
		{
			"Each tenant has a group of task nodes, which isolates its resources.", corrected,
			"YARN places anybody's containers on any group. Each tenant has a queue with a share of all nodes.", at{tenantPreset, queues},
		},
		{"Tenant A's group has six m5.xlarge, and 2 to 20.", done, byKeys, at{configuration, stayAsTheyAre}},
		{"Tenant B's group has four m5.xlarge, and 2 to 15.", done, byKeys, at{configuration, stayAsTheyAre}},
		{"TenantAScaling adds 2 nodes while more than 20 % of the memory is free.", refused, freeMemory, at{refusals, refusalsRun}},
		{"TenantBScaling does the same.", refused, freeMemory, at{refusals, refusalsRun}},
		{
			"A dimension InstanceGroupName makes each rule follow its own group.", refused,
			"EMR's metrics have one dimension, the cluster. Leave it out; the rules of both groups then see the same value.",
			at{configuration, refusals, refusalsRun},
		},
		{"Neither group has a rule that removes nodes.", refused, bothWays + " Add one to each.", at{refusals, refusalsRun}},
	}
}

func tenantSettings() []row {
	const notFair = "It belongs to the fair scheduler. "
	return []row{
		{
			"YARN's scheduler is the FairScheduler.", refused,
			"EMR has a classification for the capacity scheduler's queues and none for the fair one's. Use `capacity-scheduler`.",
			at{"schema/facts/classifications.json", merged},
		},
		{
			"yarn.scheduler.fair.allocation.file names the file of shares.", refused,
			notFair + "Write queues and their capacities in the classification `capacity-scheduler`.", at{"schema/facts/classifications.json"},
		},
		{
			"yarn.scheduler.fair.preemption is true.", corrected, notFair + "The capacity scheduler preempts, unless a tenant says otherwise.",
			at{tenantPreset, queues},
		},
		{
			"yarn.scheduler.fair.user-as-default-queue is false.", refused,
			notFair + "With the capacity scheduler, a job of Spark names its queue in spark.yarn.queue.", at{configuration},
		},
		{"Applications of tenants have 4 to 80 executors.", done, byKeys, at{configuration, "schema TestSettingsWithWhichNoContextStarts"}},
		{"Adaptive execution is on for tenants, too.", done, "It is Spark's default.", at{configuration}},
		{"spark.dynamicAllocation.enabled is true.", done, emrDefault, at{"localcloud/hadoop TestShippedDefaults"}},
		{"spark.shuffle.service.enabled is true.", done, emrDefault, at{"localcloud/hadoop TestShippedDefaults"}},
		{
			"A bootstrap action configures the queues of the tenants.", refused,
			"EMR applies configurations after bootstrap actions. Use `tenants`.", at{tenantPreset, merged},
		},
		{"The action has the list of tenants.", corrected, "It is the key `tenants`.", at{tenantPreset, queues}},
		{
			"The action reads the queues from fair-scheduler.xml in S3.", refused,
			notFair + "Queues are properties of `capacity-scheduler`, and so in the configuration.", at{"schema/facts/classifications.json"},
		},
		{
			"Core nodes are placed close together, by the strategy CLUSTER.", refused,
			"EMR places primary nodes only. `placement: SPREAD` puts three of them on different hardware.", at{refusals, refusalsRun, launched},
		},
	}
}
