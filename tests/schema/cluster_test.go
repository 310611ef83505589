package schema_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// cluster returns a cluster whose fields are consistent with each other.
func (g generator) cluster(c *schema.Config) schema.Cluster {
	var e schema.Cluster
	e.SetDefaults()
	g.fill(&e)
	e.StartedBy = schema.StartedByUpdate // schedules have tests of their own
	g.applications(&e)
	g.groups(&e, c.Ephemeral)
	g.life(&e, c.Ephemeral)
	g.launch(&e)
	if g.IntN(3) == 0 {
		g.fleets(&e, c.Ephemeral)
	}
	g.scaling(&e)
	g.settings(&e)
	g.security(&e)
	agree(&e)
	return e
}

// agree drops what a cluster cannot have beside the rest of it.
func agree(e *schema.Cluster) {
	has := func(name string) bool { return slices.Contains(e.Applications, name) }
	drop := func(names ...string) {
		e.Applications = slices.DeleteFunc(e.Applications, func(a string) bool { return slices.Contains(names, a) })
	}
	if has("Presto") {
		drop("Trino")
	}
	if slices.Contains([]string{"emr-6.15.0", "emr-7.0.0", "emr-7.1.0", "emr-7.2.0", "emr-7.3.0", "emr-7.4.0"}, e.ReleaseLabel) {
		drop("TensorFlow") // not on Graviton
	}
	if e.Masters() == 3 {
		drop("Hue", "Oozie")
		e.RuntimeRoles.SetDefaults()
		if e.GlueCatalog = has("Spark") || has("Hive"); !e.GlueCatalog {
			drop("HCatalog", "Presto", "Trino")
		}
	}
	if e.Kerberos != nil && !e.Encryption.InTransit() {
		drop("Presto", "Trino")
	}
	if e.RuntimeRoles.Enabled() {
		drop("AmazonCloudWatchAgent")
	}
	if has("HBase") || has("Phoenix") || has("Presto") || has("Trino") {
		e.IdleTimeoutMinutes = 0
	}
	for i := range e.Steps {
		if len(e.Steps[i].Args) > 0 && !has("Spark") {
			e.Steps[i].Args[0] = "hadoop"
		}
	}
}

func (g generator) applications(e *schema.Cluster) {
	e.Applications = slices.DeleteFunc(e.Applications, func(name string) bool {
		return !slices.Contains(facts.ReleasesOf(name),
			e.ReleaseLabel)
	})
	e.Observe = schema.ObserveFull
	if g.IntN(5) == 0 {
		e.Observe = schema.ObserveHostsOnly
		e.Applications = slices.DeleteFunc(e.Applications, func(a string) bool { return a == "Spark" })
	} else if !slices.Contains(e.Applications, "Spark") {
		e.Applications = append(e.Applications, "Spark")
	}
	e.GlueCatalog = e.GlueCatalog && (slices.Contains(e.Applications, "Spark") || slices.Contains(e.Applications, "Hive"))
}

func (g generator) groups(e *schema.Cluster, ephemeral bool) {
	e.Master.Count = []int{1, 3}[g.IntN(2)]
	if !ephemeral {
		e.Master.BidPrice = ""
	}
	e.Master.EBS, e.Core.EBS = g.volumes(false), g.volumes(false)
	e.Master.EBSOptimized, e.Core.EBSOptimized = false, false
	e.Tasks = map[string]schema.InstanceGroup{}
	if g.IntN(4) == 0 {
		e.Core.Count, e.Master.Count = 0, 1 // the primary node alone
	} else {
		for _, key := range []string{"spot", "g", "x-1"}[:g.IntN(4)] {
			e.Tasks[key] = g.taskGroup(e.ReleaseLabel)
		}
	}
	g.fit(&e.Master, e.ReleaseLabel)
	g.fit(&e.Core, e.ReleaseLabel)
	e.Placement = ""
	if e.Master.Count == 3 {
		e.Placement = g.oneOf("", "SPREAD")
	}
	e.RootVolumeGiB = []int{0, 15, 100, g.between(15, 100)}[g.IntN(4)]
}

func (g generator) taskGroup(release string) schema.InstanceGroup {
	var task schema.InstanceGroup
	g.fill(&task)
	task.EBS = g.volumes(true)
	g.fit(&task, release)
	task.Configurations = g.classifications()
	return task
}

// life returns clusters that stay, and some that end after their steps.
func (g generator) life(e *schema.Cluster, ephemeral bool) {
	e.TerminationProtection = e.TerminationProtection && !ephemeral
	e.Steps = []schema.Step{}
	for i := range g.IntN(3) {
		s := schema.Step{Name: fmt.Sprintf("step %d", i), ActionOnFailure: "CONTINUE", Jar: "s3://bucket/a.jar", MainClass: g.oneOf("", "a.B")}
		if g.IntN(2) == 0 {
			s.Jar, s.MainClass, s.Args = "command-runner.jar", "", []string{"spark-submit", g.oneOf("", "a b", `quo"te`)}
		}
		e.Steps = append(e.Steps, s)
	}
	if len(e.Steps) == 0 || e.Master.Count == 3 {
		e.KeepAlive = true
	}
	if !e.KeepAlive {
		e.IdleTimeoutMinutes, e.TerminationProtection = 0, false
	}
}

func (g generator) launch(e *schema.Cluster) {
	e.Subnets = []int{g.IntN(2)}
	for i := range []int{0, 1, 15}[g.IntN(3)] {
		e.BootstrapActions = append(e.BootstrapActions, schema.BootstrapAction{
			Name: fmt.Sprintf("action %d", i), Path: g.oneOf("s3://bucket/x.sh", "file:///opt/x.sh"), Args: []string{g.oneOf("", "a b")},
		})
	}
	e.Tags = g.tags()
}

// security returns clusters of every kind of authentication.
func (g generator) security(e *schema.Cluster) {
	if !slices.Contains(e.Applications, "Spark") && !slices.Contains(e.Applications, "Hive") {
		e.RuntimeRoles.SetDefaults()
	}
	e.RuntimeRoles.PropagateSourceIdentity = e.RuntimeRoles.PropagateSourceIdentity && e.RuntimeRoles.Enabled()
	if e.Masters() == 3 || g.IntN(2) == 0 {
		return
	}
	k := &schema.Kerberos{}
	k.SetDefaults()
	g.fill(k)
	k.PasswordParameter, k.TicketLifetimeHours = "/observatory/kdc", g.between(1, 100)
	if g.IntN(2) == 0 {
		k.Trust = &schema.RealmTrust{}
		g.fill(k.Trust)
		k.Trust.PasswordParameter, k.Trust.JoinPasswordParameter = "/aws/reference/secretsmanager/trust", ""
		if k.Trust.JoinUser != "" {
			k.Trust.JoinPasswordParameter = "/observatory/join"
		}
	}
	e.Kerberos = k
}

func (g generator) settings(e *schema.Cluster) {
	if g.IntN(2) == 0 {
		e.SparkDefaults["spark.executor.memory"] = g.oneOf("450m", "512m", "524288k") // which fit beside HBase, too
	}
	for range g.IntN(4) {
		key := g.oneOf(`spark.a"b`, "spark.ü", "spark.driver.extraJavaOptions", "spark.x<y>&z")
		e.SparkDefaults[key] = g.oneOf("", "4g", `quo"te`, `back\slash`, "ключ", "'kill -9 %p'", strings.Repeat("x", 500))
	}
	if e.Observe == schema.ObserveHostsOnly {
		e.SparkDefaults = map[string]string{}
	}
	e.Configurations = g.classifications()
}

// classifications returns some of the platform's own, of others, and nested ones.
func (g generator) classifications() []schema.Configuration {
	out := []schema.Configuration{}
	for _, name := range []string{"yarn-site", "core-site", "hue-ini", "container-executor"}[:g.IntN(5)] {
		c := schema.Configuration{Classification: name, Properties: map[string]string{g.oneOf("a.b", "ü", "x<y>"): g.oneOf("", "1", `quo"te`)}}
		if g.IntN(2) == 0 {
			c.Configurations = []schema.Configuration{{Classification: g.oneOf("docker", "export"), Properties: map[string]string{
				"A": "b", "docker.allowed.ro-mounts": "/etc/passwd,/usr/lib,/usr/share,/etc/krb5.conf",
			}}}
		}
		out = append(out, c)
	}
	return out
}

// scaling returns clusters that EMR scales, and groups that rules scale.
func (g generator) scaling(e *schema.Cluster) {
	if !e.HasCore() {
		return
	}
	if g.IntN(3) == 0 {
		m := &schema.ManagedScaling{Unit: g.oneOf(schema.UnitInstances, schema.UnitVCPU), Min: g.between(1, 5)}
		if e.Fleets != nil {
			m.Unit = schema.UnitFleetUnits
		}
		m.Max = m.Min + g.IntN(100)
		if part := g.between(1, m.Max); g.IntN(2) == 0 {
			m.MaxOnDemand = &part
		} else {
			m.MaxCore = &part
		}
		e.ManagedScaling = m
		e.Applications = slices.DeleteFunc(e.Applications, func(a string) bool {
			return slices.Contains([]string{"HBase", "Phoenix", "Presto", "Trino"}, a)
		})
		return
	}
	if e.Fleets != nil || g.IntN(2) == 0 {
		return
	}
	e.Core.AutoScaling = g.autoScaling(e.Core.Count)
	for _, key := range slices.Sorted(maps.Keys(e.Tasks)) { // the same draws for the same seed
		task := e.Tasks[key]
		task.AutoScaling = g.autoScaling(task.Count)
		e.Tasks[key] = task
	}
}

func (g generator) autoScaling(count int) *schema.AutoScaling {
	rule := func(name, comparison string, adjustment int, threshold float64) schema.ScalingRule {
		var r schema.ScalingRule
		r.SetDefaults()
		r.Name, r.Metric, r.Comparison = name, "YARNMemoryAvailablePercentage", comparison
		r.AdjustmentType, r.Adjustment, r.Threshold = g.oneOf("CHANGE_IN_CAPACITY", "PERCENT_CHANGE_IN_CAPACITY"), adjustment, threshold
		return r
	}
	return &schema.AutoScaling{Min: 1, Max: count, Rules: []schema.ScalingRule{
		rule("out", "LESS_THAN", g.between(1, 10), 15), rule("in", "GREATER_THAN_OR_EQUAL", -g.between(1, 10), 75.5),
	}}
}

// fleets replaces the groups.
func (g generator) fleets(e *schema.Cluster, ephemeral bool) {
	var defaults schema.Cluster
	defaults.SetDefaults()
	e.Master, e.Core, e.Tasks = defaults.Master, defaults.Core, defaults.Tasks
	f := &schema.Fleets{}
	f.SetDefaults()
	f.Master = g.fleet(e.ReleaseLabel)
	f.Master.OnDemand, f.Master.Spot = 1, 0
	if ephemeral && g.IntN(2) == 0 {
		f.Master.OnDemand, f.Master.Spot = 0, 1
	}
	for i := range f.Master.Types {
		f.Master.Types[i].Weight = 1
	}
	if g.IntN(4) > 0 {
		core := g.fleet(e.ReleaseLabel)
		f.Core = &core
		if g.IntN(2) == 0 {
			f.Master.OnDemand, f.Master.Spot = 3, 0
		}
		if g.IntN(2) == 0 {
			task := g.fleet(e.ReleaseLabel)
			f.Task = &task
		}
	}
	e.Fleets, e.Subnets = f, []int{0, 1}[:1+g.IntN(2)]
	e.Placement = ""
	if e.Masters() == 3 {
		e.Placement, e.KeepAlive = g.oneOf("", "SPREAD"), true
	}
}

func (g generator) fleet(release string) schema.Fleet {
	var f schema.Fleet
	f.SetDefaults()
	g.fill(&f)
	f.OnDemand, f.Spot = g.IntN(10), 1+g.IntN(10)
	for range 1 + g.IntN(5) {
		var t schema.FleetType
		g.fill(&t)
		group := schema.InstanceGroup{EBS: g.volumes(true)}
		g.fit(&group, release)
		t.InstanceType, t.EBS = group.InstanceType, group.EBS[:min(1, len(group.EBS))]
		if t.BidPrice != "" {
			t.BidPercent = 0
		} else if t.BidPercent == 0 {
			t.BidPercent = 100
		}
		if !slices.ContainsFunc(f.Types, func(o schema.FleetType) bool { return o.InstanceType == t.InstanceType }) {
			f.Types = append(f.Types, t)
		}
	}
	return f
}

// fit gives a group a type that the release takes, and no more volumes than the type has.
func (g generator) fit(group *schema.InstanceGroup, release string) {
	types := facts.Instances().Types
	rule, _ := schema.RuleNamed("emrInstanceType")
	t := types[g.IntN(len(types))]
	for !t.IsIn(release) || !rule.Holds(t.Name) {
		t = types[g.IntN(len(types))]
	}
	group.InstanceType = t.Name
	count := 1 // the root volume
	for _, v := range group.EBS {
		count += v.PerInstance
	}
	if t.EBS != nil && count > t.EBS.Volumes {
		group.EBS = []schema.Volume{}
	}
}
