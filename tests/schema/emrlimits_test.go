package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

// The schema and the stand-ins for EMR state the same limits.
func TestSchemaHasTheLimitsOfEMR(t *testing.T) {
	perInstance, _ := schema.RuleNamed("perInstance")
	require.Equal(t, emrlimits.MaxVolumes, perInstance.Max)
	for strategy, most := range map[string]int{"lowest-price": emrlimits.MaxStrategyTypes, "": emrlimits.MaxTypes} {
		for _, n := range []int{most, most + 1} {
			cfg := schema.Defaults()
			cfg.Region = "us-east-1"
			var cluster schema.Cluster
			cluster.SetDefaults()
			f := &schema.Fleets{Core: &schema.Fleet{}}
			f.SetDefaults()
			f.Core.SetDefaults()
			f.Master.Types = []schema.FleetType{{InstanceType: "m5.xlarge", Weight: 1, BidPercent: 100}}
			f.Core.OnDemand, f.Core.OnDemandStrategy, f.Core.Types = 1, strategy, typesFor(n)
			cluster.Fleets = f
			cfg.Clusters["etl"] = cluster
			if n == most {
				require.NoError(t, cfg.Validate(), "%d types with strategy %q", n, strategy)
			} else {
				require.ErrorContains(t, cfg.Validate(), "clusters.etl.fleets.core.types: ", "%d types with strategy %q", n, strategy)
			}
		}
	}
}

// typesFor returns n different types of amd64 that the default release takes.
func typesFor(n int) []schema.FleetType {
	var cluster schema.Cluster
	cluster.SetDefaults()
	var out []schema.FleetType
	rule, _ := schema.RuleNamed("emrInstanceType")
	for _, t := range facts.Instances().Types {
		if len(out) < n && t.Arch == "x86_64" && t.IsIn(cluster.ReleaseLabel) && rule.Holds(t.Name) {
			out = append(out, schema.FleetType{InstanceType: t.Name, Weight: 1, BidPercent: 100})
		}
	}
	return out
}
