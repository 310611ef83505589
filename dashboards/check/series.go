package check

import "time"

// seriesAnswer is the answer of Pyroscope's SelectSeries (points with a
// timestamp) and of Tempo's query_range (samples with a timestampMs). Times are
// milliseconds in both.
type seriesAnswer struct {
	Series []struct {
		Points  []seriesPoint `json:"points"`
		Samples []seriesPoint `json:"samples"`
	} `json:"series"`
}

type seriesPoint struct {
	Timestamp   int64   `json:"timestamp,string"`
	TimestampMs int64   `json:"timestampMs,string"`
	Value       float64 `json:"value"`
}

// nonZero counts the points other than zero at or after since, and the series
// that have any. Both stores fill gaps with zeros.
func (a seriesAnswer) nonZero(since time.Time) finding {
	var found finding
	for _, series := range a.Series {
		count := 0
		for _, point := range append(series.Points, series.Samples...) {
			at := time.UnixMilli(max(point.Timestamp, point.TimestampMs)) // one of them is absent
			if point.Value != 0 && !at.Before(since) {
				count++
			}
		}
		if count > 0 {
			found.series++
			found.samples += count
		}
	}
	return found
}
