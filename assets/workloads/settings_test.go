package workloadconfig_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// settings returns the settings of a stack with a month's retention.
func settings() workloadconfig.Settings {
	return workloadconfig.Settings{
		Workloads:        platform.Workloads(),
		MetricsRetention: month, LogsRetention: month, TempoRetention: month, PyroscopeRetention: month,
		DataVolumeGiB: 100,
		Limits:        schema.Limits{SeriesPerHour: 100_000, LogMiBPerHour: 1024, SpansPerHour: 100_000, ProfilesPerHour: 10_000},
		Stack:         "dev.1",
		Tags:          map[string]string{"observatory:stack": "dev.1", "observatory:project": "emr"},
	}
}

func workloadRecord(t *testing.T, name platform.Workload) platform.WorkloadRecord {
	t.Helper()
	r, err := platform.Workloads().Get(name)
	require.NoError(t, err)
	return r
}

// config returns the configuration of one of the platform's servers.
func config(t *testing.T, name platform.Workload) workloadconfig.Config {
	t.Helper()
	return configOf(t, name, settings())
}

func configOf(t *testing.T, name platform.Workload, with workloadconfig.Settings) workloadconfig.Config {
	t.Helper()
	for _, s := range workloadconfig.Servers() {
		if s.Name == name {
			c, err := s.Config(with)
			require.NoError(t, err)
			return c
		}
	}
	t.Fatalf("no server %s", name)
	return workloadconfig.Config{}
}

// yaceFile renders the CloudWatch exporter's file.
func yaceFile(t *testing.T, tags map[string]string) (string, error) {
	t.Helper()
	s := settings()
	s.Tags = tags
	c, err := workloadconfig.YACE(workloadRecord(t, platform.WorkloadYACE), s)
	require.NoError(t, err)
	file := c.LateFiles[workloadconfig.YACEFile]
	require.Equal(t, []workloadconfig.Fact{workloadconfig.FactRegion}, file.Needs)
	return file.Render(map[workloadconfig.Fact]string{workloadconfig.FactRegion: "eu-west-1"})
}
