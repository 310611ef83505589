package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

// limitKeys are the keys of the configuration that limit what of a signal is stored, and what they
// refuse.
var limitKeys = map[string]struct{ key, items string }{
	platform.SignalMetrics:  {"limits.seriesPerHour", "data points"},
	platform.SignalLogs:     {"limits.logMiBPerHour", "log records"},
	platform.SignalTraces:   {"limits.spansPerHour", "spans"},
	platform.SignalProfiles: {"limits.profilesPerHour", "profiles"},
}

// overLimits says which clusters sent more than their limits within the last hour, and what of it was
// refused. It counts a counter's first value, too (increase_pure): the relay may have been restarted.
func (s Source) overLimits(ctx context.Context) ([]string, error) {
	refused, err := s.query(ctx, fmt.Sprintf("sum(increase_pure(%s[1h])) by (%s,%s,%s) > 0",
		platform.MetricOverLimit, platform.Cluster.Metric(), platform.LimitSender, platform.LimitSignal))
	if err != nil {
		return nil, fmt.Errorf("read what was over a limit: %w", err)
	}
	var out []string
	for _, sample := range refused {
		number, err := sample.number()
		if err != nil {
			return nil, err
		}
		limit := limitKeys[sample.Metric[platform.LimitSignal]]
		sender := "node " + sample.Metric[platform.LimitSender] + ", of whose cluster EMR says nothing,"
		if cluster := sample.label(platform.Cluster); cluster != "" {
			sender = "cluster " + cluster
			if known, found := s.cluster(cluster); found {
				sender = fmt.Sprintf("cluster %s (%s)", cmp.Or(known.Name, cluster), cluster)
			}
		}
		out = append(out, fmt.Sprintf("%s sends more than %s allows: %.0f %s were refused within an hour; "+
			"find what sends so many, or raise the limit", sender, limit.key, number, limit.items))
	}
	slices.Sort(out)
	return out, nil
}

// cluster returns what EMR said of a cluster last.
func (s Source) cluster(id string) (EMRCluster, bool) {
	if s.Clusters == nil {
		return EMRCluster{}, false
	}
	return s.Clusters.Known(id)
}
