package main

import (
	"context"

	"github.com/emr-observatory/emr-observatory/internal/bench/history"
)

// historyPairs are the turns of readers: each reads for some seconds.
const historyPairs = 3

func measureHistory(ctx context.Context, r *result, o options) error {
	figures, err := history.Measure(ctx, ".", o.historyMB*1_000_000, historyPairs)
	if err != nil {
		return err
	}
	r.historyFigures = historyFigures{
		ParseLogMB: float64(figures.Bytes) / 1e6, ParseEvents: figures.PerSecond, ParseMB: figures.MBPerSecond,
		ParseRows: figures.RowsPerSecond, ParseRatio: figures.OverStandard, ParseMiB: figures.PeakMiB,
		FirstAnswerSeconds: figures.FirstAnswer, FirstAnswerRatio: figures.OverServer,
		TunedAnswerSeconds: figures.TunedAnswer, TunedAnswerRatio: figures.OverTuned,
	}
	return nil
}
