package main_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// explain prints for people and for programs what a preset's cluster gets, and names what it
// does not know.
func TestExplain(t *testing.T) {
	dir := projectWithEditedStack(t, "dev", "    main:\n", "    lake:\n      preset: data-lake\n    main:\n")
	o := observatory(t, dir, nil, "explain", "lake", "--stack", "dev")
	require.Zero(t, o.code, o.stderr)
	for _, line := range []string{
		`(?m)^Cluster lake, preset data-lake: `,
		`(?m)^core\.count +6 +preset$`,
		`(?m)^hive-site hive\.metastore\.client\.factory\.class +\S+ +glueCatalog$`,
		`(?m)^r5\.xlarge +24576 MiB, 4 vcores +as EMR sizes them`,
		`(?m)^  tasks\.batch: -2 nodes when YARNMemoryAvailablePercentage is greater than 80 for 3 × 300 s, then 600 s of rest$`,
		`(?m)^All of it, a month +\$\d+\.\d\d +\$\d+\.\d\d +\$\d+\.\d\d$`,
	} {
		require.Regexp(t, line, o.stdout)
	}
	require.NotContains(t, o.stdout, "Cluster main", "only the cluster of the argument")

	o = observatory(t, dir, nil, "explain", "--stack", "dev", "--json")
	require.Zero(t, o.code, o.stderr)
	var all struct {
		Clusters []struct {
			Key    string `json:"key"`
			Values []struct {
				By string `json:"by"`
			} `json:"values"`
		} `json:"clusters"`
		Cost struct {
			Month struct {
				Most float64 `json:"most"`
			} `json:"month"`
		} `json:"cost"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &all))
	require.Len(t, all.Clusters, 2)
	require.NotEmpty(t, all.Clusters[0].Values)
	require.Positive(t, all.Cost.Month.Most)

	o = observatory(t, dir, nil, "explain", "etl", "--stack", "dev")
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, `"etl" is no cluster of stack dev; it has lake, main`)
}
