package scope_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
)

func TestScopeInEachQueryLanguage(t *testing.T) {
	executors := scope.Of(scope.Cluster, scope.Role, scope.Host, scope.Application, scope.Executor)
	hosts := `cluster=~"$cluster",node_role=~"$role",host_name=~"$host"`
	for name, c := range map[string]struct{ got, want string }{
		"clusters":     {scope.Clusters().Metric("m"), `m{cluster=~"$cluster"}`},
		"hosts":        {scope.Hosts().Metric("m"), `m{` + hosts + `}`},
		"applications": {scope.Applications().Metric("m"), `m{` + hosts + `,spark_app_id=~"$application"}`},
		"executors":    {executors.Metric("m"), `m{` + hosts + `,spark_app_id=~"$application",spark_executor_id=~"$executor"}`},
		"control node": {scope.ControlNode().Metric("m"), `m{cluster=~"$cluster|"}`},
		"of two":       {scope.Of(scope.Cluster, scope.Application).Metric("m"), `m{cluster=~"$cluster",spark_app_id=~"$application"}`},
		"of none":      {scope.Of().Metric("m", scope.Equal("queue", "root")), `m{queue="root"}`},
		"by name":      {scope.Clusters().Metrics("a|b"), `{__name__=~"a|b",cluster=~"$cluster"}`},
		"filters": {
			scope.Of().Metric("m", scope.NotEqual("a", `say "x"`), scope.Match("b", `\d+`), scope.NotMatch("c", "y|")),
			`m{a!="say \"x\"",b=~"\\d+",c!~"y|"}`,
		},
		"LogsQL": {
			scope.Of(scope.Cluster, scope.Application).Stream(),
			`{"cluster"=~"${cluster:pipe}","spark.app.id"=~"${application:pipe}"}`,
		},
		"TraceQL": {
			scope.Of(scope.Cluster, scope.Host).Spans(),
			`{ resource.cluster =~ "${cluster:pipe}" && resource.host.name =~ "${host:pipe}" }`,
		},
		"Pyroscope":         {scope.Of(scope.Cluster, scope.Host).Profiles(), `{cluster=~"${cluster:pipe}",host_name=~"${host:pipe}"}`},
		"one log stream":    {scope.Stream(platform.HostName, "h"), `{"host.name"="h"}`},
		"one span's label":  {scope.Spans(platform.Cluster, "j"), `{ resource.cluster =~ "j" }`},
		"one profile label": {scope.Profiles(platform.HostName, "h"), `{host_name="h"}`},
	} {
		require.Equal(t, c.want, c.got, name)
	}
}

func TestGroupsKeepIdentifyingLabels(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"cluster":     {scope.PerCluster().Sum("m"), "sum by (cluster) (m)"},
		"host":        {scope.PerHost("device").Max("m"), "max by (cluster, node_role, host_name, device) (m)"},
		"application": {scope.PerApplication().Count("m"), "count by (cluster, spark_app_id) (m)"},
		"executor":    {scope.PerExecutor().Min("m"), "min by (cluster, host_name, spark_app_id, spark_executor_id) (m)"},
		"own labels":  {scope.By("reason").Sum(scope.Rate("m")), "sum by (reason) (rate(m[$__rate_interval]))"},
	} {
		require.Equal(t, c.want, c.got, name)
	}
}

func TestVariablesNarrowEachOther(t *testing.T) {
	variables := scope.Of(scope.Cluster, scope.Role, scope.Host, scope.Application, scope.Executor).Variables()
	require.Len(t, variables, 6)
	require.Equal(t, byName("system_cpu_logical_count"), variables[:2])
	require.Equal(t, "label_values("+scope.Applications().Metric("jvm_class_count")+", spark_executor_id)", variables[5].Query)
	for _, v := range variables {
		require.NotEmpty(t, v.Label)
		require.NotEmpty(t, scope.Variable(v.Name).Label(), v.Name)
	}
}

// A dashboard about one application finds it by its name and shows the newest first; its
// queries know the application only.
func TestOneApplicationIsFoundByItsName(t *testing.T) {
	require.Equal(t, `m{cluster=~"$cluster",spark_app_id=~"$app"}`, scope.OneApplication().Metric("m"))
	variables := scope.OneApplicationVariables()
	require.Equal(t, append(byName("spark_application_info"),
		panel.Variable{
			Name: "name", Label: "Name", Choice: panel.OneOrAll,
			Query: `label_values(spark_application_info{cluster=~"$cluster"}, application_name)`,
		},
		panel.Variable{
			Name: "app", Label: "Application", Choice: panel.OneNewest,
			Query: `label_values(spark_application_info{cluster=~"$cluster",application_name=~"$name"}, spark_app_id)`,
		}), variables)
}

// byName returns the variables that choose clusters by name.
func byName(reported string) []panel.Variable {
	return []panel.Variable{
		{Name: "cluster_name", Label: "Cluster", Query: "label_values(observatory_cluster_info, cluster_name)"},
		{
			Name: "cluster", Label: "Cluster's id", Choice: panel.Derived,
			Query: `label_values({__name__=~"observatory_cluster_info|` + reported + `",cluster_name=~"$cluster_name"}, cluster)`,
		},
	}
}

func TestQueriesOfApplications(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"last": {scope.Last("m"), "last_over_time(m[$__range])"},
		"gain": {scope.Gain("m"), "increase_pure(m[$__rate_interval])"},
		"quantile": {
			scope.By("kind").Quantile("0.95", scope.GainInRange("b")),
			"histogram_quantile(0.95, sum by (kind, le) (increase_pure(b[$__range])))",
		},
		"named": {
			scope.Named("q", scope.NewestInRange("info", "trace_id"), "trace_id"),
			"q * on (spark_app_id) group_left (trace_id) (group by (spark_app_id, trace_id) " +
				"(topk(1, tlast_over_time(info[$__range])) by (spark_app_id)))",
		},
	} {
		require.Equal(t, c.want, c.got, name)
	}
}
