package changes_test

import (
	"encoding/json"
	"strings"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// named returns the keys that a value sets at a key of cluster main: the key itself, and
// before it those below.
func named(key, value string) []string {
	var decoded any
	if err := json.Unmarshal([]byte(value), &decoded); err != nil {
		return nil // the preview fails for it
	}
	sets := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		sets[at] = true
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(at+"."+k, e)
			}
		case []any:
			for _, e := range v {
				walk(at, e)
			}
		}
	}
	walk(key, decoded)
	var out []string
	pattern := strings.NewReplacer("clusters.main", "clusters.*", "tasks.spot", "tasks.*").Replace(key)
	for _, f := range config.Fields() {
		if rest, ok := strings.CutPrefix(f.Path, pattern+"."); ok && sets[key+"."+rest] {
			out = append(out, key+"."+rest)
		}
	}
	return append(out, key)
}

// inCluster edits a key of cluster main, and with it those that the value sets below.
func inCluster(key, value string, e effects, refused ...string) edit {
	at := "clusters.main." + key
	return edit{keys: named(at, value), sets: []set{{at, value}}, effects: e, refused: refused}
}

func refusedKey(key, value, path string) edit {
	at := "clusters.main." + key
	return edit{keys: named(at, value), sets: []set{{at, value}}, engineError: "clusters.main." + path}
}

// scheduleKeys are the keys of a schedule, of which any makes the whole.
func scheduleKeys() []string {
	out := []string{"schedules"}
	for _, key := range []string{
		"expression", "timezone", "start", "end", "enabled", "cluster", "retries", "maxAgeMinutes", "steps", "steps.name",
		"steps.actionOnFailure", "steps.jar", "steps.args", "steps.mainClass", "steps.properties",
	} {
		out = append(out, "schedules.nightly."+key)
	}
	return out
}

// nightly is a schedule of the cluster main.
const nightly = `{"nightly":{"expression":"cron(0 2 * * ? *)","cluster":"main",` +
	`"steps":[{"name":"load","args":["spark-submit","s3://bucket/load.py"]}]}}`

func clusterEdits() []edit {
	// The bootstrap action lists the artifacts by architecture.
	artifacts := effects{
		changes.Replaced: {"emr-main-cluster", "emr-main-task-spot", "telemetry-bootstrap"}, changes.Deleted: {"telemetry-artifact-*"},
		// It tells which clusters have an older bootstrap action.
		changes.Updated: {"workloads-status-config"}, changes.Restarted: {"workloads-status"},
	}
	out := []edit{
		one("architectures", `["amd64"]`, artifacts, "emr-main-cluster"),
		{keys: []string{"budget", "budget.monthlyUsd", "budget.action"}, sets: []set{{"budget", `{"monthlyUsd":5000,"action":"refuse"}`}},
			effects: nothing},
		{keys: scheduleKeys(), sets: []set{{"schedules", nightly}},
			// Nodes may read the step's program; the status page shows the schedule.
			effects: effects{changes.Created: {"schedules-*"}, changes.Updated: {"emr-main-node", "workloads-status-config"},
				changes.Restarted: {"workloads-status"}}},
		{keys: []string{"schedules.nightly.stepsFrom"}, sets: []set{{"schedules", `{"nightly":{"expression":"cron(0 2 * * ? *)",` +
			`"cluster":"main","stepsFrom":"s3://bucket/steps.json"}}`}},
			effects: effects{changes.Created: {"schedules-*"}, changes.Updated: {"workloads-status-config"},
				changes.Restarted: {"workloads-status"}}},
		one("blockPublicAccess", `true`, effects{changes.Created: {"emr-block-public-access"}}),
		one("clusters", `{}`, effects{changes.Deleted: {"emr-main-*"}}, "emr-main-cluster"),
	}
	out = append(out, groupEdits()...)
	out = append(out, shapeEdits()...)
	out = append(out, lifeEdits()...)
	out = append(out, settingEdits()...)
	return append(out, scalingEdits()...)
}

func groupEdits() []edit {
	const cluster = "emr-main-cluster"
	out := []edit{
		inCluster("master.count", `3`, replacesCluster, cluster),
		inCluster("core.count", `3`, effects{changes.Updated: {cluster}}),
		// The provider would keep the core nodes.
		inCluster("core.count", `0`, effects{}, cluster),
		inCluster("tasks.spot.count", `2`, effects{changes.Updated: {"emr-main-task-spot"}}),
		inCluster("tasks", `{}`, effects{changes.Deleted: {"emr-main-task-spot"}}),
		// Spot primaries are for ephemeral stacks, so this edit makes it one.
		{keys: []string{"clusters.main.master.bidPrice"}, sets: []set{{"clusters.main.master.bidPrice", `"0.10"`}, {"ephemeral", `true`}},
			effects: effects{
				changes.Replaced:    {cluster, "emr-main-task-spot"},
				changes.Unprotected: {"storage-data", "storage-logs", "storage-key", "control-data"},
			}, refused: []string{cluster}},
		inCluster("core.bidPrice", `"0.10"`, replacesCluster, cluster),
		inCluster("tasks.spot.bidPrice", `"0.10"`, replacesTask),
		inCluster("tasks.spot.ebsOptimized", `true`, replacesTask),
		inCluster("tasks.spot.configurations", classificationsJSON, effects{changes.Updated: {"emr-main-task-spot"}}),
		refusedKey("tasks.spot.ebs.throughput", `250`, "tasks.spot.ebs[0].throughput"),
		refusedKey("master.ebsOptimized", `true`, "master.ebsOptimized"),
		refusedKey("core.ebsOptimized", `true`, "core.ebsOptimized"),
		refusedKey("master.configurations", classificationsJSON, "master.configurations"),
		refusedKey("core.configurations", classificationsJSON, "core.configurations"),
	}
	out[2] = edit{keys: []string{"clusters.main.core.count"}, sets: []set{{"clusters.main.core.count", `0`}, {"clusters.main.tasks", `{}`}},
		effects: effects{changes.Replaced: {cluster}, changes.Deleted: {"emr-main-task-spot"}}, refused: []string{cluster}}
	for _, role := range []string{"master", "core", "tasks.spot"} {
		e, refused := replacesCluster, []string{cluster}
		if role == "tasks.spot" {
			e, refused = replacesTask, nil
		}
		out = append(out,
			inCluster(role+".instanceType", `"m5.2xlarge"`, e, refused...),
			inCluster(role+".ebs.type", `"gp2"`, e, refused...),
			inCluster(role+".ebs.sizeGiB", `256`, e, refused...),
			inCluster(role+".ebs.iops", `4000`, e, refused...),
			inCluster(role+".ebs.perInstance", `2`, e, refused...),
			one("clusters.main."+role+".ebs", `[]`, e, refused...), // the provider would keep them
		)
		if role != "tasks.spot" {
			out = append(out, inCluster(role+".ebs.throughput", `250`, e, refused...))
		}
	}
	return out
}

// shapeEdits are about where and as what the nodes start.
func shapeEdits() []edit {
	const cluster = "emr-main-cluster"
	return []edit{
		inCluster("releaseLabel", `"emr-7.9.0"`, replacesCluster, cluster),
		inCluster("applications", `["Hadoop","Spark","Hive"]`, replacesCluster, cluster),
		{keys: []string{"clusters.main.observe"},
			sets:    []set{{"clusters.main.observe", `"hostsOnly"`}, {"clusters.main.applications", `["Flink"]`}},
			effects: replacesCluster, refused: []string{cluster}},
		inCluster("subnets", `[1]`, replacesCluster, cluster),
		{keys: []string{"clusters.main.placement"}, sets: []set{{"clusters.main.placement", `"SPREAD"`}, {"clusters.main.master.count", `3`}},
			effects: replacesCluster, refused: []string{cluster}},
		inCluster("customAmiId", `"ami-0123456789abcdef0"`, replacesCluster, cluster),
		inCluster("rootVolumeGiB", `50`, replacesCluster, cluster),
		{keys: named("clusters.main.fleets", fleetsJSON), sets: []set{{"clusters.main.fleets", fleetsJSON}, {"clusters.main.tasks", `{}`},
			{"clusters.main.master", `{}`}, {"clusters.main.core", `{}`}},
			shown: []string{`clusters.main.fleets: {"master":…, "core":…}, without groups`},
			effects: effects{
				changes.Replaced: {cluster}, changes.Deleted: {"emr-main-task-spot"}, changes.Created: {"emr-main-task"},
			}, refused: []string{cluster}},
		fleetThroughput(),
		inCluster("serviceRoleArn", `"arn:aws:iam::123456789012:role/emr"`, effects{
			changes.Replaced: {cluster, "emr-main-task-spot", "emr-main-service"}, changes.Deleted: {"emr-main-service"},
		}, cluster),
		inCluster("instanceProfileArn", `"arn:aws:iam::123456789012:instance-profile/nodes"`, effects{
			changes.Replaced: {cluster, "emr-main-task-spot", "emr-main-node"}, changes.Deleted: {"emr-main-node"},
			changes.Updated: {"emr-main-service"},
		}, cluster),
		inCluster("masterSecurityGroups", `["sg-0123abcd"]`, replacesCluster, cluster),
		inCluster("coreSecurityGroups", `["sg-0123abcd"]`, replacesCluster, cluster),
	}
}

// Values that set every key below theirs, but for what no cluster may set there.
const (
	fleetJSON = `"types":[{"instanceType":"m5.xlarge","weight":1,"bidPrice":"0.2","bidPercent":0,` +
		`"ebs":[{"type":"gp3","sizeGiB":64,"iops":4000,"perInstance":2}]}],` +
		`"onDemandStrategy":"lowest-price","spotStrategy":"diversified","spotTimeoutMinutes":30,"spotTimeoutAction":"TERMINATE_CLUSTER"`
	fleetsJSON = `{"master":{"onDemand":1,"spot":0,` + fleetJSON + `},"core":{"onDemand":2,"spot":2,` + fleetJSON + `},` +
		`"task":{"onDemand":1,"spot":1,` + fleetJSON + `}}`

	classificationsJSON = `[{"classification":"yarn-site","properties":{"a":"b"}},` +
		`{"classification":"hadoop-env","configurations":[{"classification":"export","properties":{"A":"b"}}]}]`
	stepsJSON = `[{"name":"load","actionOnFailure":"CANCEL_AND_WAIT","jar":"s3://bucket/own.jar","mainClass":"com.example.Main",` +
		`"args":["true"],"properties":{"a":"b"}}]`
	kerberosJSON = `{"realm":"ETL.INTERNAL","passwordParameter":"/observatory/kdc","ticketLifetimeHours":12,"trust":{` +
		`"realm":"AD.EXAMPLE.COM","domain":"ad.example.com","adminServer":"ad.example.com:749","kdcServer":"10.0.0.8",` +
		`"passwordParameter":"/observatory/trust","joinUser":"joiner","joinPasswordParameter":"/observatory/join"}}`
	accessJSON = `{"s3Read":["s3://raw/"],"s3Write":["s3://curated/sales/"],` +
		`"kmsKeys":["arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"],"glueDatabases":["sales"],` +
		`"secrets":["arn:aws:secretsmanager:us-east-1:123456789012:secret:db-AbCdEf"]}`
)

// fleetThroughput is refused of every fleet.
func fleetThroughput() edit {
	out := edit{
		sets: []set{{"clusters.main.fleets", strings.ReplaceAll(fleetsJSON, `"iops":4000`, `"iops":4000,"throughput":250`)},
			{"clusters.main.tasks", `{}`}, {"clusters.main.master", `{}`}, {"clusters.main.core", `{}`}},
		shown:       []string{`clusters.main.fleets: {"master":…, "core":…}, with throughput`},
		engineError: "clusters.main.fleets.master.types[0].ebs[0].throughput",
	}
	for _, role := range []string{"master", "core", "task"} {
		out.keys = append(out.keys, "clusters.main.fleets."+role+".types.ebs.throughput")
	}
	return out
}

func lifeEdits() []edit {
	const cluster = "emr-main-cluster"
	updates := effects{changes.Updated: {cluster}}
	return []edit{
		inCluster("idleTimeoutMinutes", `30`, updates),
		inCluster("terminationProtection", `true`, updates),
		inCluster("unhealthyNodeReplacement", `false`, updates),
		inCluster("stepConcurrency", `4`, updates),
		inCluster("scaleDownBehavior", `"TERMINATE_AT_INSTANCE_HOUR"`, replacesCluster, cluster),
		inCluster("steps", stepsJSON, effects{changes.Updated: {"emr-main-node"}}), // which may read the jar, for the next cluster
		{keys: []string{"clusters.main.keepAlive"}, sets: []set{{"clusters.main.keepAlive", `false`}, {"clusters.main.idleTimeoutMinutes", `0`},
			{"clusters.main.steps", `[{"name":"load","args":["true"]}]`}}, effects: replacesCluster, refused: []string{cluster}},
		{keys: []string{"clusters.main.startedBy"}, sets: []set{{"clusters.main.startedBy", `"schedules"`}, {"clusters.main.keepAlive", `false`},
			{"clusters.main.idleTimeoutMinutes", `0`}, {"schedules", nightly}}, refused: []string{cluster}, effects: effects{
			changes.Deleted: {cluster, "emr-main-task-spot"}, changes.Created: {"schedules-*"},
			changes.Updated: {"emr-main-node", "workloads-status-config"}, changes.Restarted: {"workloads-status"}}},
		inCluster("tags", `{"team":"data"}`, updates),
	}
}

// newSecurity is a change of the security configuration, which EMR cannot edit.
var newSecurity = effects{changes.Replaced: {"emr-main-security", "emr-main-cluster", "emr-main-task-spot"}}

func settingEdits() []edit {
	const cluster = "emr-main-cluster"
	return []edit{
		inCluster("sparkDefaults", `{"spark.executor.memory":"4g"}`, replacesCluster, cluster),
		inCluster("rolledEventLogs", `false`, replacesCluster, cluster),
		{
			keys: []string{"clusters.main.tenants.sales.share", "clusters.main.tenants.sales.ceiling", "clusters.main.tenants.sales.preemption"},
			sets: []set{{"clusters.main.tenants", `{"sales":{"share":60,"ceiling":80,"preemption":false}}`}}, effects: replacesCluster,
			refused: []string{cluster},
		},
		inCluster("preset", `"data-engineering"`, effects{
			changes.Replaced: replacesCluster[changes.Replaced], changes.Updated: {"emr-main-node"}, changes.Created: {"emr-main-scaling"},
		}, cluster),
		// The node role gets the rights of the catalog.
		inCluster("glueCatalog", `true`, effects{
			changes.Replaced: replacesCluster[changes.Replaced], changes.Updated: {"emr-main-node"},
		}, cluster),
		inCluster("configurations", classificationsJSON, replacesCluster, cluster),
		// The node role may read the script.
		inCluster("bootstrapActions", `[{"name":"own","path":"s3://bucket/own.sh","args":["a"]}]`, effects{
			changes.Replaced: replacesCluster[changes.Replaced], changes.Updated: {"emr-main-node"},
		}, cluster),
		inCluster("encryption", `{"certificates":"s3://bucket/tls/main.zip"}`, effects{
			changes.Replaced: newSecurity[changes.Replaced], changes.Updated: {"emr-main-node"},
		}, cluster),
		inCluster("kerberos", kerberosJSON, newSecurity, cluster),
		inCluster("runtimeRoles", `{"arns":["arn:aws:iam::123456789012:role/sales"],"propagateSourceIdentity":true}`, effects{
			changes.Replaced: newSecurity[changes.Replaced], changes.Updated: {"emr-main-node"},
		}, cluster),
		inCluster("access", accessJSON, effects{changes.Updated: {"emr-main-node"}}),
	}
}

const rulesJSON = `{"min":1,"max":4,"rules":[` +
	`{"name":"out","description":"busy","adjustmentType":"PERCENT_CHANGE_IN_CAPACITY","adjustment":50,"coolDownSeconds":900,` +
	`"metric":"YARNMemoryAvailablePercentage","comparison":"LESS_THAN","threshold":15,"periodSeconds":300,"evaluationPeriods":2,` +
	`"statistic":"MAXIMUM"},` +
	`{"name":"in","metric":"YARNMemoryAvailablePercentage","comparison":"GREATER_THAN","threshold":75,"adjustment":-1}]}`

func scalingEdits() []edit {
	const cluster = "emr-main-cluster"
	rules := effects{
		changes.Created: {"emr-main-scaling"}, changes.Updated: {"emr-main-service"}, changes.Replaced: {cluster, "emr-main-task-spot"},
	}
	return []edit{
		inCluster("managedScaling", `{"unit":"VCPU","min":2,"max":40,"maxCore":20,"maxOnDemand":30}`,
			effects{changes.Created: {"emr-main-scaling"}}),
		refusedKey("master.autoScaling", rulesJSON, "master.autoScaling"),
		// The role of automatic scaling is the cluster's.
		inCluster("core.autoScaling", rulesJSON, rules, cluster),
		inCluster("tasks.spot.autoScaling", rulesJSON, rules, cluster),
	}
}
