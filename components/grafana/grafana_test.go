package grafana_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	provider "github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/grafana"
	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/contract"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

var update = flag.Bool("update", false, "write the golden files")

func sampleArgs(t *testing.T) *grafana.Args {
	t.Helper()
	suite, err := dashboards.Suite()
	require.NoError(t, err)
	endpoints := pulumi.StringMap{}
	for w, url := range platform.Workloads().URLs() {
		endpoints[string(w)] = pulumi.String(url)
	}
	return &grafana.Args{Dashboards: suite, Endpoints: endpoints, GrafanaURL: pulumi.String("https://10.0.0.5:3000/")}
}

// record runs the component with its explicit provider and passes it to inspect.
func record(args *grafana.Args, inspect func(*grafana.Grafana)) (*recorder.Recording, error) {
	return recorder.Run(func(ctx *pulumi.Context) error {
		secret := pulumi.ToSecret(pulumi.String("correct-horse")).(pulumi.StringOutput)
		p, err := provider.NewProvider(ctx, "main", grafana.ProviderArgs(pulumi.String("https://10.0.0.5:3000"), secret, pulumi.String("CA")))
		if err != nil {
			return err
		}
		rnd, err := random.NewProvider(ctx, "main", &random.ProviderArgs{})
		if err != nil {
			return err
		}
		machine, err := random.NewRandomPet(ctx, "machine", &random.RandomPetArgs{}, pulumi.Provider(rnd))
		if err != nil {
			return err
		}
		g, err := grafana.New(ctx, "grafana", args, pulumi.Providers(p), pulumi.DeletedWith(machine))
		if err == nil && inspect != nil {
			inspect(g)
		}
		return err
	})
}

func TestRegistersExactlyTheseResources(t *testing.T) {
	rec, err := record(sampleArgs(t), nil)
	require.NoError(t, err)
	golden := filepath.Join("testdata", "resources.golden")
	got := strings.Join(rec.List(), "\n") + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "names are public: add an alias for each renamed one, then go test . -update")
	require.Empty(t, rec.Defaults, "only explicit providers")
	for _, r := range rec.Resources {
		if strings.HasPrefix(r.Type, "grafana:") {
			require.Equal(t, "grafana", r.Parent, r.Name)
			require.Equal(t, "machine", r.DeletedWith, r.Name)
			require.Equal(t, "grafana::main", r.Provider, r.Name)
		}
	}
}

func TestDashboardsComeAfterTheirDatasources(t *testing.T) {
	args := sampleArgs(t)
	urls := make(chan map[string]string, 1)
	rec, err := record(args, func(g *grafana.Grafana) {
		g.DashboardURLs.ApplyT(func(m map[string]string) string { urls <- m; return "" })
	})
	require.NoError(t, err)
	got := <-urls
	require.Len(t, got, len(args.Dashboards))
	for _, d := range args.Dashboards {
		r, err := rec.One("grafana:oss/dashboard:Dashboard", "grafana-"+d.Slug)
		require.NoError(t, err)
		for _, source := range grafana.Datasources() {
			require.Contains(t, r.Dependencies, "grafana-"+string(source.UID))
		}
		require.JSONEq(t, string(d.JSON), r.Inputs["configJson"].StringValue())
		require.Equal(t, "https://10.0.0.5:3000/d/"+d.UID+"/"+d.Slug, got[d.Slug])
	}
}

func TestDatasourcesPointAtTheirStores(t *testing.T) {
	rec, err := record(sampleArgs(t), nil)
	require.NoError(t, err)
	require.Len(t, rec.OfType("grafana:oss/dataSource:DataSource"), 4)
	defaults := 0
	for _, d := range grafana.Datasources() {
		r, err := rec.One("grafana:oss/dataSource:DataSource", "grafana-"+string(d.UID))
		require.NoError(t, err)
		require.Equal(t, platform.Workloads().URLs()[d.Workload], r.Inputs["url"].StringValue())
		require.Equal(t, string(d.UID), r.Inputs["uid"].StringValue())
		require.True(t, json.Valid([]byte(r.Inputs["jsonDataEncoded"].StringValue())))
		if d.Default {
			defaults++
		}
	}
	require.Equal(t, 1, defaults)
}

// Every link between signals names an existing datasource, and its queries use
// only metrics of the contract.
func TestLinksResolve(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range grafana.Datasources() {
		uids[string(d.UID)] = true
	}
	links, queries := 0, 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for key, e := range v {
				if key == "datasourceUid" {
					require.True(t, uids[e.(string)], "%v is no datasource", e)
					links++
				}
				if query, ok := e.(string); ok && key == "query" && strings.Contains(query, "$__tags") {
					requireInContract(t, query)
					queries++
				}
				walk(e)
			}
		}
	}
	for _, d := range grafana.Datasources() {
		b, err := json.Marshal(d.JSON)
		require.NoError(t, err)
		var plain any
		require.NoError(t, json.Unmarshal(b, &plain))
		walk(plain)
	}
	require.Equal(t, 5, links, "exemplar, log to trace, trace to logs, metrics, profiles")
	require.Equal(t, 2, queries)
}

var label = regexp.MustCompile(`[a-z_]+`)

// requireInContract requires that a query's metrics and labels are in the
// contract.
func requireInContract(t *testing.T, query string) {
	t.Helper()
	query = strings.NewReplacer("$__tags", `cluster="j-1"`, "$__rate_interval", "1m").Replace(query)
	parsed, err := metricsql.Parse(query)
	require.NoError(t, err, query)
	found := 0
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			for _, filters := range e.LabelFilterss {
				metric, ok := contract.Find(filters[0].Value)
				require.True(t, ok, filters[0].Value)
				for _, f := range filters[1:] {
					require.Contains(t, metric.AllLabels(), label.FindString(f.Label))
				}
				found++
			}
		}
	})
	require.Positive(t, found, query)
}

func TestProviderTrustsOnlyGrafanasCA(t *testing.T) {
	rec, err := record(sampleArgs(t), nil)
	require.NoError(t, err)
	p, err := rec.One("pulumi:providers:grafana", "main")
	require.NoError(t, err)
	require.True(t, p.Inputs["auth"].IsSecret())
	require.Equal(t, resource.NewStringProperty("admin:correct-horse"), p.Inputs["auth"].SecretValue().Element)
	require.Equal(t, "CA", p.Inputs["caCert"].StringValue())
	require.NotContains(t, p.Inputs, resource.PropertyKey("insecureSkipVerify"))
}

func TestValidateReportsEveryViolation(t *testing.T) {
	args := &grafana.Args{Dashboards: []dashboards.Dashboard{
		{Slug: "a", UID: "u", Folder: "F", JSON: []byte("{}")}, {Slug: "a", UID: "u", JSON: []byte("{")},
		{Slug: "b", UID: "no spaces!", Folder: "F", JSON: []byte("{}")},
	}}
	for _, path := range []string{
		"grafana.endpoints:", "grafana.grafanaUrl:", "grafana.dashboards[1].slug:", "grafana.dashboards[1].uid:",
		"grafana.dashboards[1].folder:", "grafana.dashboards[1].json:", "grafana.dashboards[2].uid:",
	} {
		require.ErrorContains(t, args.Validate(), path)
	}
	require.ErrorContains(t, (&grafana.Args{}).Validate(), "grafana.dashboards:")
	require.NoError(t, sampleArgs(t).Validate())
}

func TestMissingEndpointsAreNamedTogether(t *testing.T) {
	args := sampleArgs(t)
	args.Endpoints = pulumi.StringMap{"tempo": pulumi.String("http://tempo:3200")}
	_, err := record(args, nil)
	for _, store := range []string{"victoria-metrics", "victoria-logs", "pyroscope"} {
		require.ErrorContains(t, err, "grafana.endpoints."+store+":")
	}
	require.NotContains(t, err.Error(), "grafana.endpoints.tempo")
}
