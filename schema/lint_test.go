package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

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
