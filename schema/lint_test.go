package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

func TestTenantsOfOneClusterAreLimited(t *testing.T) {
	var c schema.Cluster
	c.SetDefaults()
	for i := range 21 {
		c.Tenants[fmt.Sprintf("t%d", i)] = schema.Tenant{Share: 1, Ceiling: 100}
	}
	var l violation.List
	c.Validate(&l, "clusters.etl", false)
	require.ErrorContains(t, l.Err(), "clusters.etl.tenants: 21 must be at most 20 tenants")
}

// Settings that look right, and by which leaving nodes lose their work, are warned of.
func TestDecommissioningIsWarnedOf(t *testing.T) {
	for property, warned := range map[string]map[string]bool{
		"yarn.resourcemanager.decommissioning.timeout":                        {"3600": true},
		"yarn.resourcemanager.node-removal-untracked.timeout":                 {"60000": true},
		"yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs": {"-1": true, "3600": false},
	} {
		for value, want := range warned {
			var c schema.Cluster
			c.SetDefaults()
			c.Configurations = []schema.Configuration{{Classification: "yarn-site", Properties: map[string]string{property: value}}}
			var l violation.List
			c.Validate(&l, "clusters.etl", false)
			require.NoError(t, l.Err())
			found := false
			for _, w := range l.Warnings() {
				found = found || w.Path == "clusters.etl.configurations[0].properties."+property
			}
			require.Equal(t, want, found, "%s %s", property, value)
		}
	}
}
