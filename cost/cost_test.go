package cost_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/cost"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// byHand are the clusters of testdata/clusters.yaml.
type byHand struct {
	Prices   map[string][3]json.Number `json:"prices"`
	Services map[string]facts.MicroUSD `json:"services"`
	Clusters []cluster                 `json:"clusters"`
	Extra    []cluster                 `json:"extra"`
	Stacks   []struct {
		Name  string                     `json:"name"`
		Stack map[string]json.RawMessage `json:"stack"`
		Month [3]json.Number             `json:"month"`
	} `json:"stacks"`
}

type cluster struct {
	Name    string          `json:"name"`
	Cluster json.RawMessage `json:"cluster"`
	Month   [3]json.Number  `json:"month"`
}

func readByHand(t *testing.T) byHand {
	t.Helper()
	text, err := os.ReadFile("testdata/clusters.yaml")
	require.NoError(t, err)
	text, err = yaml.YAMLToJSON(text)
	require.NoError(t, err)
	var out byHand
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

func (b byHand) priceOf(_, instanceType string) (facts.Price, bool) {
	p, known := b.Prices[instanceType]
	var out facts.Price
	if !known || out.OnDemand.UnmarshalJSON([]byte(p[0])) != nil || out.EMRFee.UnmarshalJSON([]byte(p[1])) != nil {
		return out, false
	}
	out.SpotDiscount, _ = p[2].Float64()
	return out, true
}

func (b byHand) servicesOf(string) (facts.Services, bool) {
	s := b.Services
	return facts.Services{
		Volumes: map[string]facts.VolumePrice{
			"gp3": {GiB: s["gp3"], IOPS: s["gp3Iops"], MiBs: s["gp3MiBs"], IncludedIOPS: 3000, IncludedMiBs: 125},
			"gp2": {GiB: s["gp2"]}, "st1": {GiB: s["st1"]},
		},
		NATGatewayHour: s["nat"], PublicIPv4Hour: s["ipv4"], InterfaceEndpointHour: s["endpoint"], KMSKeyMonth: s["key"],
	}, true
}

func (b byHand) estimate(t *testing.T, values map[string]string) cost.Estimate {
	t.Helper()
	values["region"], values["operatorCidrs"] = "us-east-1", `["203.0.113.0/24"]`
	cfg, err := config.Parse(values)
	require.NoError(t, err)
	return cost.By(b.priceOf, b.servicesOf, cfg)
}

// cents writes amounts in dollars and cents.
func cents(r cost.Range) [3]string {
	return [3]string{r.Least.String(), r.Typical.String(), r.Most.String()}
}

func dollars(t *testing.T, amounts [3]json.Number) [3]string {
	t.Helper()
	var out [3]string
	for i, a := range amounts {
		var m facts.MicroUSD
		require.NoError(t, m.UnmarshalJSON([]byte(a)))
		out[i] = m.String()
	}
	return out
}

func TestClustersWorkedOutByHand(t *testing.T) {
	b := readByHand(t)
	require.Len(t, b.Clusters, 12)
	for _, c := range append(b.Clusters, b.Extra...) {
		t.Run(c.Name, func(t *testing.T) {
			e := b.estimate(t, map[string]string{"clusters": `{"etl":` + string(c.Cluster) + `}`})
			require.Len(t, e.Clusters, 1)
			require.Equal(t, dollars(t, c.Month), cents(e.Clusters[0].Month), "%+v", e.Clusters[0].Lines)
			require.Empty(t, e.Unpriced())
			require.NotEmpty(t, e.Clusters[0].Assumptions)
			require.Equal(t, e.Stack.Month.Typical+e.Clusters[0].Month.Typical, e.Month.Typical)
		})
	}
	for _, s := range b.Stacks {
		t.Run(s.Name, func(t *testing.T) {
			values := map[string]string{}
			for key, value := range s.Stack {
				values[key] = string(value)
			}
			require.Equal(t, dollars(t, s.Month), cents(b.estimate(t, values).Stack.Month))
		})
	}
}

// What the tables lack is named with its path, and is not taken for free.
func TestWhatHasNoPriceIsNamed(t *testing.T) {
	cfg, err := config.Parse(map[string]string{"region": "us-east-1", "operatorCidrs": `["203.0.113.0/24"]`,
		"clusters": `{"etl":{"core":{"instanceType":"c5.xlarge"}}}`})
	require.NoError(t, err)
	e := cost.By(readByHand(t).priceOf, func(string) (facts.Services, bool) { return facts.Services{}, false }, cfg)
	require.Contains(t, e.Unpriced(), "clusters.etl.core: c5.xlarge in us-east-1")
	require.Contains(t, e.Unpriced(), "clusters.etl.core: EBS gp3 in us-east-1")
	require.Contains(t, e.Unpriced(), "region: addresses, gateways and keys in us-east-1")
	require.Contains(t, e.Text(), "without what has no price")
}

// The presets have a price in us-east-1, with every release, and typical is between the others.
func TestPresetsHaveAPrice(t *testing.T) {
	for _, name := range presets.Names() {
		cfg, err := config.Parse(map[string]string{"region": "us-east-1", "operatorCidrs": `["203.0.113.0/24"]`,
			"clusters": `{"etl":{"preset":"` + name + `","steps":[{"name":"job","args":["spark-submit","s3://bucket/job.py"]}]}}`})
		require.NoError(t, err, name)
		e := cost.Of(cfg)
		require.Empty(t, e.Unpriced(), name)
		month := e.Clusters[0].Month
		require.Positive(t, month.Typical, name)
		require.LessOrEqual(t, month.Least, month.Typical, name)
		require.LessOrEqual(t, month.Typical, month.Most, name)
		require.NotEmpty(t, e.Prices)
		hasSpot := false
		for _, g := range cfg.Clusters["etl"].GroupsAt("") {
			hasSpot = hasSpot || g.OnSpot != ""
		}
		if hasSpot {
			require.Less(t, month.Typical, month.Most, name)
		}
	}
}

func TestBudget(t *testing.T) {
	check := func(region, cluster, budget string) error {
		_, err := config.Parse(map[string]string{"region": region, "operatorCidrs": `["203.0.113.0/24"]`,
			"clusters": `{"etl":` + cluster + `}`, "budget": budget})
		return err
	}
	const lake = `{"preset":"data-lake"}`
	require.NoError(t, check("us-east-1", lake, `{}`))
	require.NoError(t, check("us-east-1", lake, `{"monthlyUsd":1000000,"action":"refuse"}`))
	require.NoError(t, check("us-east-1", lake, `{"monthlyUsd":10}`), "it warns unless told otherwise")

	err := check("us-east-1", lake, `{"monthlyUsd":1000,"action":"refuse"}`)
	require.ErrorContains(t, err, "budget.monthlyUsd: 1000 must be at least $")
	require.ErrorContains(t, err, "which the stack costs at most")
	require.ErrorContains(t, err, "raise it, or lower what costs most: clusters.etl.tasks.batch")
	require.ErrorContains(t, check("us-east-1", `{"core":{"count":-1}}`, `{"monthlyUsd":1,"action":"refuse"}`), "clusters.etl.core.count")

	// What has no price is an error, even of a budget that only warns.
	err = check("eu-north-1", `{"core":{"count":0}}`, `{"monthlyUsd":1000}`)
	require.ErrorContains(t, err, "must not be set while something has no price, here region: addresses, gateways and keys in eu-north-1")

	cfg, err := config.Parse(map[string]string{"region": "us-east-1", "clusters": `{"etl":` + lake + `}`})
	require.NoError(t, err)
	cfg.Budget.MonthlyUSD = 10
	var l violation.List
	cost.CheckBudget(cfg, &l)
	require.Len(t, l.Warnings(), 1)
	require.ErrorContains(t, l.Warnings()[0], "budget.monthlyUsd: 10 should be at least $")
}

// The preview's text names each group with its market, what it assumes, and the price lists.
func TestText(t *testing.T) {
	b := readByHand(t)
	e := b.estimate(t, map[string]string{"clusters": `{"etl":{"core":{"count":1},"tasks":{"spot":{"instanceType":"m5.2xlarge","count":3,` +
		`"bidPrice":"0.30"}}}}`})
	text := e.Text()
	require.Contains(t, text, "    tasks.spot: 3 × m5.2xlarge on spot, $0.66 ($0.66 to $1.26) an hour with EMR's fee and volumes")
	require.Contains(t, text, "22 days of 8 hours of work")
	require.Contains(t, text, "not counted: data through the NAT gateway")
	require.Contains(t, text, "services.json of 20")
}

// README says what a stack costs that does nothing.
func TestReadmeStatesWhatAnIdleStackCosts(t *testing.T) {
	_, cfg, err := config.ReadStackFile("..", "dev")
	require.NoError(t, err)
	e := cost.Of(cfg)
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("costs $%.0f a month in %s, and its cluster of three nodes %s an hour while it runs",
		e.Stack.Month.Typical.USD(), cfg.Region, e.Clusters[0].Hour.Typical))
}

// Each run of a schedule is an hour, and no longer than until the next.
func TestClustersOfSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		expression string
		want       cost.Hours
	}{
		"daily":             {`"cron(0 2 * * ? *)"`, cost.Hours{Least: 365.0 / 12 / 60, Typical: 365.0 / 12, Most: 730}},
		"weekly":            {`"cron(0 6 ? * MON *)"`, cost.Hours{Least: 52.0 / 12 / 60, Typical: 52.0 / 12, Most: 730}},
		"every ten minutes": {`"rate(10 minutes)"`, cost.Hours{Least: 73, Typical: 730, Most: 730}},
		"of one year":       {`"cron(0 2 1 * ? 2026)"`, cost.Hours{Least: 1.0 / 60, Typical: 1, Most: 730}},
		"not enabled":       {`"rate(10 minutes)","enabled":false`, cost.Hours{Most: 730}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Parse(map[string]string{
				"region": "us-east-1", "clusters": `{"main":{"startedBy":"schedules","keepAlive":false,"idleTimeoutMinutes":0}}`,
				"schedules": `{"a":{"expression":` + c.expression + `,"cluster":"main","steps":[{"name":"load","args":["true"]}]}}`,
			})
			require.NoError(t, err)
			got := cost.Of(cfg).Clusters[0]
			require.InDelta(t, float64(c.want.Least), float64(got.Hours.Least), 0.01)
			require.InDelta(t, float64(c.want.Typical), float64(got.Hours.Typical), 0.2, "years have 52 or 53 Mondays")
			require.InDelta(t, float64(c.want.Most), float64(got.Hours.Most), 0)
		})
	}
}
