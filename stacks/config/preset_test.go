package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// Each preset is a cluster as it stands: valid and without a warning, with the oldest and
// the newest release.
func TestEveryPresetIsAClusterAsItStands(t *testing.T) {
	for _, name := range presets.Names() {
		more := ""
		if name == "transient" { // nobody else knows its steps
			more = `,"steps":[{"name":"job","args":["spark-submit","s3://bucket/job.py"]}]`
		}
		for _, release := range []string{"emr-6.15.0", "emr-7.14.0"} {
			cfg, err := config.Parse(map[string]string{"region": "us-east-1", "operatorCidrs": `["203.0.113.0/24"]`,
				"clusters": fmt.Sprintf(`{"etl":{"preset":%q,"releaseLabel":%q%s}}`, name, release, more)})
			require.NoError(t, err, "%s with %s", name, release)
			var l violation.List
			cfg.Check(&l)
			for _, w := range l.Warnings() {
				if !strings.HasSuffix(w.Path, ".releaseLabel") { // which depends on the day
					require.NoError(t, w, name)
				}
			}
		}
	}
}

func TestErrorsOfPresets(t *testing.T) {
	for clusters, want := range map[string]string{
		`{"etl":{"preset":"datalake"}}`: `clusters.etl.preset: "datalake" must be data-engineering, data-lake,`,
		`{"etl":{"preset":7}}`:          `clusters.etl.preset: 7 must be a string`,
		`{"etl":{"preset":"data-lake","configurations":[{"classification":"hive-site","properties":{"hive.exec.parallel":1}}]}}`:
		// the path is that of the user's own list
		`clusters.etl.configurations[0].properties.hive.exec.parallel: 1 must be a string`,
		`{"etl":{"preset":"data-lake","tasks":{"batch":{"bidPrice":"ondemand"}}}}`:// a word of another case
		`clusters.etl.tasks.batch.bidPrice: "ondemand" must be a price`,
	} {
		_, err := config.Parse(map[string]string{"region": "us-east-1", "clusters": clusters})
		require.ErrorContains(t, err, want, clusters)
	}
	_, err := config.Parse(map[string]string{"region": "mx-central-1", "clusters": `{"etl":{"preset":"data-lake"}}`})
	require.ErrorContains(t, err,
		"clusters.etl.tasks.batch.bidPrice: \"onDemand\" must be a price: that of m5.2xlarge on demand in mx-central-1 is not known")
}
