package main_test

// example says which test executes a documented command.
type example struct {
	executed bool     // this one, in a copy of the checkout
	long     bool     // only by make test-long
	by       citation // another one
	excluded string   // none, for this reason
}

// citation is a line in the source of another test.
type citation struct{ folder, test, file, line string }

// examples lists the documented commands of this project, in the order in which a
// reader runs them. pulumiCommands lists Pulumi's.
func examples() map[string]example {
	up := func(line string) citation { return citation{"tests/cloud", "TestLife", "life_test.go", line} }
	return map[string]example{
		"make doctor":                         {executed: true},
		"make preview":                        {executed: true},
		"bin/observatory explain --stack dev": {executed: true},
		"bin/observatory explain main --stack dev --json": {executed: true},
		"make rehearse":          {executed: true, long: true}, // TestRehearse rehearses the same stacks
		"make artifacts":         {executed: true, long: true}, // compiles the optimised collector
		"bin/observatory --help": {executed: true},
		"bin/observatory rehearse --stack dev": {by: citation{
			"cmd/observatory", "TestRehearsePrintsASummary", "command_test.go", `"rehearse", "--stack", "dev"`,
		}},
		"bin/observatory rehearse --stack pr": {by: citation{
			"cmd/observatory", "TestRehearse", "command_test.go", `"rehearse", "--stack", stack, "--json"`,
		}},
		"bin/observatory rehearse --stack dev --export state.json": {by: citation{
			"cmd/observatory", "TestRehearsePrintsASummary", "command_test.go", `"rehearse", "--stack", "dev", "--export", file`,
		}},
		`grep -o '"image": *"[^"]*"' state.json | sort -u`: {by: citation{
			"cmd/observatory", "TestRehearsePrintsASummary", "command_test.go", `grep -o '"image": *"[^"]*"' state.json | sort -u`,
		}},
		"make up":   {by: up(`c.make(t, "up")`)},
		"make down": {by: up(`c.make(t, "down")`)},
		`rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/emr-observatory"`: {excluded: "removes what other tests need"},
		"bin/observatory doctor --aws --stack dev": {by: citation{
			"cmd/observatory", "TestDoctorOfAnAccount", "command_test.go", `"doctor", "--aws", "--stack", "dev"`,
		}},
		"bin/observatory tunnel --stack dev": {by: citation{
			"cmd/observatory", "TestTunnelPrintsWhatForwardsThePorts", "tunnel_test.go", `"tunnel", "--stack", "dev"`,
		}},
		`bin/observatory status --url "$(pulumi stack output statusUrl --stack dev)" --ca-certificate observatory-ca.pem` +
			` --password-file password`: {by: citation{
			"cmd/observatory", "TestStatusOfAPlatformOnAWS", "remotestatus_test.go", `"--ca-certificate", ca, "--password-file", file`,
		}},
		`bin/observatory submit --wait --cluster j-0123456789ABC --bucket DATA_BUCKET` +
			` --status-url "$(pulumi stack output statusUrl --stack dev)" --ca-certificate observatory-ca.pem --password-file password job.py`: {
			by: citation{"cmd/observatory", "TestSubmitPrintsThePhases", "submitphases_test.go",
				`"--status-url", page.URL, "--ca-certificate", ca, "--password-file", password`},
		},
		"bin/observatory submit --outputs outputs.json --cluster etl job.py": {by: citation{
			"cmd/observatory", "TestSubmitFindsTheClusterByName", "submitclusters_test.go", `"--json", "--outputs", file`,
		}},
		"bin/observatory step follow --cluster j-0123456789ABC s-0123456789ABC": {by: citation{
			"cmd/observatory", "TestInterruptedSubmitPrintsCommandsThatWork", "step_test.go", `range []string{"follow", "told by cancel"}`,
		}},
		"bin/observatory step cancel --cluster j-0123456789ABC s-0123456789ABC": {by: citation{
			"cmd/observatory", "TestInterruptedSubmitPrintsCommandsThatWork", "step_test.go", `run("cancel")`,
		}},
		`curl --cacert observatory-ca.pem --user observatory "$(pulumi stack output statusUrl --stack dev)/status"`: {
			excluded: "needs a platform on AWS",
		},
		`(umask 077; pulumi stack output toolsToken --show-secrets --stack dev > tools-token)`: {excluded: "needs a platform on AWS"},
		`bin/observatory tools config --url "$(pulumi stack output toolsUrl --stack dev)" --ca-certificate observatory-ca.pem` +
			` --token-file tools-token > .mcp.json`: {by: citation{
			"cmd/observatory", "TestToolsConfig", "toolsconfig_test.go", `"--ca-certificate", "ca.pem", "--token-file", "token"`,
		}},
		`(umask 077; head -c 32 /dev/urandom | base64 > token)`: {by: citation{
			"profiler/command", "TestToolsOverHTTP", "tools_test.go", `(umask 077; head -c 32 /dev/urandom | base64 > token)`,
		}},
		"observatory profile tools --output /path/to/history --tools-address 127.0.0.1:8443 --token-file token": {by: citation{
			"profiler/command", "TestToolsOverHTTP", "tools_test.go", `"--tools-address", address, "--token-file", file`,
		}},
		"duckdb /path/to/history.duckdb < views.sql": {excluded: "needs DuckDB's command line; profiler/lake runs the views in DuckDB"},
		"curl https://checkip.amazonaws.com":         {excluded: "asks a server of AWS"},
		"aws emr add-tags --resource-id j-0123456789ABC --tags observatory:project=emr-observatory observatory:stack=dev": {
			excluded: "needs a platform on AWS",
		},
		"aws emr list-clusters --active --query 'Clusters[].[Id,Name]' --output text": {excluded: "needs a platform on AWS"},
		"aws emr list-bootstrap-actions --cluster-id j-0123456789ABC --query 'BootstrapActions[].ScriptPath' --output text": {
			excluded: "needs a platform on AWS",
		},
		`jq -r '.deployment.resources[] | select(.type == "aws:s3/bucketObjectv2:BucketObjectv2").outputs.key' state.json > current`: {
			excluded: "needs a platform on AWS",
		},
		"aws s3api list-objects-v2 --bucket DATA_BUCKET --prefix artifacts/ --query 'Contents[].[Key]' --output text" +
			" | grep -vxFf current > unused": {excluded: "needs a platform on AWS"},
		"xargs -I{} aws s3 rm s3://DATA_BUCKET/{} < unused": {excluded: "needs a platform on AWS"},
		"aws ssm get-parameter --name /aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64" +
			" --query Parameter.Value --output text": {excluded: "asks Systems Manager"},
		`aws ec2 create-snapshot --description "before the upgrade" --volume-id "$(pulumi stack output controlVolumeId --stack dev)"`: {
			excluded: "needs a platform on AWS",
		},
		`aws ec2 terminate-instances --instance-ids "$(pulumi stack output controlInstanceId --stack dev)"`: {
			excluded: "needs a platform on AWS",
		},
		"aws ec2 create-volume --snapshot-id snap-0123456789abcdef0 --availability-zone us-east-1a --volume-type gp3": {
			excluded: "needs a snapshot on AWS",
		},
		"sed -i s/vol-0123456789abcdef0/vol-0fedcba9876543210/g state.json": {by: citation{
			"tests/cloud", "TestLife", "controlnode_test.go", `exec.Command("sed", "-i", "s/"+lost+"/"+restored+"/g", state)`,
		}},
		"aws ssm put-parameter --name /observatory/trace-headers --type SecureString --value file://headers.txt": {
			excluded: "needs Systems Manager",
		},
		`aws ssm start-session --target "$(pulumi stack output controlInstanceId --stack dev)"`: {excluded: "needs a platform on AWS"},
		"sudo k3s kubectl --namespace observatory logs daemonset/collector --all-containers --tail 20": {
			excluded: "needs a control node on AWS",
		},
		"sudo k3s kubectl --namespace observatory rollout restart daemonset/collector": {excluded: "needs a control node on AWS"},
		"pip install ./integrations/airflow": {by: citation{
			"tests/airflow", "TestFieldsOfStockOperators", "fields_test.go", `"-m", "pip", "install"`,
		}},
		"bin/observatory trace import --dry-run phases/testdata/logs/reference.jsonl": {executed: true},
		`aws ssm start-session --target "$(pulumi stack output controlInstanceId --stack dev)"` +
			` --document-name AWS-StartPortForwardingSession --parameters portNumber=4317,localPortNumber=4317`: {
			excluded: "needs a platform on AWS",
		},
		"bin/observatory trace import --cluster j-0123456789ABC --endpoint localhost:4317" +
			" s3://LOG_BUCKET/application_1700000000000_0001": {by: citation{
			"cmd/observatory", "TestTraceImport", "trace_test.go",
			`"--cluster", "j-0123456789ABC", "--endpoint", endpoint, "s3://data/logs/static.zstd"`,
		}},
		"bin/observatory observe print --for terraform --outputs outputs.json": {by: citation{
			"cmd/observatory", "TestObservePrint", "observe_test.go", `"observe", "print", "--for", "terraform", "--outputs", file`,
		}},
		"bin/observatory observe print --for airflow --configurations mine.json --outputs outputs.json": {by: citation{
			"cmd/observatory", "TestObservePrint", "observe_test.go",
			`"observe", "print", "--for", "airflow", "--configurations", own, "--outputs", file`,
		}},
		"bin/observatory observe check j-0123456789ABC --outputs outputs.json": {by: citation{
			"cmd/observatory", "TestObserveCheck", "observeteam_test.go",
			`"observe", "check", *started.JobFlowId, "--outputs", writeOutputs(t)`,
		}},
		`aws emr create-persistent-app-ui --target-resource-arn arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/j-0123456789ABC`: {
			excluded: "needs the AWS CLI; boto3 opens such UIs in a test",
		},
		`url=$(aws emr get-persistent-app-ui-presigned-url --persistent-app-ui-id p-0123456789ABC --query PresignedURL --output text)`: {
			excluded: "needs the AWS CLI; boto3 opens such UIs in a test",
		},
		"aws emr get-persistent-app-ui-presigned-url --persistent-app-ui-id p-0123456789ABC": {
			excluded: "needs the AWS CLI; boto3 opens such UIs in a test",
		},
		`curl --cacert "$AWS_CA_BUNDLE" --cookie-jar jar --location "$url" --output /dev/null`: {
			excluded: "needs the AWS CLI; boto3 opens such UIs in a test",
		},
		`curl --cacert "$AWS_CA_BUNDLE" --cookie jar https://127.0.0.1:7075/shs/api/v1/applications`: {
			excluded: "needs the AWS CLI; boto3 opens such UIs in a test",
		},
		"bin/observatory profile run --logs eventlog/testdata/spark4 --output history": {executed: true},
		"bin/observatory profile run --databricks --databricks-file workspace --output history": {by: citation{
			"profiler/run", "TestVariablesOfAWorkspace", "databricks_test.go", `"--databricks", "--databricks-file", file`,
		}},
		"bin/observatory profile ddl --dialect duckdb --output history > views.sql":                                       {executed: true},
		"bin/observatory profile compact --output history":                                                                {executed: true},
		"bin/observatory profile ddl --dialect duckdb --compacted --output history > views.sql":                           {executed: true},
		"bin/observatory profile ddl --dialect athena --compacted --s3-output-path s3://DATA_BUCKET/lake/history/ --json": {executed: true},
		"bin/observatory profile ddl --dialect spark --compacted --s3-output-path s3://DATA_BUCKET/lake/history/":         {executed: true},
		"bin/observatory profile ddl --dialect databricks --compacted --s3-output-path s3://DATA_BUCKET/lake/history/ --catalog-name main": {
			executed: true,
		},
		"bin/observatory profile judge --output history":                                                  {executed: true},
		"bin/observatory profile report app-20261124085717-0000 --output history --html job.html":         {executed: true},
		"bin/observatory profile expire --output history --retention-days 365 --dry-run":                  {executed: true},
		"bin/observatory profile delete --output history --application app-20261124085717-0000 --dry-run": {executed: true},
		"bin/observatory profile run --aws-region us-east-1 --created-after-date 2026-11-01 --max-clusters 0 --environment prod" +
			" --s3-output-path s3://DATA_BUCKET/lake/history/": {by: citation{
			"tests/cloud", "TestLife", "history_test.go", `"profile", "run", "--json", "--max-clusters", "0"`,
		}},
		"make test":  {excluded: "runs this test; CI runs it (.ci/run)"},
		"make bench": {excluded: "takes half an hour; run by hand"},
	}
}

// pulumiCommands lists the commands of Pulumi that documents use, with the folder
// and name of the test that shows that the program works with each. They need an
// account or Pulumi Cloud, so they are not executed: the pinned CLI must know the
// command and its flags.
func pulumiCommands() map[string][]string {
	rehearsal := []string{"cmd/observatory", "TestRehearse"}
	none := []string(nil) // the command does not run the program
	return map[string][]string{
		"pulumi up":                          rehearsal,
		"pulumi preview":                     {"stacks/changes", "TestDigestAgreesWithEvents"},
		"pulumi destroy":                     rehearsal,
		"pulumi state unprotect":             rehearsal,
		"pulumi refresh":                     {"stacks/changes", "TestPreviewOfAnEndedCluster"}, // tests/cloud refreshes everything
		"pulumi stack init":                  none,
		"pulumi stack export":                {"stacks/changes", "TestLostControlNodeComesBackOnARestoredVolume"},
		"pulumi stack import":                {"stacks/changes", "TestLostControlNodeComesBackOnARestoredVolume"},
		"pulumi config set":                  {"stacks/changes", "TestEffectsOfEdits"},
		"pulumi stack output":                {"stacks/outputs", "TestExportDeclaresExactlyTheContract"},
		"pulumi stack schedule new":          none,
		"pulumi deployment settings edit":    none,
		"pulumi config env add":              {"stacks/config", "TestReturnsEnvironmentsOfAStackFile"},
		"pulumi env provider aws-login oidc": none,
	}
}
