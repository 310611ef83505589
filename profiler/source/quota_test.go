package source_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// A burst is sent at once, then one request every two seconds.
func TestQuotaRefills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quota, begun := source.NewQuota(), time.Now()
		for range 10 {
			require.NoError(t, quota.Wait(t.Context(), source.OpDescribeCluster))
		}
		require.Zero(t, time.Since(begun))
		for range 5 {
			require.NoError(t, quota.Wait(t.Context(), source.OpDescribeCluster))
		}
		require.Equal(t, 10*time.Second, time.Since(begun).Round(time.Millisecond))
	})
}

// Each operation has its own bucket, but all share the account's.
func TestAccountQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quota, begun := source.NewQuota(), time.Now()
		for range 10 {
			for _, operation := range []string{source.OpDescribeCluster, source.OpListSteps, source.OpListInstanceGroups} {
				require.NoError(t, quota.Wait(t.Context(), operation))
			}
		}
		require.Equal(t, 2*time.Second, time.Since(begun).Round(time.Millisecond), "10 beyond a burst of 20, at 5 a second")
	})
}

func TestQuotaEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quota := source.NewQuota()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		for err == nil {
			err = quota.Wait(ctx, source.OpListInstanceFleets)
		}
		require.ErrorContains(t, err, "wait for EMR's request quota of ListInstanceFleets")
	})
}

// The estimate matches the time that the requests take.
func TestEstimateIsAccurate(t *testing.T) {
	for _, clusters := range []int{1, 10, 37, 500} {
		synctest.Test(t, func(t *testing.T) {
			quota, begun := source.NewQuota(), time.Now()
			estimate := quota.Estimate(map[string]int{source.OpDescribeCluster: clusters, source.OpListSteps: clusters})
			for range clusters {
				require.NoError(t, quota.Wait(t.Context(), source.OpDescribeCluster))
				require.NoError(t, quota.Wait(t.Context(), source.OpListSteps))
			}
			require.InDelta(t, estimate.Seconds(), time.Since(begun).Seconds(), 0.02*estimate.Seconds()+1)
		})
	}
}
