package threats_test

// threat is an attack that was tried, or one that is accepted.
type threat struct {
	who    string
	attack string
	answer string
	tests  []string // folder and function
}

// Who attacks.
const (
	job       = "a job on an observed cluster"
	node      = "root on an observed node"
	person    = "somebody in Grafana"
	pod       = "a compromised pod of the control node"
	localUser = "another user of a developer's machine"
	page      = "a page in a developer's browser"
)

// answered are the attacks that fail. Their tests make them.
func answered() []threat {
	return []threat{
		{
			job, "It asks Pyroscope, which asks for no password, for the profiles of other clusters, or for its blocks.",
			"The port of the control node leads to a relay that passes `POST /ingest` and nothing else, with bounded sizes; refusals are " +
				"counted (`observatory_redelivery_refused_profiles_total`) and drawn on EMR Overview.",
			[]string{
				"redelivery TestNodesReachNothingElseOfPyroscope", "redelivery TestLargeProfilesAreRefused",
				"redelivery TestProfilesOnTheirWayAreBounded", "tests/cloud TestLife",
			},
		},
		{
			job, "It asks the other servers of the control node: stores, relay, profiler, tools, Grafana, Kubernetes.",
			"Security groups open the ports of OTLP and profiles to nodes, those of OTLP to the groups of Airflow that the configuration " +
				"names, and those of Grafana, status page, tools and Kubernetes to " +
				"operators. No other pod has a port on the node's address.",
			[]string{
				"tests/controls TestEveryControlIsMetOrExcepted", "components/workloads TestEveryEndpointIsAServicePort", "tests/cloud TestLife",
			},
		},
		{
			job, "It reads the history of other clusters in `lake/history/`: texts of queries, errors, properties.",
			"Node roles are denied `lake/history/`. `profiler.readableByJobs` opens it for reading; nothing opens it for writing.",
			[]string{"components/emr TestHistoryIsReadableIfAskedFor", "tests/controls TestRolesReachTheirPrefixesOnly", "tests/cloud TestLife"},
		},
		{
			job, "It writes below `artifacts/`, so that other clusters install its code, or into logs of others.",
			"Node roles read `artifacts/`, and write no logs but their own cluster's.",
			[]string{"components/emr TestNodePolicyIsBoundToPrefixes", "components/telemetry TestNodePolicyReadsArtifactsOnly"},
		},
		{
			job, "It decrypts with the stack's key what is in no bucket of the stack, such as the keys of K3s' certificate authority.",
			"Decryption is allowed through S3 only (`kms:ViaService`), but on nodes whose disks LUKS encrypts with the key.",
			[]string{"components/telemetry TestNodePolicyReadsArtifactsOnly", "components/emr TestNodesWithLUKSAreUsersOfTheKey"},
		},
		{
			job, "It makes a FIFO, a link or a lease where the node's collector, which reads every file, looks for logs.",
			"The collector opens regular files only, at their own paths, and waits for nobody (decision 19). It " +
				"follows a link of a folder where nobody but root may make one, as EMR's of /var/log.",
			[]string{"assets/node TestCollectorReadsRegularFilesOnly", "tests/cloud TestLife"},
		},
		{
			job, "It fills the stores: series, log lines, spans or profiles without end, under any name.",
			"Each cluster has a share for an hour (`limits`, decision 18). A sender is known by its node's address, which it cannot choose. " +
				"What is beyond is refused and counted by cluster; other clusters lose nothing.",
			[]string{
				"redelivery/limit TestAClusterUsesUpItsOwnShare", "redelivery/limit TestSeriesThatExistGoOn",
				"redelivery/limit TestWhatIsASeries", "redelivery/limit TestSizesCount", "redelivery/limit TestASenderThatIsMadeUp",
				"assets/workloads TestAFloodCostsNobodyElse", "localcloud/kube TestNodePortsKeepTheAddressesOfClients", "tests/cloud TestLife",
			},
		},
		{
			job, "It sends telemetry of clusters that do not exist, to use up EMR's quota and to hide the clusters that do.",
			"EMR is asked first about clusters that it lists, and once about 50 other ids, which are shown; the rest are counted on the page.",
			[]string{"status/clustertelemetry TestForgedClusterIDs", "status TestForgedClustersAreCounted"},
		},
		{
			job, "It puts escape sequences into its name, its errors or its logs, for the terminals of those who look at it.",
			"Both programs write to terminals through a filter that leaves no control characters but line feed and tab, and none that " +
				"change the direction of text.",
			[]string{
				"internal/plaintext TestTextHasNothingThatATerminalObeys", "internal/plaintext FuzzWriter",
				"internal/plaintext TestOnlyATerminalIsSpared",
			},
		},
		{
			job, "It names itself, its columns or its errors like an instruction to the agent that reads them.",
			"What a job wrote is marked, cut, and without control characters in the tools' answers.",
			[]string{"profiler/tools TestResultsHaveNoSecrets", "profiler/tools TestTextsOfJobsAreMarked"},
		},
		{
			job, "It writes a history that costs the profiler all its memory, so that nobody else's is read.",
			"How many executors, open jobs, stages and executions of a log are kept in memory is bounded (100,000), and so are the names " +
				"of executors, jobs and plans (64 MiB), and rows and bytes of a server's pages. Each reading is recorded before it begins. " +
				"What was being read when the process ended is read alone in the next run, after its cluster's others, and given up for a " +
				"day after three times, with a row in `completeness`.",
			[]string{
				"profiler/fold TestMemoryOfManyExecutors", "profiler/fold TestMemoryOfLongTexts", "profiler/history TestPagesWithoutEnd",
				"profiler/run TestPoisonedHistories", "profiler/run TestServerOfPagesWithoutEnd",
				"profiler/run TestAnApplicationThatEndsTheProfiler",
			},
		},
		{
			pod, "It reads the keys of K3s' certificate authority, with the instance's role, and signs itself the certificate of an administrator.",
			"The role may read the keys for an hour from the creation of an instance, which needs them at its first boot, by the clock of the " +
				"machine that runs Pulumi (decision 20).",
			[]string{"components/controlnode TestKeysOfAuthoritiesAreReadableAtTheFirstBootOnly"},
		},
		{
			node, "It asks as another role: it assumes the role of the tools, or reads Parameter Store.",
			"The role of the tools trusts the control node's role alone, and reads the history and nothing else.",
			[]string{"components/controlnode TestToolsReadTheHistoryOnly", "localcloud/iamapi TestRoleAssumesARole"},
		},
		{
			person, "They delete metrics through the data source's proxy.",
			"VictoriaMetrics deletes with a key only. It is a random one that nobody knows, until somebody with access to the pod writes it " +
				"into `delete.key` on its volume; that key holds until the pod restarts.",
			[]string{"assets/workloads TestSignalsReachTheirStores"},
		},
		{
			localUser, "They connect to the ports of the local cloud: providers and YARN run commands, stores ask for no password.",
			"The region looks up each client's user in the kernel's table of sockets, and lets in who started it, and root. Tests try it " +
				"as another user where they run as root.",
			[]string{"localcloud/loopback TestOtherUsersAreRefused", "tests/cloud TestLife"},
		},
		{
			localUser, "They call EMR's and IAM's APIs unsigned, with other keys, or with the signature of another request.",
			"The signature is computed again with the local cloud's own keys; it holds for five minutes, as AWS' does.",
			[]string{"localcloud/sigv4 TestOtherRequestsAreRefused", "tests/cloud TestLife"},
		},
		{
			page, "Its host name leads to 127.0.0.1 (DNS rebinding), and it asks as the user.",
			"HTTP requests to another host than 127.0.0.1 or localhost are answered with 421.",
			[]string{"localcloud/loopback TestRequestsToOtherHostsAreRefused", "tests/cloud TestLife"},
		},
	}
}

// accepted are risks that remain. Their answer is how to close them.
func accepted() []threat {
	return []threat{
		{job, "It sends telemetry under the labels of another cluster, or of another application.",
			"Senders are not authenticated (decision 12): each job can read what its node's collector could sign with. A control node for " +
				"each team separates them.", nil},
		{job, "It sends so much that the collector's CPU time or the network is used up.",
			"What is stored is limited by cluster, but only behind the collector, which decodes everything first, and whose queue of 1 GiB " +
				"it can fill while a store is down. Nodes queue on their own disks meanwhile. A limit of bytes for each address, before the " +
				"collector, would close it.", nil},
		{job, "It sends samples of the same series, or log lines with ever new labels, as far as its share goes.",
			"VictoriaMetrics' disk is bounded (decision 6); VictoriaLogs deletes its oldest days. A limit of samples and of streams would " +
				"close it.", nil},
		{job, "It writes many histories that each cost the profiler all its memory, such as by long names of stages and tasks.",
			"Each ends the process three times a day at most, and later clusters wait as long. Counting the ends of the process, and the " +
				"bytes of all that is kept, would close it.", nil},
		{job, "It logs without end, or makes a sparse file of exabytes: the node's collector reads it to its end before any other file's " +
			"next line.",
			"Logs of other containers of that node wait, and those of other nodes do not; on the control node the cluster's share is used up. " +
				"A limit for each poll would close it, which the reader does not have.", nil},
		{job, "It keeps the relay of profiles busy: with connections (512), or with bodies that trickle for half a minute (64).",
			"Profiles of other clusters are sent again for as long as that; OTLP has a port of its own. A limit for each address would " +
				"close it.", nil},
		{page, "It sends requests to 127.0.0.1 itself, without reading the answers.",
			"Browsers send simple ones across sites: they can add telemetry. What runs commands asks for a signature, for a content type " +
				"that browsers send to no other site unasked, or for HTTP/2.", nil},
		{pod, "It reads the keys of K3s' certificate authority within an hour after the control node's instance was created, or after the " +
			"update that first limited them.",
			"Only pods that need the instance's role reach it, without root and without an API token, and the instance needs the keys at its " +
				"first boot. A role of the boot alone would close it.", nil},
		{job, "It takes over the relay, whose pod reaches the instance's role, since its init container fetches the relay's binary from S3.",
			"A presigned URL ends with the session that signed it, within hours, and a pod may start later; S3 admits nobody without a " +
				"signature to what KMS encrypts. The pod runs without root, without an API token, and on a read-only file system. A pod that " +
				"hands out the binary would close it.", nil},
		{pod, "It is an image that its registry has replaced: images are pinned by tag.",
			"Decision 5 says why. `controlNode.registryMirror` names a registry whose tags do not change.", nil},
		{node, "It reads telemetry on its way: there is no TLS within the VPC.",
			"Nodes and control node share one VPC; EMR's own traffic is in clear there, too, unless a security configuration says otherwise.", nil},
	}
}
