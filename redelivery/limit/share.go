package limit

import (
	"fmt"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
)

// share is what a cluster may still have stored.
type share struct {
	limits  Limits
	labels  string
	used    time.Time // the last use; under the limiter's lock
	refused map[string]*metrics.Counter

	mu     sync.Mutex
	left   map[string]float64 // but of metrics
	filled time.Time          // up to when left was refilled

	// series are those that had a data point in this window, with how many each hash stands for, and
	// past those of the window before.
	series, past map[uint64]int64
	count        int64     // of series
	began        time.Time // the window
}

func newShare(l *Limiter, labels string, now time.Time) *share {
	s := &share{
		limits: l.limits, labels: labels, filled: now, began: now, series: map[uint64]int64{},
		left: map[string]float64{}, refused: map[string]*metrics.Counter{},
	}
	for signal, limit := range l.limits {
		s.left[signal] = float64(limit)
		s.refused[signal] = l.set.NewCounter(s.name(platform.MetricOverLimit, signal))
		l.set.NewGauge(s.name(platform.MetricLimitUsed, signal), func() float64 { return s.usedPart(signal) })
	}
	return s
}

func (s *share) name(metric, signal string) string {
	return fmt.Sprintf("%s{%s=%q,%s}", metric, platform.LimitSignal, signal, s.labels)
}

func (s *share) unregister(set *metrics.Set) {
	for signal := range s.limits {
		set.UnregisterMetric(s.name(platform.MetricOverLimit, signal))
		set.UnregisterMetric(s.name(platform.MetricLimitUsed, signal))
	}
}

func (s *share) usedPart(signal string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refill(time.Now())
	limit := float64(s.limits[signal])
	if signal == platform.SignalMetrics {
		return float64(s.count) / limit
	}
	return 1 - s.left[signal]/limit
}

// refill adds what the time has brought. The caller holds the lock.
func (s *share) refill(now time.Time) {
	part := now.Sub(s.filled).Seconds() / window.Seconds()
	s.filled = now
	for signal, limit := range s.limits {
		s.left[signal] = min(float64(limit), s.left[signal]+part*float64(limit))
	}
	switch passed := now.Sub(s.began); {
	case passed >= 2*window:
		s.past, s.series, s.count, s.began = nil, map[uint64]int64{}, 0, now
	case passed >= window:
		s.past, s.series, s.count, s.began = s.series, map[uint64]int64{}, 0, s.began.Add(window)
	}
}

// take takes an amount if as much is left. The caller holds the lock, and has called refill.
func (s *share) take(signal string, amount int64) bool {
	if _, limited := s.limits[signal]; !limited {
		return true
	}
	if s.left[signal] < float64(amount) {
		return false
	}
	s.left[signal] -= float64(amount)
	return true
}

// giveBack adds what was taken and not stored.
func (s *share) giveBack(signal string, amount int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[signal] = min(float64(s.limits[signal]), s.left[signal]+float64(amount))
}

// admit reports whether a data point may be stored, which stands for count series. Those of this window
// may be, and others as long as there are few enough. Those of the last window have a limit of their
// own: with none, a cluster could add as many series in each window and keep all. The caller holds the
// lock, and has called refill.
func (s *share) admit(hash uint64, count int64) bool {
	limit, limited := s.limits[platform.SignalMetrics]
	if !limited {
		return true
	}
	known := s.series[hash]
	if known >= count {
		return true
	}
	more := count - known
	if s.past[hash] >= count {
		limit *= 2
	}
	if s.count+more > limit {
		return false
	}
	s.series[hash] = count
	s.count += more
	return true
}

// absorb takes from a share what another has used: a node had it before its cluster was known.
func (s *share) absorb(other *share) {
	other.mu.Lock()
	used := map[string]float64{}
	for signal, limit := range other.limits {
		used[signal] = float64(limit) - other.left[signal]
	}
	series := other.series
	other.series = map[uint64]int64{}
	other.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for signal := range s.limits {
		s.left[signal] = max(0, s.left[signal]-used[signal])
	}
	for hash, count := range series {
		if more := count - s.series[hash]; more > 0 {
			s.series[hash] = count
			s.count += more
		}
	}
}
