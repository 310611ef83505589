package status

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
)

// history asks the profiler how its last run went; nil if there is no profiler.
func (s Source) history(ctx context.Context) (*serve.State, error) {
	endpoint, configured := s.Config.Endpoints[platform.WorkloadProfiler]
	if !configured {
		return nil, nil
	}
	body, err := get(ctx, s.Client, requestTimeout, endpoint.URL+serve.Path)
	if err != nil {
		return nil, fmt.Errorf("read how the profiler's last run went: %w", err)
	}
	defer body.Close()
	state := &serve.State{}
	if err := json.NewDecoder(body).Decode(state); err != nil {
		return nil, fmt.Errorf("read how the profiler's last run went from %s: %w", endpoint.URL, err)
	}
	return state, nil
}

// historyLine describes the profiler's last and next run in one line.
func historyLine(state *serve.State, now time.Time) string {
	var parts []string
	if last := state.Last; last != nil {
		line := fmt.Sprintf("last run %s, ended %s ago, took %s: %d of %d clusters and %d applications read, %d objects written",
			last.Result, brief(now.Sub(last.Ended)), brief(last.Took()), last.ClustersRead, last.ClustersFound, last.Applications, last.Objects)
		if last.IncompleteCount > 0 {
			line += fmt.Sprintf(", %d incomplete", last.IncompleteCount)
		}
		parts = append(parts, line)
	}
	switch {
	case state.Running:
		parts = append(parts, "a run is under way")
	case state.Next != nil:
		parts = append(parts, "next run in "+brief(state.Next.Sub(now)))
	}
	return strings.Join(parts, "; ")
}

// NotRead returns the clusters whose history the profiler does not read.
func (s Status) NotRead() []Cluster {
	return slices.DeleteFunc(slices.Clone(s.Clusters), func(c Cluster) bool { return c.HistoryUnread == "" })
}
