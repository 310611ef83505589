package lessons_test

// observeNotTried returns what concerns clusters of others.
func observeNotTried() []notTried {
	return []notTried{
		{
			"`observatory observe check` reads a cluster, its role and its subnet.", noAccount,
			"EMR's API is the local cloud's, with a cluster that AWS's SDK started. A fake answers like IAM and EC2, by their API references; " +
				"what IAM's simulation decides is IAM's.",
			[]string{"cmd/observatory TestObserveCheck"},
			"`observatory observe check CLUSTER --outputs outputs.json` for a cluster of the stack finds nothing missing, and again " +
				"with `aws iam detach-role-policy` the role",
		}, {
			"Airflow's workers send spans to the control node from a security group of their own, also from a peered VPC.", noAccount,
			"The rules name the configured groups. Airflow's own schedulers run DAGs whose steps are in the tasks' traces; they export to a " +
				"receiver beside the local cloud.",
			[]string{"components/network TestAirflowMaySendSpans", "tests/airflow TestFieldsOfStockOperators", "tests/cloud TestLife"},
			"`pulumi config set --path 'emr-observatory:tracing.airflowSecurityGroups[0]' sg-…`, `pulumi up`, then a DAG of " +
				"docs/guides/airflow.md: its trace in Tempo begins with the run of the DAG",
		}, {
			"The tools take what `observatory observe print` prints.", "No local server is CloudFormation, Step Functions or Airflow.",
			"HashiCorp's own parser evaluates Terraform's text; botocore validates the requests of Airflow, Step Functions and the AWS CLI; " +
				"the keys of CloudFormation are those of its guide.",
			[]string{"observe/snippet TestTerraformParsesSnippet", "observe/snippet TestCloudFormationParsesSnippet",
				"observe/snippet TestAirflowParsesSnippet", "observe/snippet TestStepFunctionsParsesSnippet",
				"observe/snippet TestShellParsesSnippet"},
			"with a cluster of the tool's own: paste, start, then `observatory observe check CLUSTER --outputs outputs.json`",
		}, {
			"EventBridge Scheduler starts steps and clusters, and gives to a queue what EMR refuses.", noAccount,
			"The local cloud's scheduler evaluates the same expressions, which are those of the User Guide's examples, and calls the local EMR " +
				"API as the role, if trust and policy allow it.",
			[]string{"schedule TestExamplesOfTheUserGuides", "components/schedules TestSchedulesCallEMR",
				"components/schedules TestRunsStartClusters", "localcloud/scheduler TestFailuresAreGivenToTheQueue", "tests/cloud TestLife"},
			"a schedule `rate(1 minute)`: its step appears within two minutes; terminate its cluster, and the status page names the next run; " +
				"then one of a cluster with startedBy schedules, which appears with the stack's tags and ends after the step",
		},
	}
}
