package judge_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// BenchmarkJudge judges the applications of all logs; the metric is per application.
func BenchmarkJudge(b *testing.B) {
	from, names := logs(b)
	dir := tablesOf(b, from)
	for b.Loop() {
		b.StopTimer()
		unjudged(b, dir)
		b.StartTimer()
		err := run.Locked(b.Context(), aws.Config{}, options(dir), "test", func(l *lake.Lake, _ run.Place) error {
			_, err := judge.All(b.Context(), l, nil)
			return err
		})
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(names)), "µs/application")
}
