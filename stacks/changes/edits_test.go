package changes_test

import (
	"maps"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// set is one configuration value: a path and its JSON. A path into a list
// refers to the first entry.
type set struct{ path, value string }

// effects are patterns of logical names by effect. Every changed resource must
// match a pattern of its effect, and every pattern must match a resource.
type effects map[changes.Effect][]string

// edit is one edit of the base configuration and its expected effects.
type edit struct {
	keys        []string // the keys that it is about
	sets        []set
	effects     effects
	refused     []string // logical names that a Guard refuses if no loss is accepted
	engineError string   // part of the error of the engine or the program; "" = the preview succeeds
	shown       []string // the edit in the document, if not its sets: what differs from run to run
}

// one edits a single key.
func one(key, value string, e effects, refused ...string) edit {
	return edit{keys: []string{key}, sets: []set{{key, value}}, effects: e, refused: refused}
}

// bootAccess is what another instance needs at its first boot.
const bootAccess = "control-boot-access"

// Effects shared by several keys.
var (
	replacesCluster = effects{changes.Replaced: {"emr-main-cluster", "emr-main-task-spot"}}
	replacesTask    = effects{changes.Replaced: {"emr-main-task-spot"}}
	nothing         = effects{}
	// newControlAddress is a change of the control node's address, which
	// bootstrap arguments and certificates contain.
	newControlAddress = effects{
		changes.Replaced: {
			"control-address", "control-interface", "control-instance", "control-attachment", "control-boot", "control-gate", "emr-main-cluster",
			"emr-main-task-spot",
			"workloads-grafana-request", "workloads-grafana-certificate", "workloads-status-request", "workloads-status-certificate",
			"workloads-tools-request", "workloads-tools-certificate",
		},
		changes.Updated:    {bootAccess},
		changes.Unforeseen: {"workloads-*", "grafana-*"},
	}
)

// baseConfiguration is the configuration that is edited: Pulumi.dev.yaml plus the keys that
// it leaves at their defaults.
var baseConfiguration = []set{
	{"clusters.main.master.ebs", `[{"type":"gp3","sizeGiB":64}]`},
	{"clusters.main.tasks", `{"spot":{"count":1,"ebs":[{"type":"gp3","sizeGiB":64}]}}`},
}

func edits() []edit {
	out := []edit{
		{keys: []string{"region"}, sets: []set{{"region", `"us-west-2"`}, {"network.availabilityZones", `["us-west-2a","us-west-2b"]`}},
			engineError: "currently marked for protection",
			refused: []string{"control-data", "emr-main-cluster", "storage-data", "storage-key", "storage-logs", "workloads-collector-data",
				"workloads-grafana-data", "workloads-pyroscope-data", "workloads-status-data", "workloads-tempo-data", "workloads-victoria-logs-data",
				"workloads-victoria-metrics-data"}},
		one("ephemeral", `true`, effects{changes.Unprotected: {"storage-data", "storage-logs", "storage-key", "control-data"}}),
		one("tags", `{"environment":"test"}`, effects{changes.Updated: {"network-*", "storage-*", "control-*", "telemetry-*", "emr-*"}}),
		one("operatorCidrs", `["198.51.100.0/24"]`, effects{
			changes.Created: {"network-control-*-from-198.51.100.0_24"}, changes.Deleted: {"network-control-*-from-203.0.113.0_24"},
		}),
	}
	out = append(out, identityEdits()...)
	out = append(out, networkEdits()...)
	out = append(out, controlEdits()...)
	out = append(out, clusterEdits()...)
	out = append(out, retentionEdits()...)
	out = append(out, tracingEdits()...)
	out = append(out, profilerEdits()...)
	return append(out, endpointEdits()...)
}

// identityEdits: IAM changes a role's boundary in place, and no path.
func identityEdits() []edit {
	return []edit{
		one("permissionsBoundary", `"arn:aws:iam::123456789012:policy/boundary"`, effects{
			changes.Updated: {"control-role", "control-tools-role", "emr-main-node", "emr-main-service"},
		}),
		one("iamPath", `"/team/"`, effects{
			changes.Replaced: {"control-role", "control-profile", "control-access", bootAccess, "emr-main-node*", "emr-main-service*",
				"emr-main-cluster", "emr-main-task-spot", "telemetry-observed-nodes", "control-tools-role", "control-tools-access",
				"control-assume-tools-role"},
			changes.Updated: {"control-instance", "workloads-tools-config"}, changes.Restarted: {"workloads-tools"},
		}, "emr-main-cluster"),
	}
}

func networkEdits() []edit {
	moved := effects{
		changes.Updated: {"network-internet", bootAccess},
		changes.Replaced: append([]string{"network-vpc", "network-*", "emr-main-core*", "emr-main-master*", "emr-main-service-access*"},
			newControlAddress[changes.Replaced]...),
		changes.Unforeseen: newControlAddress[changes.Unforeseen],
	}
	return []edit{
		one("network.cidr", `"10.1.0.0/16"`, moved, "emr-main-cluster"),
		{keys: []string{"network.availabilityZones"}, sets: []set{{"network.availabilityZones", `["us-east-1c","us-east-1b"]`}},
			engineError: "currently marked for protection",
			refused: []string{"control-data", "emr-main-cluster", "workloads-collector-data", "workloads-grafana-data", "workloads-pyroscope-data",
				"workloads-status-data", "workloads-tempo-data", "workloads-victoria-logs-data", "workloads-victoria-metrics-data"}},
		{keys: []string{"network.vpcId", "network.subnetIds", "network.publicSubnetId", "network.dnsServers"},
			sets: []set{{"network.vpcId", `"vpc-0123abcd"`}, {"network.subnetIds", `["subnet-0123abcd"]`}, {"network.availabilityZones", `[]`},
				{"network.publicSubnetId", `"subnet-0123abce"`}, {"network.dnsServers", `["10.0.0.5"]`}},
			effects: effects{
				changes.Created: {"network-emr-tag-subnet-0123abcd", "network-control-dns-*", "emr-main-*-dns-*"},
				changes.Updated: {bootAccess},
				changes.Deleted: {"network-vpc", "network-*"},
				changes.Replaced: append([]string{
					"network-control*", "network-observed*", "emr-main-master*", "emr-main-core*", "emr-main-service-access*",
				}, newControlAddress[changes.Replaced]...),
				changes.Unforeseen: newControlAddress[changes.Unforeseen],
			}, refused: []string{"emr-main-cluster"}},
		{keys: []string{"network.nat"}, sets: []set{{"network.nat", `false`}}, engineError: "network.nat"},
		one("network.interfaceEndpoints", `["kms"]`, effects{changes.Created: {"network-*endpoint*"}}),
	}
}

func controlEdits() []edit {
	notPublic := effects{
		changes.Updated:    {"network-s3", bootAccess},
		changes.Deleted:    {"control-address"},
		changes.Replaced:   newControlAddress[changes.Replaced][1:], // the public one is deleted
		changes.Unforeseen: newControlAddress[changes.Unforeseen],
	}
	// The URL of Grafana's provider is then known before the update.
	tunnelled := maps.Clone(notPublic)
	tunnelled[changes.Unforeseen] = []string{"workloads-*"}
	// The data volume, the interface with its address and the authorities stay.
	newInstance := effects{
		changes.Deleted:    {"control-image-amd64"},
		changes.Updated:    {bootAccess},
		changes.Replaced:   {"control-instance", "control-attachment", "control-boot", "control-gate"},
		changes.Unforeseen: newControlAddress[changes.Unforeseen],
	}
	fetchedElsewhere := maps.Clone(newInstance)
	delete(fetchedElsewhere, changes.Deleted)
	return []edit{
		one("controlNode.ami", `"ami-0fedcba9876543210"`, newInstance),
		one("controlNode.access", `"vpc"`, notPublic, "emr-main-cluster"),
		{keys: []string{"controlNode.access", "controlNode.apiUrl"}, sets: []set{{"controlNode.access", `"tunnel"`},
			{"controlNode.apiUrl", `"https://127.0.0.1:6443"`}, {"grafana.url", `"https://127.0.0.1:3000"`}},
			effects: tunnelled, refused: []string{"emr-main-cluster"}},
		one("controlNode.instanceType", `"m5.2xlarge"`, effects{changes.Restarted: {"control-instance"}}),
		{keys: []string{"controlNode.arch"}, sets: []set{{"controlNode.arch", `"arm64"`}, {"controlNode.instanceType", `"m7g.xlarge"`}},
			effects: effects{
				changes.Created:    {"control-image-arm64"},
				changes.Deleted:    {"control-image-amd64"},
				changes.Updated:    {bootAccess},
				changes.Replaced:   {"control-instance", "control-attachment", "control-boot", "control-gate"},
				changes.Unforeseen: newControlAddress[changes.Unforeseen],
			}},
		one("controlNode.registryMirror", `"mirror.example.com"`, fetchedElsewhere),
		one("controlNode.k3sUrl", `"https://mirror.example.com/k3s"`, fetchedElsewhere),
		one("controlNode.grafanaPluginUrl", `"https://mirror.example.com/plugin.zip"`, effects{changes.Restarted: {"workloads-grafana"}}),
		ownCertificate(),
		one("controlNode.privateIp", `"10.0.128.77"`, newControlAddress, "emr-main-cluster"),
		one("controlNode.dataVolumeGiB", `200`, effects{changes.Updated: {"control-data"}, changes.Restarted: {"workloads-victoria-logs"}}),
		one("controlNode.dataVolumeGiB", `50`, effects{changes.Updated: {"control-data"}, changes.Restarted: {"workloads-victoria-logs"}},
			"control-data"),
	}
}

// ownCertificate gives Grafana and the status page a certificate of the user's own.
func ownCertificate() edit {
	return edit{
		keys:  []string{"controlNode.certificate.domain", "controlNode.certificate.chain", "controlNode.certificate.key"},
		sets:  []set{{"controlNode.certificate", certificateJSON}},
		shown: []string{`controlNode.certificate: {"domain":"observatory.example.com", …}`},
		effects: effects{
			changes.Updated:  {"workloads-status-config"},
			changes.Replaced: {"workloads-grafana-access", "workloads-status-access", "workloads-tools-access"},
			changes.Deleted: {"workloads-grafana-ca*", "workloads-grafana-certificate", "workloads-grafana-key", "workloads-grafana-request",
				"workloads-status-certificate", "workloads-status-key", "workloads-status-request",
				"workloads-tools-certificate", "workloads-tools-key", "workloads-tools-request"},
			changes.Restarted: {"workloads-grafana", "workloads-status", "workloads-tools"},
		},
	}
}

// certificateJSON stands for a certificate that is issued when the edit is made.
const certificateJSON = `"issued"`

func retentionEdits() []edit {
	return []edit{
		one("retention.tempoDays", `7`, effects{changes.Updated: {"workloads-tempo-config"}, changes.Restarted: {"workloads-tempo"}}),
		one("retention.pyroscopeDays", `7`, effects{changes.Updated: {"workloads-pyroscope-config"}, changes.Restarted: {"workloads-pyroscope"}}),
		one("retention.victoriaMetricsDays", `7`, effects{changes.Restarted: {"workloads-victoria-metrics"}}),
		one("retention.victoriaLogsDays", `7`, effects{changes.Restarted: {"workloads-victoria-logs"}}),
		one("limits.seriesPerHour", `1000`, effects{changes.Restarted: {"workloads-redelivery"}}),
		one("limits.logMiBPerHour", `100`, effects{changes.Restarted: {"workloads-redelivery"}}),
		one("limits.spansPerHour", `1000`, effects{changes.Restarted: {"workloads-redelivery"}}),
		one("limits.profilesPerHour", `1000`, effects{changes.Restarted: {"workloads-redelivery"}}),
		one("retention.logDays", `7`, effects{changes.Updated: {"storage-data", "storage-logs"}}),
		one("retention.artifactDays", `90`, effects{changes.Updated: {"storage-data"}}),
	}
}

// tracingEdits: jobs read the ratio from spark-defaults, steps from the status server.
func tracingEdits() []edit {
	ratio := effects{changes.Replaced: {"emr-main-cluster", "emr-main-task-spot"}, changes.Restarted: {"workloads-status"}}
	copied := []string{"workloads-collector", "workloads-victoria-metrics", "workloads-victoria-logs"}
	return []edit{
		one("tracing.enabled", `false`, ratio, "emr-main-cluster"),
		one("tracing.samplingRatio", `0.1`, ratio, "emr-main-cluster"),
		one("tracing.endpoint", `"otlp.example.com:4317"`, effects{
			changes.Created: {"network-control-traces-out"}, changes.Updated: {"workloads-collector-config"}, changes.Restarted: copied,
		}),
		{keys: []string{"tracing.protocol", "tracing.headersParameter", "tracing.caCertificate", "tracing.serviceName"},
			sets: []set{{"tracing.endpoint", `"https://otlp.example.com"`}, {"tracing.protocol", `"http"`},
				{"tracing.headersParameter", `"/observatory/trace-headers"`}, {"tracing.caCertificate", authorityJSON},
				{"tracing.serviceName", `"spark"`}},
			shown: []string{`tracing: {"endpoint":"https://otlp.example.com", "protocol":"http", "headersParameter":…, …}`},
			effects: effects{
				changes.Updated:   {"control-access", "workloads-collector-config", "workloads-instance-metadata"},
				changes.Restarted: copied,
			}},
		one("tracing.airflowSecurityGroups", `["sg-0123abcd"]`, effects{changes.Created: {
			"network-control-otlp-grpc-from-sg-0123abcd", "network-control-otlp-http-from-sg-0123abcd",
		}}),
		{keys: []string{"tracing.exporterType"}, sets: []set{{"tracing.exporterType", `"jaeger"`}}, engineError: "tracing.exporterType"},
	}
}

// profilerEdits: the status server lists what runs, and what runs is scraped.
func profilerEdits() []edit {
	reads := effects{changes.Updated: {"workloads-profiler-config"}, changes.Restarted: {"workloads-profiler"}}
	return []edit{
		one("profiler.enabled", `false`, effects{
			changes.Deleted: {"workloads-profiler*", "workloads-tools*", "control-tools-*", "control-assume-tools-role",
				"telemetry-profiler-binary", "network-control-tools-from-*"},
			changes.Updated:   {"control-access", "workloads-instance-metadata", "workloads-*-config"},
			changes.Restarted: {"workloads-status", "workloads-victoria-metrics"},
		}),
		// The policy loses its condition, and the snippets their tags.
		one("profiler.scope", `"account"`, effects{
			changes.Updated:   {"control-access", "workloads-profiler-config", "workloads-status-config"},
			changes.Restarted: {"workloads-profiler", "workloads-status"},
		}),
		one("profiler.intervalMinutes", `30`, effects{changes.Restarted: {"workloads-profiler"}}),
		one("profiler.maxClusters", `10`, reads),
		one("profiler.clusterStates", `["TERMINATED"]`, reads),
		one("profiler.nameFilter", `"etl"`, reads),
		one("profiler.includeTasks", `true`, reads),
		one("profiler.retentionDays", `400`, reads),
		one("profiler.readableByJobs", `true`, effects{changes.Updated: {"emr-main-node"}}),
		one("profiler.eventLogs", `["s3://logs/spark/"]`, effects{changes.Updated: {"control-access"}}),
		one("profiler.athena", `true`, effects{changes.Created: {"lake-*"}, changes.Updated: {"storage-data"}}),
		one("profiler.athenaScanGiB", `50`, nothing), // without profiler.athena
	}
}

// authorityJSON stands for a CA that is issued when the edit is made.
const authorityJSON = `"authority"`

func endpointEdits() []edit {
	const endpoint = `"http://10.0.0.2:7070"`
	out := []edit{
		// Every server reads the endpoint from the shared environment.
		one("awsEndpoints.s3", endpoint, effects{changes.Updated: {"workloads-cluster-config"}, changes.Restarted: {
			"workloads-collector", "workloads-victoria-metrics", "workloads-victoria-logs", "workloads-tempo",
			"workloads-pyroscope", "workloads-yace", "workloads-grafana", "workloads-status", "workloads-redelivery", "workloads-profiler",
			"workloads-tools",
		}}),
		{keys: []string{"grafana.url"}, sets: []set{{"grafana.url", `"https://127.0.0.1:3000"`}}, engineError: "grafana.url"},
	}
	for _, service := range []string{"ec2", "emr", "iam", "kms", "ssm", "sts"} {
		out = append(out, one("awsEndpoints."+service, endpoint, nothing))
	}
	return out
}
