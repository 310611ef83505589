package lessons_test

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

// notTried is a behaviour that only AWS can prove.
type notTried struct {
	what  string
	why   string   // why it cannot be proven here
	here  string   // what is checked instead
	tests []string // folder and function
	try   string   // a command that shows it on AWS
}

// notTriedOnAWS lists everything in the project that says "not tried on AWS".
func notTriedOnAWS() []notTried {
	return slices.Concat(accountNotTried(), clusterNotTried(), observeNotTried(), historyNotTried())
}

const noAccount = "No AWS account."

// refreshClusters is the documented command of stack dev.
const refreshClusters = "`" + platform.RefreshClusters + " --stack dev`"

// accountNotTried returns what an account's services decide.
func accountNotTried() []notTried {
	return []notTried{
		{
			"`pulumi up` and `pulumi destroy` of a stack.", noAccount,
			"The engine takes every stack through its life against provider servers that check each input; " +
				"the local cloud runs the same program with real servers and jobs.",
			[]string{"cmd/observatory TestRehearse", life},
			"`make artifacts && pulumi up --stack dev`; then section 5 of docs/guides/deployments.md",
		}, {
			"IAM allows what each role does and nothing else.", "Only the local S3 decides as IAM does.",
			"Every allowed action is listed with its need; policies and list agree. " +
				"In the local cloud S3 decides by the roles' own and attached policies; no other service does.",
			[]string{"tests/controls TestEveryAllowedActionIsListedWithPurpose", "tests/controls TestAllowancesMatchPolicies",
				"tests/controls TestRolesReachTheirPrefixesOnly"},
			"`aws cloudtrail lookup-events --lookup-attributes AttributeKey=Username,AttributeValue=INSTANCE_ID` " +
				"after a job, for events with an `errorCode`; access to objects shows only in a trail with S3's data events",
		}, {
			"`observatory doctor --aws` reads an account's quotas and roles.", noAccount,
			"A fake answers like STS, IAM, EC2 and Service Quotas, by their API references.",
			[]string{"toolchain/doctor TestAccountThatHasEverythingPasses", "toolchain/doctor TestReportsMissingAccountSetup"},
			"`observatory doctor --aws --stack dev`",
		}, {
			"AWS lets a workstation through to the control node's Elastic IP.",
			"The local internet gateway follows what AWS documents about addresses, routes and ingress rules.",
			"On the local cloud, the gate and the providers run where only public addresses have a route, and are locked out without " +
				"their operatorCidrs; every address that connects is one that the certificates name.",
			[]string{life, "tests/reach TestGateOnAWorkstation", "localcloud/ec2 TestElasticIPLeadsToTheInstance", "stacks TestAddressesAgree",
				"simulator TestPublicAddressesNeedAGateway"},
			"`curl --insecure https://$(pulumi stack output controlPublicIp --stack dev):6443/readyz`; any HTTP status proves the route",
		}, {
			"Session Manager forwards the control node's ports.", "No local server speaks its protocol.",
			"A shell runs the printed commands with a stand-in for the AWS CLI; " +
				"whether kube-proxy serves Grafana's node port at 127.0.0.1 is not checked.",
			[]string{"cmd/observatory TestTunnelPrintsWhatForwardsThePorts", "components/controlnode TestTunnelKeepsTheInstance"},
			"with access tunnel: `observatory tunnel --stack dev`, its commands, then `curl --insecure https://127.0.0.1:3000/api/health`",
		}, {
			"The deployer policies suffice for `pulumi up`, `refresh` and `destroy`.", "No local server decides as IAM does.",
			"Each resource type and function of the stacks has its row of actions, read in the provider's source before and after its version.",
			[]string{"tests/deployer TestEveryResourceTypeAndFunctionHasItsRow", "tests/deployer TestReferenceIsGenerated"},
			"`pulumi up --stack dev` as an identity that has only docs/reference/deployer-policy-*.json",
		}, {
			"The status page opens in a browser on a workstation.", "The local cloud's forwarder stands in for the workstation.",
			"The server requires TLS and the password; the forwarder connects to the Elastic IP from outside the VPC, and verifies the " +
				"certificate as a browser does; Chromium opens the page through the forwarder.",
			[]string{"status TestEverythingButHealthRequiresThePassword", "localcloud/forwarder TestForwarderVerifiesTheServer",
				"status TestPageInABrowser", life},
			"`curl --cacert observatory-ca.pem --user observatory STATUS_URL/status`, with the files of docs/guides/status.md",
		}, {
			"The control node lists the steps of the stack's cluster, and of no other.", "No local server decides as IAM does.",
			"The policy names the action, the clusters of the account and region, and both tags of the stack; the local EMR answers the request.",
			[]string{"components/controlnode TestNodePolicyHasNoWildcards", "status TestLastSteps", "status TestStepsThatCannotBeRead", life},
			"after a job: `curl --cacert observatory-ca.pem --user observatory 'STATUS_URL/status?section=steps'`",
		}, {
			"`submit --wait` says where the time of a job went, within 30 s of the step's end.",
			"How long EMR takes to report a step's end, and what an operator's network adds, is AWS's.",
			"It asks the real page, with its certificate and password, and what the driver sends last arrives after the step's end.",
			[]string{"submit TestSubmitReportsPhasesAfterStepEnds", "cmd/observatory TestSubmitPrintsThePhases", life},
			"`observatory submit --wait --cluster CLUSTER --bucket DATA_BUCKET --status-url STATUS_URL --ca-certificate observatory-ca.pem " +
				"--password-file password examples/jobs/orders.py s3://DATA_BUCKET/lake/orders`",
		}, {
			"A step's links open Grafana's Explore and the cluster's page in the AWS console.",
			"No Grafana server and no console is available; AWS does not document the addresses of the console's pages.",
			"The links have the ids and times of the step; those to the stores' own UIs open in Chromium.",
			[]string{"status TestLastSteps", "dashboards TestStepLinks", "status TestLinksOfAStepOpenWhatTheyName"},
			"the links of a step on the page at `$(pulumi stack output statusUrl --stack dev)`",
		}, {
			"Grafana draws every panel of the dashboards: the timeline's states, heatmaps and bars, and its choice of one application.",
			"No Grafana server is available.",
			"The panels' options are read strictly by Grafana's own types, and the queries run on the real stores.",
			[]string{"dashboards/panel TestStateTimelineNamesItsStates", "dashboards/panel TestHeatmapsDrawBucketsAndSeries",
				"dashboards/panel TestBarsNameAndColourTheirSeries", "dashboards/check TestTimelineOfAnEndedApplication"},
			"after a job: `$(pulumi stack output grafanaUrl --stack dev)/d/job-phase-timeline`",
		}, {
			"`make up` runs the Grafana that is on PATH, and creates its data sources, folder and dashboards.",
			"No package registry has the server.",
			"A stand-in answers by Grafana's HTTP API reference; pods run a program of this machine with its folders and environment.",
			[]string{"localcloud TestFindGrafana", "localcloud TestGrafanaIsProvisioned", "localcloud/kube TestImageOfAnInstalledProgram"},
			"`PATH=$PATH:GRAFANA/bin make up`, then the URL \"dashboards (Grafana)\"",
		}, {
			"Security groups admit every connection that the platform makes.", "The local cloud enforces only what operators may reach.",
			"The rules are exactly a written list, and each rule between groups has its other half.",
			[]string{"components/network TestInboundIsExactlyThis", "components/network TestEveryFlowBetweenGroupsHasBothRules"},
			"after a job: `aws s3 sync s3://LOG_BUCKET/AWSLogs/ flows && find flows -name '*.log.gz' -exec zgrep -hw REJECT {} +`",
		}, {
			"Buckets, volumes and parameters are encrypted with the stack's KMS key.", "No local server encrypts as KMS does.",
			"Every encryption setting is an asserted input.",
			[]string{"components/storage TestBothBucketsArePrivateVersionedAndEncrypted", "components/emr TestSecurityConfiguration"},
			"`aws s3api head-object --bucket DATA_BUCKET --key ANY_KEY --query '[ServerSideEncryption,SSEKMSKeyId]'`, " +
				"`aws ec2 describe-volumes --query 'Volumes[].[VolumeId,KmsKeyId]' --output text`",
		}, {
			"What a job writes has the encryption of its bucket: the stack's key in the data bucket, and in no other.",
			"No local server encrypts as KMS does, and the local cloud's EMR does not read security configurations.",
			"The security configuration says nothing of S3, the bucket refuses other keys only where one is named, and S3A itself is asked.",
			[]string{
				"components/emr TestSecurityConfiguration", "components/storage TestDataPolicy", "tests/schema TestJobsLeaveEncryptionToTheBucket",
			},
			"after a job that writes to both: `aws s3api head-object --bucket DATA_BUCKET --key LAKE_KEY --query SSEKMSKeyId`, which is the " +
				"stack's, and `aws s3api head-object --bucket OTHER_BUCKET --key KEY --query SSEKMSKeyId`, which is not",
		}, {
			"S3 delivers access logs to the log bucket, and expires objects by the lifecycle rules.", "No local server does either.",
			"The rules and the bucket's policy are asserted inputs, and S3's limits of both are checked.",
			[]string{"components/storage TestLifecycleRules", "components/storage TestLogPolicyAllowsOnlyDeliveryForThisAccount"},
			"a day later: `aws s3 ls s3://LOG_BUCKET/s3-access/`",
		}, {
			"VPC flow logs arrive in the log bucket.", "No local server delivers flow logs.",
			"The bucket's policy admits exactly the delivery service of this account.",
			[]string{"components/storage TestLogPolicyAllowsOnlyDeliveryForThisAccount", "components/network TestFlowLogsOnRequest"},
			"`aws s3 ls --recursive s3://LOG_BUCKET/ | grep vpcflowlogs`",
		}, {
			"Creating the flow log leaves the log bucket's policy alone.",
			"What EC2 compares a policy with before it adds its own statements is not published.",
			"The policy has the two statements of the VPC User Guide to the letter.",
			[]string{"components/storage TestFlowLogStatementsAreAWSsOwn"},
			"`aws s3api get-bucket-policy --bucket LOG_BUCKET` has four statements, and `pulumi refresh --preview-only` shows no change of it",
		}, {
			"Zones that offer every instance type are found, and EMR offers the types there too.",
			noAccount + " What EMR itself lacks in a zone is not in EC2's answer.",
			"Provider servers answer as EC2 does, with zones that lack types, and refuse what AWS would refuse to start.",
			[]string{"components/network TestZonesAreTheFirstThatOfferEveryType", "stacks TestZonesOfAStackStay"},
			"`aws ec2 describe-instance-type-offerings --location-type availability-zone --filters Name=instance-type,Values=m5.xlarge`, " +
				"compared with the zones of the stack's subnets",
		}, {
			"`blockPublicAccess` without permitted ranges permits no port.", noAccount,
			"The request has none; EMR's API reference does not say whether port 22 then stays.",
			[]string{"components/emr TestBlocksPublicAccessOnlyIfAskedAndNeverLoosensIt"},
			"`aws emr get-block-public-access-configuration`",
		}, {
			"EMR leaves nothing behind in the VPC that keeps it from being deleted.",
			noAccount + " AmazonEMRServicePolicy_v2 lets EMR (7.5 and later) create an interface endpoint named emr-service-vpce, " +
				"and not delete it.",
			"Every stack is destroyed on simulated providers, which know nothing that EMR adds to a VPC.",
			[]string{"cmd/observatory TestRehearse"},
			"before `pulumi destroy`: `aws ec2 describe-vpc-endpoints --filters Name=tag:Name,Values=emr-service-vpce`, and " +
				"`aws ec2 delete-vpc-endpoints --vpc-endpoint-ids ID` for what it lists of the stack's VPC",
		}, {
			"Interface endpoints answer in place of the services' public addresses.", "No local server has VPC endpoints.",
			"Endpoints with private DNS and a group that admits the machines are asserted inputs.",
			[]string{"components/network TestInterfaceEndpointsOnRequest", "components/network TestInboundIsExactlyThis"},
			"with `network.interfaceEndpoints: [kms]`, on a node: `getent hosts kms.us-east-1.amazonaws.com` is an address of the VPC",
		}, {
			"YACE reads the stack's CloudWatch metrics.", "No local server holds CloudWatch metrics.",
			"The real YACE accepts its configuration, which names the stack's tags.",
			[]string{"assets/workloads TestServersAcceptTheirConfiguration", "assets/workloads TestYACEQueriesOnlyTheStacksResources"},
			"query `aws_s3_bucket_size_bytes_average` in Grafana a day after `pulumi up`",
		},
	}
}

// clusterNotTried returns what EC2 and EMR decide.
func clusterNotTried() []notTried {
	return []notTried{
		{
			"A cluster that failed to start is replaced by `pulumi up` once the clusters have been refreshed.",
			"No AWS account: nobody has seen the provider keep the id of the failed cluster in the state.",
			"The local cloud's provider keeps it too; the engine counts it as there until a refresh, and then creates another.",
			[]string{
				"localcloud TestClusterThatFailsToStartIsKept", "simulator TestEngineKeepsWhatFailedUntilARefresh",
				"stacks/changes TestPreviewOfAnEndedCluster",
			},
			"`pulumi up --stack dev` with a bootstrap action of your own that exits with 1, then without it " + refreshClusters +
				" and `pulumi up --stack dev`",
		}, {
			"A cluster that is added to a stack starts although its roles are seconds old.",
			"IAM's changes spread within seconds (terraform-provider-aws#20841); in the first update the control node takes longer.",
			"The cluster waits for its roles, their policies and the instance profile. The provider repeats the call while EMR does not see " +
				"the profile; the local EMR does not see one for three seconds. A service role that EMR does not see yet ends the cluster.",
			[]string{"cmd/observatory TestRehearse", "localcloud TestClusterWaitsForANewInstanceProfile"},
			"`pulumi config set --path emr-observatory:clusters.second.core.count 1 --stack dev && pulumi up --stack dev`; " +
				"a VALIDATION_ERROR goes away with " + refreshClusters + " and `pulumi up --stack dev`",
		}, {
			"A refresh reads gp3 volumes back as they were declared, without IOPS and throughput.", noAccount,
			"The local cloud gives back what it was given.",
			[]string{"tests/cloud TestLife"},
			"`pulumi preview --refresh --stack dev` after the first `pulumi up`: no change of the cluster",
		}, {
			"The control node boots from Amazon Linux.", "Its image runs on EC2 only.",
			"The real cloud-init reads the user data; the boot script runs with fakes of K3s and SSM; " +
				"a real kube-apiserver accepts every object.",
			[]string{
				"assets/controlnode TestCloudInitAcceptsUserData", "assets/controlnode TestBootBlankNode",
				"tests/kubernetes TestComponentsRegisterTheStacksObjects",
			},
			"`aws ssm start-session --target CONTROL_INSTANCE`, then `sudo k3s kubectl get pods -A`",
		}, {
			"Pods use the control node's role, over the metadata service's second hop.", "The local metadata service counts no hops.",
			"The hop limit is an asserted input; network policies admit only the users of the role, which a real kube-apiserver accepts.",
			[]string{"components/controlnode TestInstance", "components/workloads TestOnlyUsersOfTheRoleReachTheMetadata"},
			"half an hour after a job: `aws s3 ls --recursive s3://DATA_BUCKET/tempo/`",
		}, {
			"The tools' pod assumes the role that reads the history.",
			"IAM decides, and IAM stores principals by id.",
			"AWS's SDK assumes a role as the pod's configuration says, of a local STS that decides by both policies; S3 decides by the " +
				"assumed role's. The policies themselves are asserted.",
			[]string{"localcloud/iamapi TestRoleAssumesARole", "components/controlnode TestToolsReadTheHistoryOnly",
				"components/workloads TestToolsServeTheProfilersTables", "tests/controls TestRolesReachTheirPrefixesOnly"},
			"the commands of docs/guides/ask-an-llm.md, which begin with `bin/observatory tools config`",
		}, {
			"Nodes that do not encrypt disks with LUKS use the stack's key through S3 only, and EC2 encrypts their disks for EMR's service role.",
			"KMS and EMR's node provisioning run on AWS only.",
			"The policies are asserted, by instance type.",
			[]string{"components/emr TestNodesWithLUKSAreUsersOfTheKey"},
			"after `pulumi up --stack dev`: `aws emr describe-cluster --cluster-id j-0123456789ABC --query Cluster.Status`",
		}, {
			"EMR's persistent UI shows applications whose event logs are rolled.",
			"No AWS account.",
			"The local cloud's collects rolled logs of running and finished jobs for the real history server.",
			[]string{"components/emr TestEventLogsAreRolled", "localcloud/persistentui TestRolledLogThatIsWrittenTo"},
			"after a job: EMR's console, Spark history of the cluster; `bin/observatory profile run --aws-region us-east-1` reads it too",
		}, {
			"Grafana, the status page and the tools serve the certificate of a domain, and the Grafana provider trusts it.",
			"No public CA, no DNS record, and Grafana does not run.",
			"Secrets, URLs and what the provider trusts are asserted inputs; the status server's client accepts a chain without its root.",
			[]string{"components/workloads TestGivenCertificateServesOperators", "stacks TestCertificatesDomainIsInURLs",
				"status TestClientTrustsAChainWithoutItsRoot"},
			"after the commands of docs/guides/access.md: `curl https://observatory.example.com:3000/api/health`",
		}, {
			"A new control node starts its servers from the data volume of the old one, after another image, a loss, or a snapshot.",
			"K3s and the file system of an EBS volume run on EC2 only.",
			"The boot script keeps a volume that holds data; on the local cloud, which detaches and attaches volumes as EC2 does, " +
				"the stores answer with earlier telemetry.",
			[]string{"assets/controlnode TestReplacedInstanceReusesVolume", life, "stacks/changes TestLostControlNodeComesBackOnARestoredVolume"},
			"`pulumi up --stack dev` after an edit of `controlNode.ami`, then query in Grafana what was there before",
		}, {
			"The control node reads the headers for `tracing.endpoint` from a parameter of AWS's key `aws/ssm`.",
			"No local server decides as IAM and KMS do.",
			"The role may get the one parameter; the real AWS CLI and collector turn its lines into headers, and do without them.",
			[]string{"assets/workloads TestTracesAreCopiedFromAQueue", "assets/workloads TestTheCopyWaitsForItsHeaders",
				"components/controlnode TestNodeMayReadTheTraceHeaders", "components/workloads TestTheCollectorReadsItsHeadersBeforeItStarts"},
			"after the commands of docs/guides/tracing.md: `sudo k3s kubectl --namespace observatory logs daemonset/collector " +
				"-c trace-headers` on the control node is empty, and spans arrive",
		}, {
			"Nodes fetch the certificates of `encryption.certificates` and encrypt their traffic with them.",
			"EMR alone reads security configurations.",
			"The document has the shape of EMR's guide, and the node role may read exactly that object. That the metrics of YARN and HDFS are " +
				"then missing is a warning of the preview.",
			[]string{"components/emr TestEncryptionInTransit", "schema TestCertificatesEndMetricsOverHTTP"},
			"on a node: `curl --insecure https://$(hostname -f):8044/node`; a job's executors log `AES` with " +
				"`spark.network.crypto.enabled`",
		}, {
			"A cluster with `kerberos` starts its KDC, and the platform observes it.", "EMR alone installs a KDC; the local cloud has none.",
			"Realm, passwords and the security configuration have the shape of EMR's guide; the passwords are secrets of the engine. " +
				"The collector asks YARN and HDFS without a ticket, as Hadoop permits unless its web endpoints ask for one.",
			[]string{"components/emr TestKerberosPasswordsAreSecretValuesOfParameters", "stacks TestPasswordsOfKerberosAppearNowhere"},
			"on the primary node: `kinit kadmin/admin@EC2.INTERNAL`; the dashboards have metrics of YARN and HDFS",
		}, {
			"A step runs with a role of `runtimeRoles`, and its JVMs report.", "EMR's agent alone assumes such roles.",
			"The node role may assume exactly these roles; the launcher needs none of AWS's credentials.",
			[]string{"components/emr TestRuntimeRoles"},
			"`aws emr add-steps --cluster-id CLUSTER --execution-role-arn ROLE --steps Type=Spark,Args=[s3://DATA_BUCKET/lake/job.py]`",
		}, {
			"EMR accepts the cluster's request.", "EMR's own checks are not published.",
			"The local EMR checks every field that its API model and documentation restrict.",
			[]string{"localcloud/emr TestLifeOfACluster", "components/emr TestClusterInputs"},
			"`aws emr describe-cluster --cluster-id CLUSTER --query Cluster.Status`",
		}, {
			"EMR takes in every region the instance types that it takes in us-east-1, and gives YARN of each what its page says.",
			"No AWS account. The recorded answers are of one region and one day.",
			"The facts name source and date. A formula gives what EMR's page has of 68 types, and is used for the others.",
			[]string{"schema TestInstanceTypeByRelease", "schema/facts TestYARNMemoryIsWhatEMRPublishes"},
			"`aws emr list-supported-instance-types --release-label emr-7.10.0`; on a node: " +
				"`grep -A1 resource.memory-mb /etc/hadoop/conf/yarn-site.xml`",
		}, {
			"EMR's service role uses the stack's key for the nodes' volumes, through EC2 only.", "No local server decides as IAM and KMS do.",
			"The role has a key user's actions, as EMR's guide asks, on the condition that EC2 makes the call, which the guide lacks.",
			[]string{"components/emr TestServicePolicyAddsOnlyWhatTheManagedOneLacks", "tests/controls TestAllowancesMatchPolicies"},
			"`aws ec2 describe-volumes --filters Name=attachment.instance-id,Values=NODE --query 'Volumes[].[Encrypted,KmsKeyId]'`",
		}, {
			"The bootstrap action installs and starts the collector on EMR's own image.", "The image runs on EMR only.",
			"The script runs on local nodes, where machined plays systemd, and on nodes that lack what it expects.",
			[]string{"assets/node TestBootstrapInstallsPartsAndStartsCollector", "assets/node TestBootstrapSurvivesUnexpectedNodes", life},
			"the status page lists every node; the action's log: `aws s3 ls --recursive s3://DATA_BUCKET/emr-logs/ | grep bootstrap-actions`",
		}, {
			"EMR's builds of Spark have what the plugin looks for, and S3A there adds a task's time in S3; with EMRFS there is no such time.",
			"Both run on EMR only.",
			"Apache Spark 3.4, 3.5 and 4.0 have every method that is looked for; one that is missing gives nothing and is named. " +
				"The time comes through Hadoop's own statistics.",
			[]string{"assets/node TestPluginFindsWhatItReadsInOtherSparks", "assets/node TestPluginFindsParentsAndReasons",
				"assets/node TestPluginInSparkWithExecutors"},
			"a job's standard error does not say `this Spark lacks`, and Grafana finds `spark_task_s3_time_seconds_total`",
		}, {
			"Session Manager opens a shell on EMR's nodes.", "EMR's image is not public; it may lack the agent.",
			"The node role has the agent's permissions.",
			[]string{"components/emr TestNodePolicyIsBoundToPrefixes", "tests/controls TestAllowancesMatchPolicies"},
			"`aws ssm describe-instance-information --query 'InstanceInformationList[].[InstanceId,PingStatus]'` lists the cluster's instances",
		}, {
			"A control node without a way to the internet pulls its images through `controlNode.registryMirror` and installs the plugin's copy.",
			"K3s, a registry and Grafana run on AWS only.",
			"The files that K3s and Grafana read have the form of their documentation, and name every registry.",
			[]string{"assets/controlnode TestMirrorServesEveryImage", "assets/workloads TestGrafanaTakesACopyOfItsPlugin"},
			"with the keys of docs/guides/network.md: `sudo k3s crictl images` on the control node lists every image",
		}, {
			"Releases other than emr-7.1.0 ship the restated defaultJavaOptions.", "Only that release's spark-defaults.conf is public.",
			"A node's file is compared with the restated values.", []string{"toolchain/doctor TestNodesOptionsAreCompared"},
			"on a node of a cluster without the platform: `observatory doctor --node /etc/spark/conf/spark-defaults.conf`",
		}, {
			"A job that chooses Docker starts with the agent.", "No Docker here; what EMR ships in both files is known of one emr-6 node only.",
			"The launcher's folder is in the mounts of every Docker container, and YARN's container-executor is told to allow it.",
			[]string{"components/emr TestDockerContainersHaveTheAgent"},
			"on a node of a cluster without the platform: `grep -rA1 ro-mounts /etc/hadoop/conf`; then a job with " +
				"`spark.executorEnv.YARN_CONTAINER_RUNTIME_TYPE=docker`",
		}, {
			"No application of EMR listens on the node collector's ports.",
			"EMR's list of ports is incomplete by its own words; the CloudWatch agent listens on OTLP's (4317, 4318) " +
				"if its configuration enables OTLP.",
			"The collector's ports are compared with those that EMR's and the applications' pages name.",
			[]string{"assets/node TestNoApplicationUsesOurPorts"},
			"on a node with every application: `sudo ss -ltnp | grep -E ':(4317|4318|13133|13134) '`",
		}, {
			"EMR gives back scaling policies and additional security groups as they were given, and scales in within minutes.",
			"What EMR adds to a policy, the order of its answers and its timing are its own.",
			"Policies name every default of EMR's API reference; additional groups have the order of the configuration, the stack's " +
				"own first. The local EMR gives back what it was given, and shrinks a " +
				"cluster once it has needed fewer nodes for a minute. No document names EMR's own delay.",
			[]string{"components/emr TestManagedScalingIsDeletedBeforeItIsReplaced", "components/emr TestOnlyAScaledCountIsIgnored",
				"localcloud/emr TestManagedScalingFollowsDemand", "tests/schema TestClustersOfEveryKeyStayAsTheyAre"},
			"`pulumi up --stack dev` and `pulumi refresh --stack dev --preview-only`: no change; after an edit of `managedScaling`: " +
				"`aws emr get-managed-scaling-policy --cluster-id CLUSTER`",
		}, {
			"Spot instances of the task group are granted and taken back.", "No local server has a spot market.",
			"The group's market is an asserted input; a job survives a removed core node.",
			[]string{"components/emr TestOptionalClusterSettings", outages},
			"`aws emr list-instances --cluster-id CLUSTER --instance-group-types TASK --query 'Instances[].[Market,Status.State]'`",
		}, {
			"Spot instances start with volumes of the stack's key.",
			"EC2's guide asks for a grant to its spot role if images or snapshots are encrypted; EMR's images are not, but the volumes are.",
			"A preview requires the role; nothing grants it the key.",
			[]string{"components/emr TestSpotNeedsTheAccountsRole"},
			"`aws emr describe-cluster --cluster-id CLUSTER --query Cluster.Status.StateChangeReason`; if EC2 cannot use the key: " +
				"`aws kms create-grant --key-id KEY --grantee-principal SPOT_ROLE_ARN --operations Encrypt Decrypt ReEncryptFrom ReEncryptTo " +
				"GenerateDataKey GenerateDataKeyWithoutPlaintext DescribeKey CreateGrant`",
		}, {
			"The control node reads every step within EMR's quota.", "EMR's quotas and the order of its lists are its own.",
			"The local EMR lists as its API reference says: 50 in a page, the newest first, ten by id. Requests are limited to half of the " +
				"documented default; throttled ones are repeated after up to ten minutes.",
			[]string{"status/steptelemetry TestManySteps", "status/steptelemetry TestThrottledEMR", "assets/workloads TestStepsReachTheirStores"},
			"after a day: `aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=ListSteps`, for events with an " +
				"`errorCode`; the status page names no problem with steps",
		}, {
			"The control node reads every cluster's name within EMR's quota.", "EMR's quotas and its refusals are its own.",
			"Requests are limited to half of the documented default. The local EMR describes a cluster as it was given, and refuses an unknown id " +
				"with EMR's text.",
			[]string{
				"status/clustertelemetry TestRequestsAreLimited", "status/clustertelemetry TestClustersWithoutAName",
				"status TestClustersAsEMRDescribesThem",
			},
			"after a day with a cluster that others started: `aws cloudtrail lookup-events --lookup-attributes " +
				"AttributeKey=EventName,AttributeValue=DescribeCluster`, for events with an `errorCode`; the dashboards' drop-down has its name",
		}, {
			"Grafana narrows a dashboard to a cluster's ids by its name.", "No registry has Grafana's server: the local cloud does not run it.",
			"Each query of the dashboards runs on the stores as Grafana's plugins write it, with all names and with each name alone.",
			[]string{"dashboards TestClustersAreChosenByName", "dashboards/check TestAgainstRealStores"},
			"choose a name in EMR Overview: the query inspector shows its ids alone in `cluster=~`",
		}, {
			"`submit` finds the sampling ratio of a cluster.", noAccount,
			"The local EMR describes a cluster with the configurations that it was given, as the API reference says.",
			[]string{"localcloud/emr TestMissingBootstrapScriptTerminatesTheCluster", "submit TestSamplingOfATraceThatBeginsWithItsStep", life},
			"`aws emr describe-cluster --cluster-id CLUSTER --query 'Cluster.Configurations[].Properties'` shows " +
				"`spark.observatory.tracing.samplingRatio`",
		}, {
			"EMR pushes a step's logs to S3 every five minutes.", "The interval is EMR's.",
			"`submit --wait` waits for the log of a failed step within a bound; the local cloud pushes as late with `up --log-delay 5m`.",
			[]string{"submit TestSubmitWaitsForALateLog", "localcloud/emr TestLifeOfACluster"},
			"`observatory submit --wait --cluster CLUSTER failing.py`",
		}, {
			"EMR's builds of Spark write event logs that `observatory trace import` reads.", "EMR's Spark is not public.",
			"The reader takes a log of Apache Spark 3.5, lines of 3.4 and 4.0, zstd and lz4 by Spark's codecs, and events that it does not know.",
			[]string{"eventlog TestRolledLogOfARealSpark", "eventlog TestLinesOfOtherVersions"},
			"`hdfs dfs -get /var/log/spark/apps/APPLICATION` on the primary node, then `observatory trace import --dry-run APPLICATION`",
		}, {
			"The logs of a failed step name its cause as Spark's do elsewhere.", "EMR's launcher and its Spark are not public.",
			"The cause is found in logs of the shapes that Spark, YARN, Python and the JVM print.",
			[]string{"internal/stepcause TestCauseOfRealLogs", "submit TestLogsExplainAFailedStep"},
			"`observatory submit --wait --cluster CLUSTER failing.py`, and the same with a JAR",
		}, {
			"An account without EC2's service-linked role for spot is recognized.", noAccount,
			"The provider servers answer the look-up with and without the role.",
			[]string{"stacks TestPreviewRefusesSpotWithoutTheAccountsRole", "components/emr TestSpotNeedsTheAccountsRole"},
			"in a new account: `pulumi preview --stack pr`",
		}, {
			"EMR encrypts instance stores other than NVMe SSDs with LUKS and the node role's permissions.", "No local server encrypts as KMS does.",
			"The role has a key user's actions, as EMR's guide asks, only if a type has such disks; KMS's guide names two of them as used.",
			[]string{"components/emr TestNodesWithLUKSAreUsersOfTheKey", "schema TestInstanceStoresThatEMREncrypts"},
			"`pulumi config set --stack dev --path clusters.main.core.instanceType d2.xlarge && pulumi up --stack dev`, " +
				"then on a core node: `lsblk -f | grep crypto_LUKS`",
		}, {
			"The control node's role suffices to open persistent UIs, and S3 answers 404 for an object of the lake that does not exist.",
			"IAM decides locally in S3 only, and VersityGW does not ask for s3:ListBucket before it says that an object is not there.",
			"The role may make the calls that a run was recorded making, each where it makes it; it may list the lake's prefix.",
			[]string{"components/controlnode TestProfilerMayMakeItsCallsAndNoOthers", "tests/controls TestRolesReachTheirPrefixesOnly"},
			"`observatory status` an hour after the first job: the line history says complete",
		}, {
			"IAM refuses the profiler a history of clusters without the stack's tags.", "No local server decides about calls of EMR.",
			"The Service Authorization Reference has the condition key for each of the actions on a cluster; the policy asks for it.",
			[]string{"components/controlnode TestProfilerMayMakeItsCallsAndNoOthers", "profiler/run TestClustersWithTags"},
			"in a session on the control node, with the ARN of a cluster without the tags: " +
				"`aws emr create-persistent-app-ui --target-resource-arn ARN`, which ends with AccessDeniedException",
		}, {
			"Presigned URLs of a cluster with runtime roles open without the parameter ExecutionRoleArn.",
			"The EMR API's reference lists the parameter and does not say when it is needed.",
			"The local cloud serves such clusters' UIs to whoever may call the API; an EMR that refuses counts as an incomplete history, by name.",
			[]string{"localcloud/emrapi TestPersistentUIsAreKept", "profiler/source TestObstacles"},
			"`observatory profile run --emr-cluster-arn ARN` of such a cluster: the line of its applications says complete",
		}, {
			"EMR's message has the word limit or quota if an account has too many persistent UIs, and says that an id that it does not " +
				"know is not valid.",
			"The API has one error for all of them, and its texts are not published.",
			"Any other text concerns that cluster alone: EMR is asked again for the next one, and an id is kept.",
			[]string{"profiler/run TestFullQuotaOfUIs", "profiler/run TestUIsAreReplacedOnlyIfTheyHaveEnded"},
			"`aws emr describe-persistent-app-ui --persistent-app-ui-id p-0000000000000`: the message of the error",
		}, {
			"A refresh finds an idle-ended cluster gone, and the guard reports it.", "EMR's idle timer is EMR's.",
			"The provider servers end the cluster; the guard asks the local EMR's API for one that ended.",
			[]string{"stacks/changes TestPreviewOfAnEndedCluster", "cmd/observatory TestGuardReportsAnEndedCluster"},
			"an hour after the last step: " + refreshClusters + ", then `pulumi preview --stack dev --json | observatory guard`",
		},
	}
}
