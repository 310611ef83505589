package steptelemetry

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/recording"
)

// slowest is how often a cluster is tried that was refused, or fails again and again.
const slowest = 10 * time.Minute

// cluster is one whose steps are recorded.
type cluster struct {
	id    string
	host  string                    // of its primary node, "" = not known
	begun time.Time                 // of the counts
	count map[types.StepState]int64 // of ended steps

	failures int // in a row
	failure  error
	retry    time.Time // not before
}

func newCluster(id string) *cluster {
	return &cluster{id: id, begun: time.Now(), count: map[types.StepState]int64{}}
}

// after decides when the cluster is read again, after a reading with this result. EMR
// throttles the whole account, so each failure doubles the wait.
func (c *cluster) after(err error, now time.Time) {
	if err == nil {
		c.failures, c.failure, c.retry = 0, nil, now
		return
	}
	c.failure = err
	c.retry = now.Add(min(slowest, recording.Interval<<min(c.failures, 8)))
	if errors.Is(c.failure, status.ErrStepsRefused) {
		c.retry = now.Add(slowest)
	}
	c.failures++
}
