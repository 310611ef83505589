package changes_test

import "github.com/emr-observatory/emr-observatory/stacks/changes"

// shapes adds to Pulumi.dev.yaml the clusters that editsOfShapes edits: what cluster main
// has not, or has not at the same time.
func shapes() []set {
	return []set{
		{"clusters.rules", `{
			"core": {"count": 2, "autoScaling": ` + rulesJSON + `},
			"tasks": {"spot": {"count": 1, "autoScaling": ` + rulesJSON + `,
				"configurations": [{"classification": "yarn-site", "properties": {"a": "b"}}]}},
			"steps": [{"name": "load", "args": ["true"]}],
			"bootstrapActions": [{"name": "own", "path": "s3://bucket/own.sh", "args": ["a"]}]
		}`},
		{"clusters.fleets", `{
			"fleets": {
				"master": {"types": [{}]},
				"core": {"types": [{"weight": 2, "ebs": [{"sizeGiB": 64}]}], "onDemand": 2, "spot": 2},
				"task": {"types": [{"bidPercent": 60}], "spot": 2}
			},
			"managedScaling": {"unit": "InstanceFleetUnits", "min": 2, "max": 20, "maxCore": 5},
			"kerberos": {"passwordParameter": "/observatory/kdc"},
			"runtimeRoles": {"arns": ["arn:aws:iam::123456789012:role/sales"]},
			"access": {"s3Read": ["s3://raw/"]}
		}`},
		{"clusters.growing", growingJSON},
		{"schedules", nightly},
	}
}

// growingJSON is a cluster that has no task fleet yet.
const growingJSON = `{"fleets": {"master": {"types": [{}]}, "core": {"types": [{}], "onDemand": 2}}}`

// editsOfSchedules edit the schedule of cluster main, which follows a cluster that is replaced.
func editsOfSchedules() []edit {
	const schedule = "schedules-nightly"
	edited := func(key, value string, e effects) edit { return one("schedules.nightly."+key, value, e) }
	shown := effects{changes.Updated: {schedule, "workloads-status-config"}, changes.Restarted: {"workloads-status"}}
	return []edit{
		edited("expression", `"cron(0 3 * * ? *)"`, shown),
		edited("enabled", `false`, shown),
		edited("retries", `3`, effects{changes.Updated: {schedule}}),
		edited("steps.args", `["spark-submit","s3://bucket/other.py"]`, effects{changes.Updated: {schedule, "emr-main-node"}}),
		one("schedules", `{}`, effects{
			changes.Deleted: {"schedules-*"}, changes.Updated: {"emr-main-node", "workloads-status-config"}, changes.Restarted: {"workloads-status"},
		}),
		one("clusters.main.releaseLabel", `"emr-7.9.0"`, effects{
			changes.Replaced: {"emr-main-cluster"}, changes.Updated: {schedule, "schedules-start"},
		}, "emr-main-cluster"),
	}
}

func editsOfShapes() []edit {
	of := func(cluster, key, value string, e effects, refused ...string) edit {
		at := "clusters." + cluster + "." + key
		return edit{keys: []string{at}, sets: []set{{at, value}}, effects: e, refused: refused}
	}
	const rules, fleets = "emr-rules-cluster", "emr-fleets-cluster"
	inPlace := effects{changes.Updated: {rules}}
	replacesRules := effects{changes.Replaced: {rules, "emr-rules-task-spot"}}
	replacesFleets := effects{changes.Replaced: {fleets, "emr-fleets-scaling", "emr-fleets-task"}}
	return append(editsOfSchedules(), []edit{
		of("rules", "core.autoScaling.max", `5`, inPlace),
		of("rules", "core.autoScaling.rules.threshold", `20`, inPlace),
		of("rules", "core.autoScaling", `null`, inPlace),
		// The role of automatic scaling is needed no more, and EMR cannot edit a cluster's roles.
		{
			keys: []string{"clusters.rules.core.autoScaling", "clusters.rules.tasks.spot.autoScaling"},
			sets: []set{{"clusters.rules.core.autoScaling", `null`}, {"clusters.rules.tasks.spot.autoScaling", `null`}},
			effects: effects{
				changes.Replaced: replacesRules[changes.Replaced], changes.Deleted: {"emr-rules-scaling"}, changes.Updated: {"emr-rules-service"},
			}, refused: []string{rules},
		},
		of("rules", "core.count", `3`, nothing),
		of("rules", "tasks.spot.autoScaling.rules.coolDownSeconds", `600`, effects{changes.Updated: {"emr-rules-task-spot"}}),
		of("rules", "tasks.spot.autoScaling", `null`, effects{changes.Replaced: {"emr-rules-task-spot"}}),
		of("rules", "tasks.spot.configurations.properties", `{"a":"c"}`, effects{changes.Updated: {"emr-rules-task-spot"}}),
		of("rules", "tasks.spot.configurations", `[]`, effects{changes.Replaced: {"emr-rules-task-spot"}}),
		of("rules", "steps.args", `["false"]`, nothing),
		of("rules", "bootstrapActions.path", `"s3://bucket/newer.sh"`, effects{
			changes.Replaced: replacesRules[changes.Replaced], changes.Updated: {"emr-rules-node"},
		}, rules),
		of("rules", "bootstrapActions.args", `["b"]`, replacesRules, rules),
		of("fleets", "fleets.master.types.instanceType", `"m5.2xlarge"`, replacesFleets, fleets),
		of("fleets", "fleets.core.onDemand", `4`, nothing), // managed scaling owns the targets
		of("fleets", "fleets.core.spot", `4`, nothing),
		{
			keys:    []string{"clusters.fleets.fleets.core.onDemand", "clusters.fleets.managedScaling"},
			sets:    []set{{"clusters.fleets.fleets.core.onDemand", `4`}, {"clusters.fleets.managedScaling", `null`}},
			effects: effects{changes.Replaced: {fleets, "emr-fleets-task"}, changes.Deleted: {"emr-fleets-scaling"}}, refused: []string{fleets},
		},
		of("fleets", "fleets.core.types.weight", `1`, replacesFleets, fleets),
		of("fleets", "fleets.core.types.ebs", `[]`, replacesFleets, fleets), // the provider would keep them
		of("fleets", "fleets.core.spotTimeoutMinutes", `30`, replacesFleets, fleets),
		of("fleets", "fleets.task.spot", `4`, nothing),
		// EMR neither removes a task fleet nor creates another one in its place.
		of("fleets", "fleets.task.types.bidPercent", `70`, replacesFleets, fleets),
		of("fleets", "fleets.task.spotStrategy", `"diversified"`, replacesFleets, fleets),
		of("fleets", "fleets.task", `null`, effects{
			changes.Replaced: {fleets, "emr-fleets-scaling"}, changes.Deleted: {"emr-fleets-task"},
		}, fleets),
		of("fleets", "sparkDefaults", `{"spark.executor.memory":"4g"}`, replacesFleets, fleets),
		of("fleets", "managedScaling.max", `30`, effects{changes.Replaced: {"emr-fleets-scaling"}}),
		of("fleets", "kerberos.ticketLifetimeHours", `12`, effects{
			changes.Replaced: {fleets, "emr-fleets-scaling", "emr-fleets-security", "emr-fleets-task"},
		}, fleets),
		of("fleets", "runtimeRoles.arns", `["arn:aws:iam::123456789012:role/other"]`, effects{changes.Updated: {"emr-fleets-node"}}),
		of("fleets", "access.s3Read", `["s3://raw/sales/"]`, effects{changes.Updated: {"emr-fleets-node"}}),
		// EMR adds a first task fleet to a running cluster.
		of("growing", "fleets.task", `{"types":[{}],"onDemand":1}`, effects{changes.Created: {"emr-growing-task"}}),
	}...)
}
