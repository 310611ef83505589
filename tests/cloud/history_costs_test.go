package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// costsIn asks DuckDB what clusters and their applications cost.
const costsIn = `
import duckdb, json, sys
folder = sys.stdin.read()
def table(name):
    return f"read_parquet('{folder}/{name}/**/*.parquet')"
def rows(query):
    found = duckdb.sql(query)
    return [dict(zip(found.columns, row)) for row in found.fetchall()]
print(json.dumps({
    "clusters": rows(f"""
        select cluster_id as id, any_value(cluster_name) as name, sum(usd) as usd,
            (select coalesce(sum(p.usd), 0) from {table("application_costs")} p where p.cluster_id = c.cluster_id) as parts,
            (select coalesce(sum(p.usd), 0) from {table("application_costs")} p
                where p.cluster_id = c.cluster_id and p.kind = 'idle') as idle
        from {table("costs")} c group by all"""),
    "applications": rows(f"""
        select p.cluster_name as cluster, p.application_id as id, p.application_name as name, p.basis, p.usd,
            p.core_hours * 3600 as seconds, p.yarn_vcore_seconds as yarn, a.executor_cores as cores,
            (select count(*) from {table("executors")} e where e.cluster_id = p.cluster_id and e.application_id = p.application_id
                and e.attempt_id = p.attempt_id) as containers,
            (a.core_ms + coalesce(a.application_master_cores, 1) * a.duration_ms) / 1000 as history
        from {table("application_costs")} p left join {table("applications")} a using (cluster_id, application_id, attempt_id)
        where p.kind = 'application' order by p.start_time"""),
}))
`

// costs is what costsIn prints.
type costs struct {
	Clusters []struct {
		ID, Name         string
		USD, Parts, Idle float64
	}
	Applications []applicationCost
}

type applicationCost struct {
	Cluster, ID, Name, Basis    string
	USD, Seconds, Yarn, History float64
	Cores                       int64
	Containers                  int64 // of executors and the driver, or the application master beside it
}

// withAllAttempts adds up the attempts of each application, of which YARN accounts for all together.
func withAllAttempts(rows []applicationCost) []applicationCost {
	var out []applicationCost
	at := map[string]int{}
	for _, a := range rows {
		i, more := at[a.Cluster+"/"+a.ID]
		if !more {
			at[a.Cluster+"/"+a.ID] = len(out)
			out = append(out, a)
			continue
		}
		out[i].USD, out[i].Seconds, out[i].History = out[i].USD+a.USD, out[i].Seconds+a.Seconds, out[i].History+a.History
		out[i].Containers += a.Containers
	}
	return out
}

// How much core-seconds may differ from YARN's, and what a cluster cost from its parts.
const (
	coreTolerance = 0.02
	partTolerance = 0.01
)

// costsAddUp requires that what applications cost and what nobody used add up to what EMR's
// instances cost, and that core-seconds are YARN's, once EMR has its log.
func (h history) costsAddUp(t *testing.T, folder string) {
	t.Helper()
	var all costs
	err := testenv.Poll(t.Context(), testenv.Cloud, time.Second, func(context.Context) error {
		h.cloud.profile(t, "--output", folder)
		all = costs{}
		out := h.cloud.python(t, costsIn, folder)
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		for _, a := range all.Applications {
			if strings.HasPrefix(a.ID, "application_") && a.Cluster == "main" && a.Basis != tables.BasisYARN {
				return fmt.Errorf("%s (%s): core-hours by %s: EMR has no log of its end", a.Name, a.ID, a.Basis)
			}
		}
		return nil
	})
	require.NoError(t, err)
	compared := 0
	for _, a := range withAllAttempts(all.Applications) {
		t.Logf("%s: $%.4f, %.0f core-seconds, %.0f by YARN, %.0f by its history alone", a.Name, a.USD, a.Seconds, a.Yarn, a.History)
		if a.Basis != tables.BasisYARN {
			continue
		}
		// YARN counts the whole seconds of each container: RMAppAttemptMetrics divides its milliseconds by 1000. For an
		// application of half a minute that is more than the tolerance.
		tolerance := max(coreTolerance*a.Yarn, float64(a.Containers))
		if a.Cores == 1 {
			require.InDeltaf(t, a.Yarn, a.Seconds, tolerance, "%s (%s)", a.Name, a.ID)
			compared++
		} else { // YARN's default calculator counts containers, which have several cores
			require.GreaterOrEqualf(t, a.Seconds, a.Yarn-tolerance, "%s (%s)", a.Name, a.ID)
		}
		require.GreaterOrEqualf(t, a.Seconds, a.History*(1-coreTolerance), "%s (%s)", a.Name, a.ID)
	}
	if testenv.Long() { // which runs jobs whose executors have one core
		require.Positive(t, compared)
	}
	require.NotEmpty(t, all.Clusters)
	for _, c := range all.Clusters {
		t.Logf("%s (%s): $%.4f, its parts $%.4f, idle $%.4f", c.Name, c.ID, c.USD, c.Parts, c.Idle)
		require.LessOrEqualf(t, math.Abs(c.USD-c.Parts), partTolerance*c.USD, "%s (%s)", c.Name, c.ID)
	}
}
